import Numerics
import Schema

/// Another selector, for which those who were chosen not long ago are not there.
///
/// A device that was chosen for round r may be chosen again from round r + `rounds` on, and not
/// before `time` has passed. Where the other selector forms cohorts a device that comes too early
/// waits with the others and is passed over; else it is turned away.
public struct MinimumIntervalSelector: AdmittingSelector, CandidateSelector {
  public static let name = "minimum-interval"
  /// What it does, in one sentence.
  public static let summary = "Another selector, without devices that trained recently"

  public struct Settings: PartSettings {
    /// How many rounds are between two trainings of a device.
    public var rounds = 2
    /// How long it is left alone; nil: only rounds count.
    public var time: SimDuration?
    /// Who chooses among the others.
    public var of = Choice<AnySelector>(UniformSelector.self) { $0 }
    public init() {}
    public static var shorthand: String? { "rounds" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "rounds", \.rounds, .integer(1...1_000_000),
          "A device chosen for round r may be chosen again from round r + this on; 1: at once"),
        Field(
          "time", \.time, optional: .duration(atLeast: .milliseconds(1)),
          "Minimum time before a device is chosen again; absent: only rounds count"),
        Field("of", \.of, .part(.clientSelector), "The selector for the remaining devices"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      if rounds == 1, time == nil { return [("rounds", "1 without `time` excludes no device")] }
      if of.name == MinimumIntervalSelector.name {
        return [("of", "an interval of an interval is the longer of the two: write one")]
      }
      if of.value.cycles != nil || of.value.given != nil {
        return [("of", "`\(of.name)` decides itself which devices may train again")]
      }
      return []
    }
  }

  private let settings: Settings
  private let inner: AnySelector
  public init(_ settings: Settings) {
    self.settings = settings
    inner = settings.of.value
  }

  /// What the other is.
  public var erased: AnySelector {
    switch inner.kind {
    case .admitting: AnySelector(.admitting(self))
    case .cohorts: AnySelector(.cohorts(self))
    case .candidates: AnySelector(.candidates(self))
    case .cycles: inner
    }
  }

  /// As the other; and it looks at when devices were chosen.
  public var needs: SelectorNeeds { inner.needs.union(.facts) }

  /// As the other, of those who may be chosen; a fleet needs enough for the rounds in which those
  /// of the first one rest.
  public var rules: CohortRules {
    var rules = inner.rules ?? CohortRules()
    rules.neededDevices = rules.neededWaiting.map { $0 * settings.rounds }
    rules.uniformMembers = nil
    return rules
  }

  public struct Memory: Codable, Sendable {
    /// What the other remembers.
    var inner: AnyMemory
  }

  /// The other.
  public var children: [any PolicyPart] { [inner.part] }

  /// As the other.
  public func makeMemory() -> Memory { Memory(inner: inner.part.freshMemory()) }

  /// Whether a device may be chosen again.
  private func mayTrain(_ device: Int, _ server: ServerView) -> Bool {
    let facts = server.facts(of: device)
    guard let chosenAt = facts.chosenAt else { return true }
    if server.round - facts.lastRound < settings.rounds { return false }
    return settings.time.map { chosenAt + $0 <= server.now } ?? true
  }

  /// Turns away who may not train; of the others the other decides.
  public func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout Memory
  ) -> Admission {
    guard mayTrain(checkIn.device, server) else { return .reject }
    return inner.answer(checkIn, server, with: &memory.inner) == .accept ? .accept : .reject
  }

  /// The other decides.
  public func receive(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout Memory
  ) -> Reception {
    inner.answer(checkIn, server, with: &memory.inner) == .wait ? .wait : .reject
  }

  /// The other hears it.
  public func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, _ memory: inout Memory
  ) { inner.hear(news, from: device, server, with: &memory.inner) }

  /// The places of devices that may train.
  private func rested(_ waiting: [CheckIn], _ server: ServerView) -> [Int] {
    waiting.indices.filter { mayTrain(waiting[$0].device, server) }
  }

  /// The other's cohort out of those who may train. Draws: as the other.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout Memory
  ) -> Cohort? {
    let places = rested(waiting, server)
    return inner.chooseCohort(
      from: places.map { waiting[$0] }, server, &stream, with: &memory.inner
    ).map { Cohort(members: $0.members.map { places[$0] }, goal: $0.goal) }
  }

  /// The other's candidates out of those who may train. Draws: as the other.
  public func chooseCandidates(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout Memory
  ) -> [Int]? {
    let places = rested(waiting, server)
    return inner.chooseCandidates(
      from: places.map { waiting[$0] }, server, &stream, with: &memory.inner
    )?.map { places[$0] }
  }

  /// The other's cohort.
  public func chooseCohort(
    of candidates: [Int], losses: [Double], _ server: ServerView, _ memory: inout Memory
  ) -> Cohort? {
    inner.chooseCohort(of: candidates, losses: losses, server, with: &memory.inner)
  }
}
