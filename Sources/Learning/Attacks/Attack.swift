import Numerics
import Schema

/// An update in the hands of an adversary.
public struct AttackedUpdate: Sendable {
  /// What was trained.
  public let parameters: ParameterBuffer
  /// What the training began with.
  public let base: ParameterBuffer
  /// What the device's first training led to, and what that began with, where the attack asks.
  public let first: (parameters: ParameterBuffer, base: ParameterBuffer)?
  /// The difference that colluders of one aggregation have agreed on; nil: there is none.
  public let agreed: [Double]?

  /// An update.
  public init(
    parameters: ParameterBuffer, base: ParameterBuffer,
    first: (parameters: ParameterBuffer, base: ParameterBuffer)? = nil, agreed: [Double]? = nil
  ) {
    self.parameters = parameters
    self.base = base
    self.first = first
    self.agreed = agreed
  }
}

/// What an adversary does: to its labels, to its updates, or both.
///
/// An adversary follows the protocol and takes as long as an honest device would, so no event of a
/// run depends on who the adversaries are. Transforms of updates come after it.
public protocol Attack: Part {
  /// For each class the label that is trained on instead; nil: the data's own.
  func relabelling(classCount: Int) -> [Int32]?
  /// The greatest class that its settings name; nil: none.
  var greatestClass: Int? { get }
  /// Whether it sends anything else than what it trained.
  var falsifies: Bool { get }
  /// Whether it sends what its first training gave.
  var replaysFirst: Bool { get }
  /// Whether what it sends depends on what others trained with the same attack, whose updates go
  /// into the same version.
  var colludes: Bool { get }
  /// The difference that these agree on, one number a parameter; where they collude.
  func agreement(_ collusion: Collusion, pool: WorkerPool) -> [Double]
  /// Forges the parameters that are sent; their difference from the base is the update.
  ///
  /// Draws: from the stream, keyed by device and by the first data epoch of its training.
  func forge(_ update: AttackedUpdate, _ stream: inout RandomStream) -> ParameterBuffer
}

extension Attack {
  /// The data's own.
  public func relabelling(classCount: Int) -> [Int32]? { nil }
  /// None.
  public var greatestClass: Int? { nil }
  public var falsifies: Bool { true }
  /// No.
  public var replaysFirst: Bool { false }
  /// No.
  public var colludes: Bool { false }
  /// None.
  public func agreement(_ collusion: Collusion, pool: WorkerPool) -> [Double] {
    preconditionFailure("attacks that collude say what they agree on")
  }
  /// What was trained.
  public func forge(
    _ update: AttackedUpdate, _ stream: inout RandomStream
  ) -> ParameterBuffer { update.parameters }
}

extension Seam where Value == any Attack {
  /// What an adversary does.
  public static var attack: Seam { Seam("attack", "What does an adversary send?") }
}
