import Numerics
import Schema

/// What is done to an update on its way: a pure function of the update, its base, a keyed stream,
/// and what the device has kept from its updates before.
public protocol UpdateTransform: Part {
  /// Transforms an update, and what its device keeps of it.
  ///
  /// Draws: from the update's stream, keyed by device and by the first data epoch of its training.
  func apply(_ update: inout OutgoingUpdate)
  /// What it makes of an update's form on the wire.
  func shape(_ form: inout UpdateForm)
  /// Whether it leaves something of an update on the device, for the next one.
  var keepsResidual: Bool { get }
  /// The largest norm of the differences that it lets through, given what the server sent (`told`).
  /// Nil: any.
  func largestNorm(told: Double?) -> Double?
  /// It, where the server tells its devices a number; nil: it tells them none.
  var asTold: (any ToldTransform)? { get }
}

extension UpdateTransform {
  /// Applies it to an update whose parameters are one tensor, of which nothing was kept; their
  /// difference from `base` is the update. Draws: as of any update.
  public func applied(
    to parameters: ParameterBuffer, base: ParameterBuffer, _ stream: inout RandomStream
  ) -> ParameterBuffer {
    var update = OutgoingUpdate(
      parameters: parameters, base: base,
      tensors: parameters.count == 0 ? [] : [0..<parameters.count], stream: stream)
    apply(&update)
    stream = update.stream
    return update.parameters
  }
  /// The form stays as it is.
  public func shape(_ form: inout UpdateForm) {}
  /// Nothing stays on the device.
  public var keepsResidual: Bool { false }
  /// Any.
  public func largestNorm(told: Double?) -> Double? { nil }
  /// It tells them none.
  public var asTold: (any ToldTransform)? { nil }
}

/// A transform whose devices receive a number from the server, which changes with the versions.
public protocol ToldTransform: UpdateTransform {
  /// What goes with version 0.
  var firstTold: Double { get }
  /// Tells what goes with the next version.
  ///
  /// `reports` are what devices reported with the updates in it, in their order. Draws: from the
  /// stream, keyed by the version.
  func tellNext(after told: Double, reports: [Double], _ stream: inout RandomStream) -> Double
  /// The deviation of the noise on the sum of reports that each may move by ½; 0: there is none.
  var reportNoise: Double { get }
}

extension ToldTransform {
  /// It.
  public var asTold: (any ToldTransform)? { self }
}

extension Seam where Value == any UpdateTransform {
  /// What is done to an update on its way.
  public static var updateTransform: Seam {
    Seam("update transform", "How is an update changed before it is sent?")
  }
}
