import Learning
import Numerics

/// A run: the fleet, the server and the queue of what is to come, played forward on a virtual
/// clock.
///
/// The loop is serial; only the arithmetic of trainings, aggregations and evaluations is spread
/// over the pool, and never changes what happens next.
public struct Simulation {
  /// The clock, the agenda, the audience and the books: what devices and server share.
  var cx: Context
  var devices: Devices
  var server: Server
  var stallCheck = StallCheck()
  /// Digest of all events handled so far.
  public internal(set) var eventDigest = EventDigest()
  /// Turns that were taken, each with what was played on in it.
  public internal(set) var turns = 0
  /// Whether it has been played already.
  var hasBegun = false

  /// A run at its start.
  public init(_ inputs: SimulationInputs) {
    self.init(bare: inputs)
    Setup.begin(&devices, &server, &cx)
  }

  /// All that follows from the inputs alone, before the first events are scheduled.
  init(bare inputs: SimulationInputs) {
    cx = Context(inputs)
    devices = Devices(inputs)
    server = Server(inputs)
    Setup.makeFleet(&devices, &server, &cx)
  }

  mutating func handle(_ entry: EventQueue.Entry) {
    cx.now = entry.time
    guard dispatch(entry.event) else {
      cx.books.tallies.cancelledEvents += 1
      return
    }
    if !cx.audience.announcements.isEmpty { deliver() }
    refresh(after: entry.event, actor: entry.actor)
    cx.books.tallies.events += 1
    eventDigest.add(entry)
    if cx.audience.wantsEveryEvent {
      for observer in cx.audience.observers { observer.handled(entry.event, at: cx.now, self) }
    }
  }

  /// Plays the next event of all, and what its device does next as far as that is its own affair.
  mutating func playNext() -> Bool {
    guard let entry = popNext() else { return false }
    precondition(entry.time >= cx.played, "virtual time never decreases")
    cx.played = entry.time
    if let rows = devices.rows { prefetchNext(rows) }
    handle(entry)
    if cx.ahead.isOn, !cx.isOver, entry.actor > 0 { playAhead(Int(entry.actor) - 1) }
    turns &+= 1
    if turns & 63 == 0 { tellAdvance() }
    return true
  }
}
