import Numerics

/// What layers that carry a state over [time][features] have in common.
struct RecurrentShape {
  let time: Int
  let features: Int
  let units: Int
  /// Whether the state at each time is the output; otherwise the last one.
  let returnsSequence: Bool

  init(units: Int, returnsSequence: Bool, inputShape: [Int]) throws(ShapeProblem) {
    guard inputShape.count == 2 else {
      throw ShapeProblem("takes [time, features] and gets \(inputShape)")
    }
    guard units > 0 else { throw ShapeProblem("has at least 1 unit") }
    (time, features) = (inputShape[0], inputShape[1])
    self.units = units
    self.returnsSequence = returnsSequence
  }
}

/// A layer of such a shape.
protocol RecurrentLayer: PlacedLayer {
  var shape: RecurrentShape { get }
}

extension RecurrentLayer {
  var time: Int { shape.time }
  var features: Int { shape.features }
  var units: Int { shape.units }
  var returnsSequence: Bool { shape.returnsSequence }
  var outputShape: [Int] { returnsSequence ? [time, units] : [units] }
  var writtenCount: Int { time * units }

  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {
    initialiseUniform(target, count: parameterCount, fan: units, &stream)
  }

  /// Where a pass keeps what such a layer of this many gates leaves.
  func parts(_ pass: Pass, gates: Int) -> RecurrentParts {
    RecurrentParts(pass, rows: pass.rows, time: time, units: units, gates: gates)
  }
}
