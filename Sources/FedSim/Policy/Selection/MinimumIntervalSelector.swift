import Numerics
import Schema

/// Another selector, for which those who were chosen not long ago are not there.
///
/// A device that was chosen for round r may be chosen again from round r + `rounds` on, and not
/// before `time` has passed. Where the other selector forms cohorts a device that comes too early
/// waits with the others and is passed over; else it is turned away.
public struct MinimumIntervalSelector: ClientSelector {
  /// Its name in a scenario.
  public static let name = "minimum-interval"
  /// What it does, in one sentence.
  public static let summary = "Another selector, which passes over those who trained not long ago"

  /// What can be set.
  public struct Settings: PartSettings {
    /// How many rounds lie between two trainings of a device.
    public var rounds = 2
    /// How long it is left alone; nil: only rounds count.
    public var time: SimDuration?
    /// Who chooses among the others.
    public var of = Choice<any ClientSelector>(UniformSelector.self) { $0 }
    /// The defaults.
    public init() {}
    /// The field that a bare value stands for.
    public static var shorthand: String? { "rounds" }
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [
        Field(
          "rounds", \.rounds, .integer(1...1_000_000),
          "One chosen for round r may be chosen again from round r + this on; 1: at once"),
        Field(
          "time", \.time, optional: .duration(atLeast: .milliseconds(1)),
          "Nor before so long has passed; absent: rounds alone count"),
        Field("of", \.of, .part(.clientSelector), "Who chooses among the others"),
      ]
    }
    /// What is wrong with values that are each in range.
    public func contradictions() -> [(key: String, message: String)] {
      if rounds == 1, time == nil { return [("rounds", "1 and no `time` pass over nobody")] }
      if of.value is MinimumIntervalSelector {
        return [("of", "an interval of an interval says no more than the longer one")]
      }
      if of.value is any CycleAdmission || of.value is ScriptedSelector {
        return [("of", "`\(of.name)` says itself who may train again")]
      }
      return []
    }
  }

  private let settings: Settings
  private let inner: any ClientSelector
  /// Made from its settings.
  public init(_ settings: Settings) {
    self.settings = settings
    inner = settings.of.value
  }

  /// As the other.
  public var listens: Bool { inner.listens }
  /// As the other.
  public var formsCohorts: Bool { inner.formsCohorts }
  /// As the other.
  public var waitLimit: SimDuration? { inner.waitLimit }
  /// As the other, of those who may be chosen.
  public var neededWaiting: Int? { inner.neededWaiting }
  /// Enough for the rounds in which those of the first one rest.
  public var neededDevices: Int? { inner.neededWaiting.map { $0 * settings.rounds } }
  /// As the other.
  public var acceptsLate: Bool { inner.acceptsLate }
  /// It looks at when devices were chosen.
  public var needsFacts: Bool { true }
  /// As the other.
  public var needsLosses: Bool { inner.needsLosses }
  /// As the other.
  public var needsLossSquares: Bool { inner.needsLossSquares }
  /// As the other.
  public var needsCurrentLosses: Bool { inner.needsCurrentLosses }

  /// Whether a device may be chosen again.
  private func mayTrain(_ device: Int, _ server: ServerView) -> Bool {
    let facts = server.facts(of: device)
    guard let chosenAt = facts.chosenAt else { return true }
    if server.round - facts.lastRound < settings.rounds { return false }
    return settings.time.map { chosenAt + $0 <= server.now } ?? true
  }

  private func ownMemory(_ memory: inout PartMemory) {
    if memory.parts.isEmpty { memory.parts = [PartMemory()] }
  }

  /// As if nothing were remembered.
  public func admit(_ checkIn: CheckIn, _ server: ServerView) -> Admission {
    var memory = PartMemory()
    return admit(checkIn, server, &memory)
  }

  /// What a device that asks for work is told.
  public func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout PartMemory
  ) -> Admission {
    ownMemory(&memory)
    guard formsCohorts || mayTrain(checkIn.device, server) else { return .reject }
    return inner.admit(checkIn, server, &memory.parts[0])
  }

  /// The other hears it.
  public func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, _ memory: inout PartMemory
  ) {
    ownMemory(&memory)
    inner.hear(news, from: device, server, &memory.parts[0])
  }

  /// The other's cohort out of those who may train. Draws: as the other.
  public func cohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout PartMemory
  ) -> Cohort? {
    ownMemory(&memory)
    let places = waiting.indices.filter { mayTrain(waiting[$0].device, server) }
    guard
      let cohort = inner.cohort(
        from: places.map { waiting[$0] }, server, &stream, &memory.parts[0])
    else { return nil }
    return Cohort(members: cohort.members.map { places[$0] }, goal: cohort.goal)
  }

  /// The other's candidates out of those who may train. Draws: as the other.
  public func candidates(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout PartMemory
  ) -> [Int]? {
    ownMemory(&memory)
    let places = waiting.indices.filter { mayTrain(waiting[$0].device, server) }
    return inner.candidates(
      from: places.map { waiting[$0] }, server, &stream, &memory.parts[0]
    )?.map { places[$0] }
  }

  /// The other's cohort.
  public func cohort(
    of candidates: [Int], losses: [Double], _ server: ServerView
  ) -> Cohort? { inner.cohort(of: candidates, losses: losses, server) }
}
