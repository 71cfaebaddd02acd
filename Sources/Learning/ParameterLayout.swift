/// Which tensor is where in a flat buffer of parameters.
public struct ParameterLayout: Equatable, Sendable {
  /// The tensors in order of offset, without gaps.
  public let tensors: [TensorSpec]

  /// A layout of tensors that follow one another from offset 0 on.
  public init(_ tensors: [TensorSpec]) {
    var end = 0
    for tensor in tensors {
      precondition(tensor.offset == end, "tensor \(tensor.name) does not begin at \(end)")
      end += tensor.count
    }
    precondition(Set(tensors.map(\.name)).count == tensors.count, "names are unique")
    self.tensors = tensors
  }

  /// A layout that packs named shapes one behind the other.
  public init(packing shapes: [(name: String, shape: [Int])]) {
    var tensors: [TensorSpec] = []
    for (name, shape) in shapes {
      let offset = tensors.last?.range.upperBound ?? 0
      tensors.append(TensorSpec(name: name, shape: shape, offset: offset))
    }
    self.init(tensors)
  }

  /// How many parameters there are, updatable or not.
  public var count: Int { tensors.last?.range.upperBound ?? 0 }

  /// The size of all parameters as 32-bit floats, in bytes.
  public var byteCount: Int { count * MemoryLayout<Float>.stride }

  /// The updatable elements as ranges in ascending order, neighbours merged.
  public var updatableRanges: [Range<Int>] { ranges { $0.isUpdatable } }

  /// The elements that gradients move: the updatable ones but for statistics. Neighbours merged.
  public var trainedRanges: [Range<Int>] { ranges { $0.isUpdatable && !$0.isStatistic } }

  /// The updatable elements that are running statistics. Neighbours merged.
  public var statisticRanges: [Range<Int>] { ranges { $0.isUpdatable && $0.isStatistic } }

  /// How many parameters devices train and exchange.
  public var updatableCount: Int { updatableRanges.reduce(0) { $0 + $1.count } }

  /// The size of what devices exchange, in bytes.
  public var updatableByteCount: Int { updatableCount * MemoryLayout<Float>.stride }

  /// The updatable elements that are no weights of dense layers and convolutions: biases, and all
  /// of other layers. Neighbours merged.
  public var rangesBesideWeights: [Range<Int>] { ranges { $0.isUpdatable && !$0.isPlainWeight } }

  /// Chosen tensors as ranges in ascending order, neighbours merged.
  private func ranges(where isChosen: (TensorSpec) -> Bool) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for tensor in tensors where isChosen(tensor) {
      if let last = ranges.last, last.upperBound == tensor.offset {
        ranges[ranges.count - 1] = last.lowerBound..<tensor.range.upperBound
      } else {
        ranges.append(tensor.range)
      }
    }
    return ranges
  }

  /// The tensor of that name, if there is one.
  public subscript(name: String) -> TensorSpec? {
    tensors.first { $0.name == name }
  }
}
