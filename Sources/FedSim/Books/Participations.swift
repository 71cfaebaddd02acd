/// The sessions that took part, and how far each came in the funnel: by round, by hour, by group.
public struct Participations: Codable {
  private var records = SlotMap<Participation>()
  /// Participations by round; index 0 is unused.
  public private(set) var rounds = PagedArray([Funnel(), Funnel()])
  /// Participations by the hour in which their session began.
  public private(set) var hours = PagedArray<Funnel>()
  /// The same by the group of their devices; empty unless that is recorded.
  public private(set) var groups: [PagedArray<Funnel>]
  /// Those that nobody can move on any more, by the stage that they reached.
  private(set) var settled = [Int](repeating: 0, count: Stage.allCases.count)
  /// The same by the reason, too; of those that are aggregated there is none.
  private var settledLosses = FunnelLosses()

  /// None yet; `groups`: how many groups are counted by themselves.
  init(groups: Int) { self.groups = (0..<groups).map { _ in PagedArray<Funnel>() } }

  /// How many are kept.
  var living: Int { records.living }
  /// The numbers of those that are kept, ascending.
  var numbers: [Int32] { records.numbers }

  /// A participation that is kept, read where it is.
  subscript(participation: Int32) -> Participation {
    @inline(__always) unsafeAddress { records.address(participation) }
  }

  /// A session of a group's device begins to take part in the open round; its number.
  mutating func begin(group: Int32, at now: SimTime) -> Int32 {
    let round = Int32(rounds.count - 1)
    let hour = Int(now.microseconds / 3_600_000_000)
    while hours.count <= hour { hours.append(Funnel()) }
    records.append(
      Participation(
        round: round, hour: Int32(hour), group: group, stage: Stage.eligible.rawValue))
    hours[hour][.eligible] += 1
    countByGroup(Int(group), hour, Int(Stage.eligible.rawValue))
    rounds[Int(round)][.eligible] += 1
    return Int32(records.count - 1)
  }

  /// Whether a participation has reached a stage.
  func has(_ participation: Int32, reached stage: Stage) -> Bool {
    records[participation].stage >= stage.rawValue
  }

  /// Whether the server waits for its device's answer to something else than a training.
  func isOutstanding(_ participation: Int32) -> Bool {
    participation >= 0 && records[participation].isOutstanding
  }

  /// The server waits for such an answer from now on, or no longer.
  mutating func setOutstanding(_ participation: Int32, _ isOutstanding: Bool) {
    records[participation].isOutstanding = isOutstanding
  }

  /// A round is opened.
  mutating func openRound() { rounds.append(Funnel()) }

  /// Counts a participation for its device's group, where that is recorded.
  private mutating func countByGroup(_ group: Int, _ hour: Int, _ stage: Int) {
    guard !groups.isEmpty else { return }
    while groups[group].count <= hour { groups[group].append(Funnel()) }
    groups[group][hour][stage] += 1
  }

  /// One more may move a participation on; −1: nobody's.
  mutating func hold(_ participation: Int32) {
    if participation >= 0 { records[participation].holders += 1 }
  }

  /// One fewer may; the last one's going settles it.
  mutating func letGo(_ participation: Int32) {
    guard participation >= 0 else { return }
    records[participation].holders -= 1
    guard records[participation].holders == 0 else { return }
    settled[Int(records[participation].stage)] += 1
    settledLosses.count(records[participation].stage, records[participation].loss)
    records.remove(participation)
  }

  /// The session of a participation that has made no update says why it comes no further, for now.
  mutating func stop(_ participation: Int32, _ loss: FunnelLoss) {
    guard participation >= 0, records[participation].stage < Stage.trained.rawValue else { return }
    records[participation].loss = loss
  }

  /// The same, unless something has stopped it before.
  mutating func stopUnlessStopped(_ participation: Int32, _ loss: FunnelLoss) {
    guard participation >= 0, records[participation].loss == .none else { return }
    stop(participation, loss)
  }

  /// It continues: what stopped it before does not count.
  mutating func resume(_ participation: Int32) { stop(participation, .none) }

  /// Its update ended.
  mutating func endUpdate(_ participation: Int32, _ outcome: UpdateOutcome) {
    if participation >= 0 { records[participation].loss = .update(outcome) }
  }

  /// Why participations came no further, of those too that somebody may still move on.
  ///
  /// Complexity: O(those that are kept).
  public var losses: FunnelLosses {
    var losses = settledLosses
    for number in records.numbers {
      losses.count(records[number].stage, records[number].loss)
    }
    return losses
  }

  /// A participation reaches a stage, and with it every stage before.
  mutating func reach(_ participation: Int32, _ stage: Stage) {
    guard participation >= 0 else { return }
    while records[participation].stage < stage.rawValue {
      records[participation].stage += 1
      let reached = Int(records[participation].stage)
      let hour = Int(records[participation].hour)
      hours[hour][reached] += 1
      countByGroup(Int(records[participation].group), hour, reached)
      rounds[Int(records[participation].round)][reached] += 1
    }
  }

  /// A participation is accepted into a round: in that round too it was eligible and checked in.
  mutating func accept(_ participation: Int32, into round: Int32) {
    guard participation >= 0 else { return }
    reach(participation, .checkedIn)
    if records[participation].stage < Stage.accepted.rawValue,
      records[participation].round != round
    {
      records[participation].round = round
      rounds[Int(round)][.eligible] += 1
      rounds[Int(round)][.checkedIn] += 1
    }
    reach(participation, .accepted)
  }

  /// Recounts those that are kept by stage, and who holds them; each line is a broken sum.
  func audit(_ broken: inout [String]) {
    let living = records.numbers.map { records[$0] }
    for stage in Stage.allCases {
      let counted = hours.reduce(0) { $0 + $1[stage] }
      let found =
        settled[Int(stage.rawValue)...].reduce(0, +)
        + living.count { $0.stage >= stage.rawValue }
      if counted != found { broken.append("hourly \(stage): counted \(counted), found \(found)") }
    }
    let losses = losses
    for (stage, next) in zip(Stage.allCases, Stage.allCases.dropFirst()) {
      let lost = hours.reduce(0) { $0 + $1[stage] - $1[next] }
      let found = losses.total(stage)
      if lost != found { broken.append("lost after \(stage): counted \(lost), found \(found)") }
    }
    if living.contains(where: { $0.holders < 1 }) { broken.append("nobody holds a participation") }
    for funnel in Array(rounds) + hours {
      for (wider, narrower) in zip(funnel.counts, funnel.counts.dropFirst()) where narrower > wider
      {
        broken.append("a funnel widens: \(funnel.counts)")
      }
    }
  }
}

/// One session's way through the funnel.
struct Participation: Codable {
  var round: Int32
  let hour: Int32
  let group: Int32
  var stage: UInt8
  /// Why it comes no further, as far as is known.
  var loss = FunnelLoss.none
  /// Who may still move it on: its session, its update, requests under way and requests that wait.
  var holders: Int32 = 1
  /// Whether the server waits for its device's answer to something else than a training.
  var isOutstanding = false
}
