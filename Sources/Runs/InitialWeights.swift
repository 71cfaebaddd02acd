import DataSets
import Learning
import Numerics
import Scenarios
import Schema

extension Scenario {
  /// Version 0: the file's, or drawn from the `init` seed.
  ///
  /// Draws: as `Network.initialParameters`, from slot 0 of `initial-weights`.
  func initialParameters(of network: Network) throws(Faults) -> ParameterBuffer {
    guard let file = settings.task.initialWeights else {
      let key = StreamKey(seed: seeds.initial, purpose: "initial-weights")
      return network.initialParameters(key.stream(slot: 0))
    }
    do throws(DataFault) {
      return try ParameterBuffer(npz: path(of: file.path), layout: network.layout)
    } catch {
      throw Faults([fault(error, at: file.place, path: "task.initialWeights")])
    }
  }
}

extension ParameterBuffer {
  /// Parameters from an NPZ archive whose arrays are called as the layout's tensors.
  ///
  /// Shapes: the layout's; a weight [in][out] may be stored as [out][in], as PyTorch does, if the
  /// archive does so with every weight; one in which all weights are square is read as [in][out].
  /// Throws: `countMismatch` for another shape, `unknownName` for an array that is no tensor,
  /// `outOfRange` for a number that is not finite, and what `NPZ` throws.
  convenience init(npz path: String, layout: ParameterLayout) throws(DataFault) {
    let archive = try NPZ(contentsOf: path)
    let known = layout.tensors.map(\.name)
    for name in archive.names where !known.contains(name) {
      throw DataFault(
        .unknownName, in: path, found: "an array '\(name)'",
        expected: "only \(known.joined(separator: ", "))",
        advice: Spelling.nearest(to: name, among: known).map { "did you mean '\($0)'?" })
    }
    var arrays: [NPYArray] = []
    for name in known { arrays.append(try archive.array(named: name)) }
    let isTransposed = zip(layout.tensors, arrays).contains { tensor, array in
      tensor.shape.count == 2 && tensor.shape != array.shape
        && tensor.shape == array.shape.reversed()
    }
    var values: [Float] = []
    for (tensor, array) in zip(layout.tensors, arrays) {
      let turns = isTransposed && tensor.shape.count == 2
      let wanted = turns ? tensor.shape.reversed() : tensor.shape
      let place = "\(path):\(tensor.name).npy"
      guard array.shape == wanted else {
        throw DataFault(
          .countMismatch, in: place, found: "shape \(array.shape)",
          expected: "\(wanted)\(isTransposed ? ", [out, in] as the other weights" : "")")
      }
      guard let floats = array.asFloats else {
        throw DataFault(
          .unsupported, in: place, found: "type \(array.values.descriptor)",
          expected: "floats of 32 or 64 bits")
      }
      guard floats.allSatisfy(\.isFinite) else {
        throw DataFault(
          .outOfRange, in: place, found: "a number that is not finite", expected: "finite numbers")
      }
      guard turns else {
        values += floats
        continue
      }
      let (inputs, outputs) = (tensor.shape[0], tensor.shape[1])
      for input in 0..<inputs {
        for output in 0..<outputs { values.append(floats[output * inputs + input]) }
      }
    }
    self.init(values, layout: layout)
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
