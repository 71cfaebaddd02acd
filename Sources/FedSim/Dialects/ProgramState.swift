import Numerics
import Schema

/// What the server knows of a program that runs in place of its policy.
struct ProgramState: Codable {
  /// A message that is to be sent, or was.
  struct Message: Codable {
    let number: Int
    let device: Int32
    let work: ProgramCommand.Work
    /// The round that a training is for; 0: none.
    let round: Int32
    /// When the device need not receive it any more.
    let expires: SimTime
    /// Over which it was sent; −1: it was not.
    var participation: Int32 = -1
  }

  /// Messages whose devices have not received them, in the order of their sending.
  var queued: [Message] = []
  /// Messages that devices work on.
  var given: [Message] = []
  /// What has ended since the program was last called.
  var ended: [ProgramMoment.End] = []
  /// What it waits for.
  var awaited: [Int] = []
  /// Since when, and how often, it looks for devices; nil: it does not.
  var pollsSince: SimTime?
  var pollPeriod = SimDuration(microseconds: 0)
  /// How many trainings it has asked for in the call under way.
  var chosen = 0
  /// The number of its next call: an earlier one's timer is void.
  var call: Int32 = 0
}

/// Lets all devices wait: a program says who works.
public struct ProgramSelector: CohortSelector {
  public static let name = "flower-app"
  /// What it does, in one sentence.
  public static let summary = "Flower's ServerApp chooses (docs/flower.md)"
  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// Nobody: the program's messages go where it sends them.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout NoMemory
  ) -> Cohort? { nil }
}

/// Never wants an aggregation: a program says when.
public struct ProgramTrigger: AggregationTrigger {
  public static let name = "flower-app"
  /// What it does, in one sentence.
  public static let summary = "Flower's ServerApp decides when a round ends (docs/flower.md)"
  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// It goes with the selector of its name.
  public var needs: TriggerNeeds { .cohorts }

  /// It waits.
  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision { .wait }
}
