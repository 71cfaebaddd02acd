import Numerics

/// How an adversary makes up the update that it sends.
public struct Forgery: Sendable, Codable {
  /// The first update of an adversary that sends it again and again.
  public struct First: Sendable, Codable {
    /// What it trained.
    public let training: DeferredTraining
    /// What that began with.
    public let base: ParameterBuffer

    /// A first update.
    public init(training: DeferredTraining, base: ParameterBuffer) {
      self.training = training
      self.base = base
    }
  }

  /// Its attack's place among those of the run.
  public let attack: Int
  /// What the attack draws from.
  public let key: StreamKey
  /// The update that it sends again, if it does.
  public let first: First?

  /// A forgery.
  public init(attack: Int, key: StreamKey, first: First?) {
    self.attack = attack
    self.key = key
    self.first = first
  }
}
