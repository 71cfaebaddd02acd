/// Looks after every event whether what must always hold does hold.
///
/// After an event the device that it concerns is looked at, so the cost does not grow with the
/// fleet; once in every `interval` of virtual time, and at the end, everything is recounted.
public final class Invariants: SavedObserver {
  /// What was found broken, with its time; of many the first ones.
  public private(set) var broken: [String] = []
  /// How often a device was looked at.
  public private(set) var looks = 0
  /// How often everything was recounted.
  public private(set) var audits = 0
  private let interval: SimDuration
  private let most: Int
  private var latest = SimTime.start
  private var nextAudit = SimTime.start

  /// An observer that recounts everything once in every `interval`, and keeps this many findings.
  public init(interval: SimDuration = .hours(6), keeping most: Int = 20) {
    self.interval = interval
    self.most = most
  }

  /// What was found so far.
  public struct Memory: Codable {
    let broken: [String]
    let looks: Int
    let audits: Int
    let latest: SimTime
    let nextAudit: SimTime
  }

  /// What was found so far.
  public var memory: Memory {
    get {
      Memory(broken: broken, looks: looks, audits: audits, latest: latest, nextAudit: nextAudit)
    }
    set {
      (broken, looks, audits) = (newValue.broken, newValue.looks, newValue.audits)
      (latest, nextAudit) = (newValue.latest, newValue.nextAudit)
    }
  }

  /// Every event is wanted.
  public var wantsEveryEvent: Bool { true }

  /// Looks at the event's device.
  public func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    if time < latest { note("time went back to \(time)", at: latest) }
    latest = time
    let scripted = Invariants.scriptedDevice(of: event, simulation.cx)
    if let device = event.device ?? scripted {
      looks += 1
      let found = Audit.impossibilities(
        of: device, simulation.devices, simulation.server, simulation.cx)
      for finding in found { note(finding, at: time) }
    }
    guard time >= nextAudit else { return }
    nextAudit = time + interval
    recount(simulation, at: time)
  }

  /// Recounts everything a last time: nothing may be open.
  public func ended(_ simulation: borrowing Simulation) {
    recount(simulation, at: latest)
    let ledgers = simulation.cx.books.ledgers
    let open = ledgers.attempts.stillOpen + ledgers.updates.stillOpen
    if open + ledgers.transmissions.stillOpen != 0 { note("a ledger is open", at: latest) }
  }

  private func recount(_ simulation: borrowing Simulation, at time: SimTime) {
    audits += 1
    for finding in simulation.audit() { note(finding, at: time) }
  }

  private func note(_ finding: String, at time: SimTime) {
    if broken.count < most { broken.append("\(time): \(finding)") }
  }
}
