/// An evaluation on devices that the server has asked for and that is not over.
struct EvaluationRound: Codable {
  /// The round that it follows.
  let round: Int32
  let begunAt: SimTime
  /// How many were chosen; 0: too few wait.
  var members = 0
  /// The participations of members that have not answered.
  var pending: [Int32] = []
  /// Who answered, and whether with samples.
  var results: [Answer] = []
  /// Members whose streams broke, or who had their time.
  var failures = 0
  /// What a program that runs the server makes of the answers.
  var told: Told?

  /// Means over the samples that answers are of.
  struct Told: Codable {
    let examples: Int
    let loss: Double
    let accuracy: Double
  }

  /// A member's answer.
  struct Answer: Codable {
    let device: Int32
    let hasSamples: Bool
  }
}

/// An evaluation on devices as the server knows it: what they reported, and how long it took.
public struct EvaluationRecord: Sendable, Equatable, Codable {
  /// The round that it followed.
  public let round: Int
  /// The version that was evaluated.
  public let version: Int
  /// When the round was over and the server wanted to know.
  public let begunAt: SimTime
  /// When the last member had answered or failed.
  public let endedAt: SimTime
  /// Devices that were chosen.
  public let members: Int
  /// Devices that answered.
  public let results: Int
  /// Members whose streams broke, or who did not answer in time.
  public let failures: Int
  /// Samples that the answers are of.
  public let examples: Int
  /// Mean of the losses reported, weighted by samples; NaN without any, or where failures are not
  /// accepted.
  public let loss: Double
  /// Mean of the accuracies that the apps worked out, weighted by samples; NaN as the loss. As
  /// coded an app's is 1 − loss, which may be below 0.
  public let accuracy: Double
}

/// What one device found.
struct EvaluationReport: Sendable, BitwiseCopyable {
  let samples: Int
  let loss: Double
  let accuracy: Double
}
