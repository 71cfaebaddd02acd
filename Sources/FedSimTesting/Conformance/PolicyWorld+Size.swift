import FedSim
import Schema

extension PolicyWorld {
  /// How large, how long and how fast a world has to be for rounds of a policy to end.
  struct Size {
    /// Devices that are never cut off; a quarter more are, now and then.
    private(set) var steady = 12
    /// How long a run lasts.
    private(set) var length = SimDuration.hours(12)
    /// How long a batch takes.
    private(set) var perBatch = SimDuration.seconds(20)
    /// Whether devices hold a stream, so that the server hears of each that is lost.
    private(set) var streams = false

    /// What is played at most: more takes minutes.
    private static let mostDevices = 1000
    private static let longest = SimDuration.days(10)
    /// Batches of the longest training, twice over, for half of the devices are slow.
    private static let batches: Int64 = 16

    var cut: Int { max(4, steady / 4) }
    var devices: Int { steady + cut }
    var hours: Int { Int(length.microseconds / SimDuration.hours(1).microseconds) }
    /// More events than a policy in this world can have.
    var mostEvents: Int {
      300_000 * max(1, devices / 16) * max(1, hours / 12)
    }

    /// What a policy needs, by what its parts say of themselves.
    init(_ server: ServerSettings) {
      let selector = server.selector.value
      var needed = [
        selector.rules?.neededDevices, server.evaluation?.minimumAvailable,
        selector.given?.cohorts.joined().max().map { $0 + 1 },
        // The first trigger that fires ends a round.
        server.trigger.map { $0.value.neededUpdates ?? 0 }.min(),
      ]
      if let cycle = selector.cycles?.cycle {
        needed += [cycle.minimumWorkers, cycle.minimumDiffs]
        // Nothing but its reports end a cycle without a length.
        if cycle.length == nil { needed.append(cycle.maximumDiffs) }
        cover(cycle.length)
      }
      steady = max(steady, needed.compactMap(\.self).max() ?? 0)
      var periods: [SimDuration?] = []
      for trigger in server.trigger {
        switch trigger.value.timer {
        case .every(let span), .sinceRound(let span): periods.append(span)
        case .afterCohort(let span):
          periods.append(span)
          perBatch = min(perBatch, SimDuration(microseconds: span.microseconds / Self.batches + 1))
        case .cycleEnd, nil: periods.append(nil)
        }
      }
      // A trigger without a time can end a round before the others.
      if !periods.contains(nil) { cover(periods.compactMap(\.self).min()) }
      streams =
        server.initialModel == .client
        || server.evaluation.map { $0.timeout == nil } ?? false
    }

    /// Lets something that takes this long happen several times.
    private mutating func cover(_ span: SimDuration?) {
      guard let span = span.map({ min($0, .days(10_000)) }), length < span * 3 else { return }
      length = .hours((span * 3).microseconds / SimDuration.hours(1).microseconds + 1)
    }

    /// Why nothing is played; nil: it is.
    var objection: String? {
      let advice = "; make it smaller (`--set`), or leave `progress` out (`--skip progress`)"
      if devices > Self.mostDevices {
        return "not played: it needs \(steady) devices, and the world has \(Self.mostDevices) at"
          + " most" + advice
      }
      if length > Self.longest {
        return "not played: three of its times take \(length), and the world lasts"
          + " \(Self.longest) at most" + advice
      }
      return nil
    }
  }

  /// A policy without what only the scenario's task and world have.
  static func played(_ server: ServerSettings) -> ServerSettings {
    var played = server
    let fresh = ServerSettings()
    played.central = nil
    played.layoutChange = nil
    (played.reachable, played.internet) = (fresh.reachable, fresh.internet)
    if let given = server.selector.value.given, given.file != nil, given.cohorts.isEmpty {
      // The same three of twelve devices again and again, in place of those of the file.
      let cohorts = (0..<40).map { round in (0..<3).map { (round + 4 * $0) % 12 } }
      played.selector = server.selector.with(given.selector(cohorts))
    }
    return played
  }

  /// The keys of what `played` leaves out.
  static func unplayed(_ server: ServerSettings) -> [String] {
    let fresh = ServerSettings()
    var keys: [String] = []
    if server.central != nil { keys.append("central") }
    if server.layoutChange != nil { keys.append("layoutChange") }
    if !server.reachable.resolved.hasSameContent(as: fresh.reachable.resolved) {
      keys.append("reachable")
    }
    if !server.internet.resolved.hasSameContent(as: fresh.internet.resolved) {
      keys.append("internet")
    }
    if server.selector.value.given?.file != nil { keys.append("selector.scripted.file") }
    return keys
  }
}
