import Numerics

/// An update on its way through the transforms, on its device.
public struct OutgoingUpdate: Sendable {
  /// The parameters; their difference from `base` is the update.
  public var parameters: ParameterBuffer
  /// What the training began with.
  public let base: ParameterBuffer
  /// Where the tensors that travel are, in ascending order.
  public let tensors: [Range<Int>]
  /// What the transform draws from.
  public var stream: RandomStream
  /// What the transform kept of the device's updates before, and keeps of this one; nil: nothing.
  public var residual: ParameterBuffer?
  /// What the server sent to the transform with the base.
  public let told: Double?
  /// What the transform reports to the server besides the update.
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
  /// Order: of `BlockSum`.
  public var norm: Double { parameters.squaredNorm(less: base).squareRoot() }

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

  /// Sets the differences of the tensors that travel, one after the other in their order, each from
  /// the place of its tensor, what it was, and the stream; what does not travel stays as it is.
  ///
  /// Order: of the parameters. Numbers beyond the largest float are taken for that one.
  public mutating func setDifferences(
    _ value: (_ tensor: Int, _ difference: Double, _ stream: inout RandomStream) -> Double
  ) {
    let (parameters, base, tensors) = (parameters, base, tensors)
    var stream = stream
    self.parameters = ParameterBuffer(count: parameters.count) { target in
      parameters.withUnsafeBufferPointer { source in
        for i in 0..<target.count { target[i] = source[i] }
      }
      for (place, tensor) in tensors.enumerated() {
        for i in tensor {
          let origin = Double(base[i])
          target[i] = ParameterBuffer.nearest(
            origin + value(place, Double(parameters[i]) - origin, &stream))
        }
      }
    }
    self.stream = stream
  }

  /// The differences of what travels, one tensor behind the other, with what is left of those
  /// before.
  func values(withRest: Bool) -> [Float] {
    var values: [Float] = []
    values.reserveCapacity(count)
    for tensor in tensors {
      for place in tensor {
        let rest = withRest ? Double(residual?[place] ?? 0) : 0
        values.append(ParameterBuffer.nearest(difference(place) + rest))
      }
    }
    return values
  }

  /// Sends these in place of the differences, in their order; with `keepsRest` what `values` are
  /// more than these waits.
  mutating func send(_ sent: [Double], of values: [Float], keepsRest: Bool) {
    var next = 0
    setDifferences { _, _, _ in
      defer { next += 1 }
      return sent[next]
    }
    guard keepsRest else { return }
    let tensors = tensors
    residual = ParameterBuffer(count: parameters.count) { target in
      var next = 0
      for tensor in tensors {
        for place in tensor {
          target[place] = ParameterBuffer.nearest(Double(values[next]) - sent[next])
          next += 1
        }
      }
    }
  }
}
