import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios

@Suite("Model files as the automatic backend stores them")
struct ModelFilesTests {
  private struct File: Decodable {
    var version: Int
    var weights: [String: [Double]]
    var aggregation_timestamp: String
    var participating_devices: Int
    var average_accuracy: Double?
  }

  private func read(_ path: String) throws -> File {
    try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  @Test("weights read back to the same bits, the rest to what the result file says")
  func readBack() throws {
    let folder = try Folder()
    let scenario = try Night.scenario("record.modelFiles=models")
    let summary = try Run(scenario, output: folder("night.h5")).perform()
    let document = try ResultFile.read(folder("night.h5"))
    let wanted = (1...summary.version).map { "global_model_v\($0).json" }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder("models"))
    #expect(names.sorted() == (wanted + ["global_model_latest.json"]).sorted())

    let file = try read(folder("models/global_model_latest.json"))
    #expect(file.version == summary.version)
    #expect(file.weights.count == 4)
    let names4 = ["dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias"]
    for name in names4 {
      let variable = document.variable("model/\(name.replacing(".", with: "_"))")
      guard case .float(let stored)? = variable?.values else {
        Issue.record("no \(name)")
        continue
      }
      let read = try #require(file.weights[name]).map { Float($0) }
      #expect(read.map(\.bitPattern) == stored.map(\.bitPattern), "\(name)")
    }
    let devices = try #require(document.integers("versions/devices"))
    let accuracies = try #require(document.numbers("versions/validationAccuracy"))
    for version in 1...summary.version {
      let file = try read(folder("models/global_model_v\(version).json"))
      #expect(file.version == version)
      #expect(file.participating_devices == Int(devices[version]))
      #expect(file.average_accuracy == accuracies[version])
    }
  }

  @Test("times are civil, without a zone, with a fraction where there is one")
  func timestamps() {
    // 2025-11-17T06:00:00Z is 1763359200 seconds after 1970.
    func text(_ microseconds: Int64) -> String {
      ModelFiles.timestamp(SimTime(microseconds: microseconds), 1_763_359_200)
    }
    #expect(text(0) == "2025-11-17T06:00:00")
    #expect(text(600_000_000) == "2025-11-17T06:10:00")
    #expect(text(86_400_000_001) == "2025-11-18T06:00:00.000001")
  }

  @Test("a folder that takes no file is found before the run")
  func noFolder() throws {
    let folder = try Folder()
    try folder.write("", to: "models")
    let scenario = try Night.scenario("record.modelFiles=models")
    #expect(throws: RunFailure.self) {
      try Run(scenario, output: folder("night.h5")).perform()
    }
    #expect(folder.names == ["models"])
  }
}
