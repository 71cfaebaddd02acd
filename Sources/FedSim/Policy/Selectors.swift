import Numerics
import Schema

/// Whoever asks may train: devices decide, as in an automatic backend.
public struct OpenSelector: ClientSelector {
  /// Its name in a scenario.
  public static let name = "open"
  /// What it does, in one sentence.
  public static let summary = "Whoever asks may train; rounds end by the trigger alone"

  /// It has none.
  public typealias Settings = NoSettings
  /// Made from its settings.
  public init(_ settings: NoSettings) {}

  /// What a device that asks for work is told.
  public func admit(_ checkIn: CheckIn, _ server: ServerView) -> Admission { .accept }
}

/// A cohort drawn uniformly from the devices that wait, with more members than updates wanted.
public struct UniformSelector: ClientSelector {
  /// Its name in a scenario.
  public static let name = "uniform"
  /// What it does, in one sentence.
  public static let summary =
    "Synchronous rounds: a uniform cohort of those who wait, over-selected"

  /// What can be set.
  public struct Settings: PartSettings {
    /// How many updates a round wants.
    public var cohort = 10
    /// How many members are chosen for each update wanted.
    public var overSelection = 1.0
    /// How many devices must wait before a cohort is formed; nil: as many as are chosen.
    public var minimumWaiting: Int?
    /// The defaults.
    public init() {}
    /// The field that a bare value stands for.
    public static var shorthand: String? { "cohort" }
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [
        Field("cohort", \.cohort, .integer(1...1_000_000), "How many updates a round wants"),
        Field(
          "overSelection", \.overSelection, .number(1...10),
          "How many members are chosen for each update wanted (1.3 in Bonawitz et al. 2019)"),
        Field(
          "minimumWaiting", \.minimumWaiting, optional: .integer(1...10_000_000),
          "How many must wait before a cohort is formed; absent: as many as are chosen"),
      ]
    }
  }

  private let settings: Settings
  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// Whether it forms cohorts.
  public var formsCohorts: Bool { true }

  /// How many members a cohort is meant to have.
  var wantedMembers: Int {
    Int((Double(settings.cohort) * settings.overSelection - 1e-9).rounded(.up))
  }

  /// How many devices must wait before a cohort is formed.
  public var neededWaiting: Int? { settings.minimumWaiting ?? wantedMembers }

  /// What a device that asks for work is told.
  public func admit(_ checkIn: CheckIn, _ server: ServerView) -> Admission { .wait }

  /// Draws: one `below` a member.
  public func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream
  ) -> Cohort? {
    guard waiting.count >= neededWaiting! else { return nil }
    let members = stream.sample(min(wantedMembers, waiting.count), below: waiting.count)
    return Cohort(members: members.map { Int($0) }, goal: min(settings.cohort, members.count))
  }
}
