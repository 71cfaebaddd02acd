import DataSets
import Foundation
import Scenarios

/// A reader: it gives values or throws; anything else is a finding.
typealias FileReader = (_ path: String) throws -> Void

/// The readers by name.
let readers: [String: FileReader] = [
  "idx": { path in for rank in [1, 3] { _ = try? IDX(contentsOf: path, rank: rank, limit: most) } },
  "csv": { path in
    var table = try DelimitedTable(
      contentsOf: path,
      columns: [.required("device"), .required("from"), .optional("to"), .optional("label")])
    while try table.nextRow() {
      _ = table.text(0)
      _ = try? table.microseconds(1)
      _ = try? table.number(2)
      _ = try? table.integer(3, in: 0...9)
    }
  },
  "npy": { _ = try NPYArray(contentsOf: $0) },
  "npz": { path in
    let archive = try NPZ(contentsOf: path, limit: most)
    for name in archive.names { _ = try archive.array(named: name) }
  },
  "safetensors": { path in
    let file = try Safetensors(contentsOf: path, limit: most)
    for name in file.names { _ = try file.array(named: name) }
  },
  "leaf": { path in
    let folder = (path as NSString).deletingLastPathComponent
    var settings = LEAFFiles.Settings()
    settings.train = folder
    settings.test = folder
    settings.classes = 3
    _ = try LEAFFiles(settings).load(folders: DataFolders([""]), seed: 1)
  },
  "flash": { path in
    try FLASHFile.read(contentsOf: path, words: ["wifi", "4g", "battery_charged_on"]) { _ in }
  },
  "availability": { try FedScaleFiles.readAvailability(contentsOf: $0) { _ in } },
  "capacity": { try FedScaleFiles.readCapacity(contentsOf: $0) { _ in } },
  "coreml": { path in
    let network = try CoreMLNetwork(contentsOf: path)
    for shape in [[6], [12, 2], [8, 8, 1]] {
      let found = try? network.network(sampleShape: shape, classCount: 4, loss: .crossEntropy)
      if let found { _ = network.parameters(of: found) }
    }
  },
  "scenario": { path in
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    _ = try Scenario(text: text, files: ScenarioFiles { _ in .failure(.init("no files here")) })
  },
]

/// No reader may take more than these bytes of what a small file claims.
private let most = 64 << 20
