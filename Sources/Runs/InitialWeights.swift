import DataSets
import Learning
import Numerics
import Scenarios
import Schema

extension Scenario {
  /// Version 0: the file's, the model's own, or drawn from the `init` seed.
  ///
  /// Draws: as `Network.initialParameters`, from slot 0 of `initial-weights`.
  func initialParameters(
    of network: Network, _ model: CoreMLNetwork?
  ) throws(Faults) -> ParameterBuffer {
    guard let file = settings.task.initialWeights else {
      if let model { return model.parameters(of: network) }
      let key = StreamKey(seed: seeds.initial, purpose: "initial-weights")
      return network.initialParameters(key.stream(slot: 0))
    }
    do throws(DataFault) {
      return try ParameterBuffer(
        WeightFile(contentsOf: path(of: file.path)), layout: network.layout)
    } catch {
      throw Faults([fault(error, at: file.place, path: "task.initialWeights")])
    }
  }
}

/// A file of named tensors: NumPy's NPZ, safetensors, and what `fedsim export` writes of both.
struct WeightFile {
  /// The file's path, and the names that a network may have tensors of.
  let path: String
  let names: [String]
  /// Whether the file says that its axes are in PyTorch's order (`axes: torch` in its metadata).
  let isTorch: Bool
  private let read: (String) throws(DataFault) -> NPYArray

  /// Throws: what the file's reader throws.
  init(contentsOf path: String) throws(DataFault) {
    self.path = path
    if path.hasSuffix(".safetensors") {
      let file = try Safetensors(contentsOf: path)
      names = file.names
      isTorch = file.metadata["axes"] == "torch"
      read = { name throws(DataFault) in try file.array(named: name) }
      return
    }
    let file = try NPZ(contentsOf: path)
    isTorch = false
    guard file.names.contains("schema.json") else {
      names = file.names
      read = { name throws(DataFault) in try file.array(named: name) }
      return
    }
    // An export of a result: its last model, `model/dense1_weight`.
    names = []
    read = { name throws(DataFault) in
      try file.array(named: "model/" + ModelTable.variable(of: name))
    }
  }

  /// The place of a tensor, for faults.
  func place(_ name: String) -> String {
    path.hasSuffix(".safetensors") ? "\(path):\(name)" : "\(path):\(name).npy"
  }

  /// Throws: `missingName`, and what the file's reader throws.
  func array(named name: String) throws(DataFault) -> NPYArray { try read(name) }
}

extension ParameterBuffer {
  /// Parameters from a file whose tensors are called as the layout's.
  ///
  /// Shapes: the layout's. A weight [in][out] may be stored as [out][in], as PyTorch does, if the
  /// file does so with every weight; where all weights are square, they are read as [in][out]. A
  /// file that says that it has PyTorch's axes has all weights so: [out][in][height][width] for a
  /// convolution, [out][in][size] along time, [out][in] for others but embeddings and positions.
  /// Throws: `countMismatch` for another shape, `unknownName` for an array that is no tensor,
  /// `outOfRange` for a number that is not finite, and what the file's reader throws.
  convenience init(_ file: WeightFile, layout: ParameterLayout) throws(DataFault) {
    let known = layout.tensors.map(\.name)
    for name in file.names where !known.contains(name) {
      throw DataFault(
        .unknownName, in: file.path, found: "an array '\(name)'",
        expected: "only \(known.joined(separator: ", "))",
        advice: Spelling.nearest(to: name, among: known).map { "did you mean '\($0)'?" })
    }
    var arrays: [NPYArray] = []
    for name in known { arrays.append(try file.array(named: name)) }
    let isTransposed = zip(layout.tensors, arrays).contains { tensor, array in
      tensor.shape.count == 2 && tensor.shape != array.shape
        && tensor.shape == array.shape.reversed()
    }
    var values: [Float] = []
    for (tensor, array) in zip(layout.tensors, arrays) {
      let order: StoredAxes =
        file.isTorch
        ? .torch(tensor) : isTransposed && tensor.shape.count == 2 ? .turned : .same
      let wanted = order.stored(tensor.shape)
      guard array.shape == wanted else {
        throw DataFault(
          .countMismatch, in: file.place(tensor.name), found: "shape \(array.shape)",
          expected: "\(wanted)\(isTransposed ? ", [out, in] as the other weights" : "")")
      }
      guard let floats = array.asFloats else {
        throw DataFault(
          .unsupported, in: file.place(tensor.name), found: "type \(array.values.descriptor)",
          expected: "floats of 32 or 64 bits")
      }
      guard floats.allSatisfy(\.isFinite) else {
        throw DataFault(
          .outOfRange, in: file.place(tensor.name), found: "a number that is not finite",
          expected: "finite numbers")
      }
      values += order.brought(floats, to: tensor.shape)
    }
    self.init(values, layout: layout)
  }
}

/// In which order a file has a tensor's axes.
private enum StoredAxes {
  case same
  /// [out][in] for [in][out].
  case turned
  /// [out][in][height][width] for [height][width][in][out], [out][in][size] for [size][in][out].
  case image

  /// PyTorch's order of a tensor.
  static func torch(_ tensor: TensorSpec) -> StoredAxes {
    if tensor.name.hasPrefix("embedding") || tensor.name.hasPrefix("positions") { return .same }
    return tensor.shape.count > 2 ? .image : tensor.shape.count == 2 ? .turned : .same
  }

  /// The shape in the file of a tensor of this shape.
  func stored(_ shape: [Int]) -> [Int] {
    switch self {
    case .same: shape
    case .turned: [shape[1], shape[0]]
    case .image: [shape[shape.count - 1], shape[shape.count - 2]] + shape.dropLast(2)
    }
  }

  /// A file's values in the order of the shape.
  func brought(_ values: [Float], to shape: [Int]) -> [Float] {
    // Both are transposes of a matrix of (all but out and in, in, out).
    guard self != .same else { return values }
    let (inputs, outputs) = (shape[shape.count - 2], shape[shape.count - 1])
    let places = shape.dropLast(2).reduce(1, *)
    return (0..<places).flatMap { place in
      (0..<inputs).flatMap { input in
        (0..<outputs).map { output in values[(output * inputs + input) * places + place] }
      }
    }
  }
}

extension NPYArray {
  /// The values as the nearest floats, where they are floats of 32 or 64 bits.
  fileprivate var asFloats: [Float]? {
    switch values {
    case .float32(let values): values
    case .float64(let values): values.map { Float($0) }
    default: nil
    }
  }
}
