import Numerics
import Schema

/// Another selector, for which only devices are there that the server believes to be online, with
/// enough battery by what they last reported.
///
/// Source: EdgeML's server, which takes eligibility from heartbeats. What the server believes may
/// be wrong: a device that waits is passed over until a heartbeat of it has come.
public struct BelievedOnlineSelector: AdmittingSelector, CandidateSelector {
  public static let name = "believed-online"
  /// What it does, in one sentence.
  public static let summary =
    "Another selector, without devices that the server believes to be idle or offline"

  public struct Settings: PartSettings {
    /// The least level of a battery that the last heartbeat reported; nil: nobody looks at it.
    public var minimumBattery: Double?
    /// Who chooses among the others.
    public var of = Choice<AnySelector>(OpenSelector.self) { $0 }
    public init() {}
    public static var fields: [Field<Settings>] {
      [
        Field(
          "minimumBattery", \.minimumBattery, feature: .fraction,
          "Minimum battery level in the last heartbeat; absent: the level does not matter"),
        Field("of", \.of, .part(.clientSelector), "The selector for the remaining devices"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      if of.name == BelievedOnlineSelector.name {
        return [("of", "`believed-online` of itself has no effect: write one")]
      }
      if of.value.cycles != nil || of.value.given != nil {
        return [("of", "`\(of.name)` decides itself which devices may train")]
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

  /// As the other; and it looks at what is believed.
  public var needs: SelectorNeeds {
    inner.needs.union(settings.minimumBattery == nil ? .beliefs : .batteries)
  }

  /// As the other, of those who may be chosen.
  public var rules: CohortRules {
    var rules = inner.rules ?? CohortRules()
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

  /// Whether a device may be chosen; one that has reported no battery is not held back by it.
  private func mayTrain(_ device: Int, _ server: ServerView) -> Bool {
    let facts = server.facts(of: device)
    guard facts.believed == .online else { return false }
    guard let least = settings.minimumBattery, let level = facts.reportedBattery else {
      return true
    }
    return level >= least
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
  private func eligible(_ waiting: [CheckIn], _ server: ServerView) -> [Int] {
    waiting.indices.filter { mayTrain(waiting[$0].device, server) }
  }

  /// The other's cohort out of those who may train. Draws: as the other.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout Memory
  ) -> Cohort? {
    let places = eligible(waiting, server)
    if places.isEmpty { return nil }
    return inner.chooseCohort(
      from: places.map { waiting[$0] }, server, &stream, with: &memory.inner
    ).map { Cohort(members: $0.members.map { places[$0] }, goal: $0.goal) }
  }

  /// The other's candidates out of those who may train. Draws: as the other.
  public func chooseCandidates(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout Memory
  ) -> [Int]? {
    let places = eligible(waiting, server)
    if places.isEmpty { return nil }
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
