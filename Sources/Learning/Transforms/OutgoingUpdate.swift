import Numerics

/// An update on its way through the transforms, on its device.
public struct OutgoingUpdate: Sendable {
  /// The parameters; their difference from `base` is the update.
  public var parameters: ParameterBuffer
  /// What the training began with.
  public let base: ParameterBuffer
  /// Where the tensors that travel lie, in ascending order.
  public let tensors: [Range<Int>]
  /// What the transform draws from.
  public var stream: RandomStream
  /// What the transform kept of the device's updates before, and keeps of this one; nil: nothing.
  public var residual: ParameterBuffer?
  /// What the server told the transform with the base.
  public let told: Double?
  /// What the transform reports to the server beside the update.
  public var report: Double?

  /// An update.
  public init(
    parameters: ParameterBuffer, base: ParameterBuffer, tensors: [Range<Int>],
    stream: RandomStream, residual: ParameterBuffer? = nil, told: Double? = nil
  ) {
    precondition(parameters.count == base.count, "an update has its base's size")
    self.parameters = parameters
    self.base = base
    self.tensors = tensors
    self.stream = stream
    self.residual = residual
    self.told = told
  }

  /// How many parameters travel.
  public var count: Int { tensors.reduce(0) { $0 + $1.count } }

  /// The difference at a place of the buffers.
  public func difference(_ place: Int) -> Double {
    Double(parameters[place]) - Double(base[place])
  }

  /// The Euclidean norm of the difference.
  ///
  /// Order: of the parameters, in `Double`.
  public var norm: Double {
    var square = 0.0
    for i in 0..<parameters.count {
      let difference = difference(i)
      square += difference * difference
    }
    return square.squareRoot()
  }

  /// Scales the difference down to a norm that it exceeds.
  public mutating func clip(norm: Double, to most: Double) {
    if norm <= most { return }
    let factor = most / norm
    let (parameters, base) = (parameters, base)
    self.parameters = ParameterBuffer(count: parameters.count) { target in
      for i in 0..<target.count {
        let difference = Double(parameters[i]) - Double(base[i])
        target[i] = Float(Double(base[i]) + factor * difference)
      }
    }
  }

  /// Sets the differences of the tensors that travel, one after the other as they lie; what does
  /// not travel stays as it is.
  ///
  /// Order: of the parameters. Numbers beyond the largest float are taken for that one.
  public mutating func setDifferences(_ value: (_ place: Int) -> Double) {
    let (parameters, base, tensors) = (parameters, base, tensors)
    self.parameters = ParameterBuffer(count: parameters.count) { target in
      parameters.withUnsafeBufferPointer { source in
        for i in 0..<target.count { target[i] = source[i] }
      }
      for tensor in tensors {
        for i in tensor { target[i] = ParameterBuffer.nearest(Double(base[i]) + value(i)) }
      }
    }
  }
}
