import DataSets
import Foundation
import Testing

import FedSim
import Learning
import Runs
import Scenarios
import Schema

@Suite("Files that a scenario names")
struct DataFileTests {
  private func faults(_ folder: Folder, _ overrides: [String]) throws -> [String] {
    let scenario = try Scenario(
      text: Night.text, file: folder("night.yaml"), overrides: overrides)
    do throws(Faults) {
      _ = try scenario.makeSimulation()
      return []
    } catch {
      return error.faults.map {
        $0.description.replacingOccurrences(of: folder.path + "/", with: "")
      }
    }
  }

  // MARK: Tables of intervals

  @Test("a good table is read, with `*` for the devices that it does not name")
  func table() throws {
    let folder = try Folder()
    try folder.write(
      """
      # made by hand
      to,device,from,state
      2 h,phones/0,1 h,cellular
      3 h,phones/0,2 h,wifi
      600,*,0,wifi

      """, to: "links.csv")
    let scenario = try Scenario(
      text: Night.text, file: folder("night.yaml"),
      overrides: ["fleet.phones.link={csv: links.csv}"])
    let table = try #require(scenario.inputs().tables["links.csv"])
    #expect(table.rows(of: "phones/0").map(\.from.seconds) == [3600, 7200])
    #expect(table.rows(of: "phones/1").map(\.to.seconds) == [600])
    #expect(table.rows(of: "phones/0").first?.state == "cellular")
  }

  @Test(
    "the series of every part of a device may come from a table",
    arguments: [
      ("network.share", "50"), ("background.system.backgroundRefresh", "off"),
      ("thermal.ambient", "hot"), ("presence", "away"),
    ])
  func everySeries(path: String, state: String) throws {
    let folder = try Folder()
    try folder.write("device,from,to,state\n*,1 h,2 h,\(state)\n", to: "t.csv")
    let battery = "fleet.phones.battery={}"
    let scenario = try Scenario(
      text: Night.text, file: folder("night.yaml"),
      overrides: [battery, "fleet.phones.\(path)={csv: t.csv}"])
    let inputs = try scenario.inputs()
    #expect(inputs.tables["t.csv"]?.rows(of: "phones/0").first?.state == state)
    #expect(try faults(folder, [battery, "fleet.phones.\(path)={csv: u.csv}"]).count == 1)
  }

  @Test(
    "a broken table gives its faults with line and column",
    arguments: [
      (
        "device,from,to\nphone/0,0,1\n",
        "t.csv:2:1: fleet[0].link: found `phone/0`, expected a device of the fleet, such as"
          + " `phones/17`, or `*` in column 'device'"
      ),
      (
        "device,from,to\nphones/9,0,1\n",
        "t.csv:2:1: fleet[0].link: found `phones/9`, expected a device of the fleet, such as"
          + " `phones/17`, or `*` in column 'device'"
      ),
      (
        "device,from,to\n*,2 h,1 h\n",
        "t.csv:2:7: fleet[0].link: found `1 h`, expected a time after `2 h`, the row's begin,"
          + " in column 'to'"
      ),
      (
        "device,from,to,state\n*,0,1,wify\n",
        "t.csv:2:7: fleet[0].link: found `wify`, expected a state of link (offline, cellular,"
          + " wifi) in column 'state'; did you mean `wifi`?"
      ),
      (
        "device,from,soft,to\n*,0,1,2\n",
        "t.csv:2:5: fleet[0].link: found `1`, expected nothing: only background windows have a "
          + "soft expiry, in column 'soft'"
      ),
      (
        "device,from,to\nphones/1,10,20\nphones/2,0,9\nphones/1,0,11\n",
        "t.csv:4:10: fleet[0].link: found `0`, expected no overlap with the interval of"
          + " `phones/1` in line 2, in column 'from'"
      ),
    ])
  func brokenTable(text: String, expected: String) throws {
    let folder = try Folder()
    try folder.write(text, to: "t.csv")
    #expect(try faults(folder, ["fleet.phones.link={csv: t.csv}"]) == [expected])
  }

  @Test("several faults of a table, and those of other files, come together")
  func together() throws {
    let folder = try Folder()
    try folder.write("device,from,to,soft\n*,0,10,11\nx,0,1,\n", to: "t.csv")
    let found = try faults(
      folder,
      [
        "fleet.tablets.background.windows={csv: t.csv}", "task.initialWeights=none.npz",
        "fleet.phones.power={csv: none.csv}",
      ])
    #expect(found.count == 4)
    #expect(found.contains { $0.hasPrefix("t.csv:2:8: fleet[1].background.windows: found `11`") })
    #expect(found.contains { $0.hasPrefix("t.csv:3:1: fleet[1].background.windows: found `x`") })
    #expect(found.contains { $0.contains("fleet[0].power: none.csv: No such file") })
    #expect(found.contains { $0.contains("task.initialWeights: none.npz: No such file") })
  }

  // MARK: Data

