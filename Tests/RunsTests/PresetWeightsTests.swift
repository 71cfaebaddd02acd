import DataSets
import Foundation
import Learning
import Runs
import Scenarios
import Testing

/// Weights of every preset through files: what is exported, and what PyTorch saves.
@Suite("Weights of presets")
struct PresetWeightsTests {
  private static let smoke = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../scenarios/smoke").standardized

  private func scenario(_ file: String, _ overrides: [String] = []) throws -> Scenario {
    try Scenario(
      contentsOf: Self.smoke.appendingPathComponent("\(file).yaml").path, overrides: overrides)
  }

  /// Runs a scenario, and exports its last model twice.
  private func export(_ scenario: Scenario, as name: String, in folder: Folder) throws {
    _ = try Run(scenario, output: folder("\(name).h5")).perform()
    _ = try Export(folder("\(name).h5"), as: .npz).write(to: folder("\(name).npz"))
    _ = try Export(folder("\(name).h5"), as: .safetensors).write(to: folder("\(name).safetensors"))
  }

  @Test(
    "what is exported is version 0 of the next run, bit for bit, and is exported again so",
    arguments: PresetBytesTests.scenarios)
  func exported(preset: String, file: String) throws {
    let folder = try Folder()
    let first = try scenario(file)
    try export(first, as: "first", in: folder)
    let layout = try first.inputs().task.network.layout
    let model = try Safetensors(contentsOf: folder("first.safetensors"))
    #expect(Set(model.names) == Set(layout.tensors.map(\.name)))
    let drawn = try first.inputs().task.initial
    for ending in ["npz", "safetensors"] {
      // Nothing ends within a second: the last model is version 0.
      let next = try scenario(
        file, ["task.initialWeights=\(folder("first.\(ending)"))", "stop={after: 1 s}"])
      let initial = try next.inputs().task.initial
      try export(next, as: "next-\(ending)", in: folder)
      let safetensors = try Safetensors(contentsOf: folder("next-\(ending).safetensors"))
      let archives = try ["first", "next-\(ending)"].map {
        try NPZ(contentsOf: folder("\($0).npz"))
      }
      var moved = false
      for tensor in layout.tensors {
        let wanted = try model.array(named: tensor.name)
        let values = initial.values(of: tensor)
        #expect(wanted == NPYArray(shape: tensor.shape, floats: values), "\(tensor.name)")
        #expect(try safetensors.array(named: tensor.name) == wanted, "\(tensor.name)")
        for archive in archives {
          let name = "model/" + tensor.name.replacing(".", with: "_")
          #expect(try archive.array(named: name) == wanted, "\(tensor.name)")
        }
        if values != drawn.values(of: tensor) { moved = true }
      }
      #expect(moved, "the run that was exported learned nothing")
    }
  }

  @Test("a file of PyTorch's axes is read for every preset", arguments: PresetBytesTests.scenarios)
  func torch(preset: String, file: String) throws {
    try read(try scenario(file), [])
  }

  @Test("a file of PyTorch's axes is read for a convolution along time")
  func torchSequence() throws {
    let model =
      "task.model={layers: [{convolution-1d: {filters: 3, size: 2}}, "
      + "batch-normalisation, {gru: 4}, {dense: 3}]}"
    try read(try scenario("lstm", [model]), [model])
  }

  /// Writes the initial weights of a scenario with the axes turned as PyTorch has them, and has
  /// them read.
  private func read(_ drawn: Scenario, _ overrides: [String]) throws {
    let folder = try Folder()
    let task = try drawn.inputs().task
    var (entries, offset) = (["\"__metadata__\":{\"axes\":\"torch\"}"], 0)
    var numbers: [UInt8] = []
    for tensor in task.network.layout.tensors {
      let values = task.initial.values(of: tensor)
      let (shape, turned) = turn(values, tensor)
      let extents = shape.map { String($0) }.joined(separator: ",")
      entries.append(
        "\"\(tensor.name)\":{\"dtype\":\"F32\",\"shape\":[\(extents)],"
          + "\"data_offsets\":[\(offset),\(offset + 4 * values.count)]}")
      offset += 4 * values.count
      for value in turned {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { numbers += Array($0) }
      }
    }
    let header = "{" + entries.joined(separator: ",") + "}"
    let length = (0..<8).map { UInt8(truncatingIfNeeded: header.utf8.count >> (8 * $0)) }
    try Data(length + Array(header.utf8) + numbers).write(
      to: URL(fileURLWithPath: folder("torch.safetensors")))
    // Another seed would draw other weights.
    let found = try Scenario(
      contentsOf: drawn.file,
      overrides: overrides + ["seed=99", "task.initialWeights=\(folder("torch.safetensors"))"]
    ).inputs().task.initial
    #expect(found.values == task.initial.values)
  }

  /// [y][x][in][out] as [out][in][y][x], [in][out] as [out][in]; embeddings, positions and what has
  /// one axis stay.
  private func turn(_ values: [Float], _ tensor: TensorSpec) -> (shape: [Int], values: [Float]) {
    let shape = tensor.shape
    let stays = ["embedding", "positions"].contains { tensor.name.hasPrefix($0) }
    if shape.count == 1 || stays { return (shape, values) }
    let (inputs, outputs) = (shape[shape.count - 2], shape[shape.count - 1])
    let places = shape.dropLast(2).reduce(1, *)
    var turned: [Float] = []
    for output in 0..<outputs {
      for input in 0..<inputs {
        for place in 0..<places {
          turned.append(values[(place * inputs + input) * outputs + output])
        }
      }
    }
    return ([outputs, inputs] + shape.dropLast(2), turned)
  }
}
