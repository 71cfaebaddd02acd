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

  /// An update.
  public init(
    parameters: ParameterBuffer, base: ParameterBuffer,
    first: (parameters: ParameterBuffer, base: ParameterBuffer)? = nil
  ) {
    self.parameters = parameters
    self.base = base
    self.first = first
  }
}

/// What an adversary does: to its labels, to its updates, or both.
///
/// An adversary keeps to the protocol and takes as long as an honest device would, so no event of a
/// run depends on who lies. Transforms of updates come after it.
public protocol Attack: Part {
  /// For each class the label that is trained on instead; nil: the data's own.
  func relabelling(classCount: Int) -> [Int32]?
  /// Whether it sends anything else than what it trained.
  var falsifies: Bool { get }
  /// Whether it sends what its first training gave.
  var replaysFirst: Bool { get }
  /// The parameters that are sent; their difference from the base is the update.
  ///
  /// Draws: from the stream, keyed by device and by the first data epoch of its training.
  func sent(_ update: AttackedUpdate, _ stream: inout RandomStream) -> ParameterBuffer
}

extension Attack {
  /// The data's own.
  public func relabelling(classCount: Int) -> [Int32]? { nil }
  /// It does.
  public var falsifies: Bool { true }
  /// No.
  public var replaysFirst: Bool { false }
  /// What was trained.
  public func sent(
    _ update: AttackedUpdate, _ stream: inout RandomStream
  ) -> ParameterBuffer { update.parameters }
}

extension Seam where Value == any Attack {
  /// What an adversary does.
  public static var attack: Seam { Seam("attack", "What does an adversary do?") }
}