  @Test("missing data are a fault where the scenario asks for them, with what to do")
  func missingData() throws {
    let folder = try Folder()
    let found = try faults(folder, ["task.data.source={fashion-mnist: {folder: nowhere}}"])
    #expect(found.count == 1)
    #expect(found[0].contains("task.data.source: train-images-idx3-ubyte: not found in `nowhere`"))
    #expect(
      found[0].contains("install the Debian package dataset-fashion-mnist, or set FEDSIM_DATA"))
  }

  @Test("a partition that the data cannot give is a fault of the scenario")
  func partition() throws {
    let folder = try Folder()
    let found = try faults(
      folder, ["task.data.partition={iid: {clients: 12, samplesPerClient: 21}}"])
    #expect(found.count == 1)
    #expect(
      found[0].contains(
        "task.data.partition: found 240 training samples, expected at least 252"))
  }

  @Test("a model that no memory holds is a fault, found before it is made")
  func hugeModel() throws {
    let folder = try Folder()
    let found = try faults(folder, ["task.model={mlp: {hidden: [100000, 100000]}}"])
    #expect(found.count == 1)
    #expect(found[0].contains("task.model: "))
    #expect(found[0].contains(" parameters, expected at most 268435456"))
  }

  // MARK: Initial weights and orders

  private func write(_ folder: Folder, _ shapes: [(String, [Int])]) throws {
    var next: Float = 0
    try NPZ.write(
      shapes.map { name, shape in
        let count = shape.reduce(1, *)
        defer { next += Float(count) }
        return (name, NPYArray(shape: shape, floats: (0..<count).map { next + Float($0) }))
      }, to: folder("w.npz"))
  }

  private let shapes = [
    ("dense1.weight", [5, 4]), ("dense1.bias", [4]), ("dense2.weight", [4, 3]),
    ("dense2.bias", [3]),
  ]

  @Test("weights are taken as they are, or turned where all are [out][in]")
  func weights() throws {
    let folder = try Folder()
    func initial() throws -> [Float] {
      try Scenario(
        text: Night.text, file: folder("night.yaml"), overrides: ["task.initialWeights=w.npz"]
      ).inputs().task.initial.values
    }
    try write(folder, shapes)
    #expect(try initial() == (0..<39).map { Float($0) })
    var turned = shapes
    turned[0].1 = [4, 5]
    turned[2].1 = [3, 4]
    try write(folder, turned)
    let values = try initial()
    #expect(Array(values[0..<8]) == [0, 5, 10, 15, 1, 6, 11, 16])
    #expect(Array(values[24..<30]) == [24, 28, 32, 25, 29, 33])
  }

  @Test("a safetensors file that names PyTorch's axes is turned")
  func torchAxes() throws {
    let folder = try Folder()
    // [out][in] = [4][5] there, [5][4] here: the first input's weights are each fifth number.
    let shapes = [("dense1.weight", [4, 5]), ("dense1.bias", [4])]
    let counts = shapes.map { $0.1.reduce(1, *) }
    let header =
      "{\"__metadata__\":{\"axes\":\"torch\"},"
      + "\"dense1.weight\":{\"dtype\":\"F32\",\"shape\":[4,5],\"data_offsets\":[0,80]},"
      + "\"dense1.bias\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[80,96]}}"
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: header.utf8.count >> (8 * $0)) }
    bytes += Array(header.utf8)
    for value in 0..<counts.reduce(0, +) {
      withUnsafeBytes(of: Float(value).bitPattern.littleEndian) { bytes += Array($0) }
    }
    try Data(bytes).write(to: URL(fileURLWithPath: folder("w.safetensors")))
    let values = try Scenario(
      text: Night.text, file: folder("night.yaml"),
      overrides: [
        "task.initialWeights=w.safetensors",
        "task.model={layers: [{dense: 4}]}",
      ]
    ).inputs().task
    let weight = try #require(values.network.layout["dense1.weight"])
    #expect(
      values.initial.values(of: weight).prefix(8).elementsEqual([0, 5, 10, 15, 1, 6, 11, 16]))
  }

  @Test("weights of another shape, name or orientation are faults")
  func brokenWeights() throws {
    let folder = try Folder()
    func found(_ change: (inout [(String, [Int])]) -> Void) throws -> String {
      var changed = shapes
      change(&changed)
      try write(folder, changed)
      return try faults(folder, ["task.initialWeights=w.npz"]).joined(separator: "\n")
    }
    #expect(
      try found { $0[1].1 = [5] }.hasSuffix(
        "task.initialWeights: w.npz:dense1.bias.npy: found shape [5], expected [4]"))
    #expect(
      try found { $0[0].1 = [4, 5] }.hasSuffix(
        "w.npz:dense2.weight.npy: found shape [4, 3], expected [3, 4], [out, in] as the other"
          + " weights"))
    #expect(
      try found { $0[1].0 = "dense1.bia" }.hasSuffix("did you mean 'dense1.bias'?"))
    #expect(try found { $0.removeLast() }.contains("expected an array called 'dense2.bias'"))
  }

  @Test("orders have to list each position once")
  func orders() throws {
    let folder = try Folder()
    // Twelve clients of 16 training samples, two epochs in the file.
    func write(_ change: (inout [Int32]) -> Void) throws -> [String] {
      var values = (0..<24).flatMap { _ in (0..<16).reversed().map { Int32($0) } }
      change(&values)
      try NPZ.write(
        [("orders", NPYArray(shape: [12, 2, 16], values: .int32(values)))], to: folder("o.npz"))
      return try faults(folder, ["task.training.orders=o.npz"])
    }
    #expect(try write { _ in } == [])
    let found = try write { $0[16 * 3] = 0 }
    #expect(found.count == 1)
    #expect(found[0].contains("found a different order at client 1, epoch 1"))
  }
}
