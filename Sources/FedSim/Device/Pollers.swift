import Numerics

/// The devices whose polls are foreseen: each asks again and again and is turned away, and none of
/// its events is in the queue.
///
/// What they do is played in the order of the list where somebody reads what it adds to, or where
/// the answer changes; sums do not depend on the order. Who reaches the server first once it may
/// let somebody in is found by phase, in the order of all events.
struct Pollers: Codable {
  /// Whether polls are foreseen in this run.
  private(set) var isOn = false
  /// In the order in which they came, but for the last, which takes the place of one that leaves.
  private var list: [Poller] = []
  /// When something happens next to each.
  private var due: [Int64] = []
  /// The place of each device in the list, −1: none. Empty where nothing is foreseen.
  private var places: [Int32] = []
  private var rhythms: [PollRhythm] = []
  private var phases: [PhaseList] = []

  /// Until when everybody is turned away; nil: somebody may be let in.
  private(set) var closedUntil: SimTime?
  /// Whether the selector has been asked or has heard something since that was found out.
  var isStale = true
  /// The next request that may be let in.
  private var next = Next.unknown
  /// The place that the run has reached.
  private(set) var reached = EventPlace.start
  /// The place up to which all polls were played.
  private var settled = EventPlace.start
  /// Events that were played so.
  private(set) var foreseen = 0
  /// The digest of what was played and is not yet in the run's.
  private var digest = EventDigest()

  /// The arrival of a request at the server.
  private struct Arrival: Codable {
    let time: Int64
    let device: Int
  }

  /// What is known of the next request that may be let in; nil: there is none.
  private enum Next: Codable {
    case unknown
    case found(Arrival?)
  }

  /// Links of more kinds are not foreseen: each has its own list of phases.
  private static let mostRhythms = 64

  /// Whether no device polls.
  var isEmpty: Bool { list.isEmpty }

  /// Whether a device polls.
  @inline(__always)
  func has(_ device: Int) -> Bool { isOn && places[device] >= 0 }

  /// From now on polls of this many devices are foreseen.
  mutating func turnOn(devices count: Int) {
    precondition(count < PhaseList.Key.deviceLimit, "phases number the devices")
    isOn = true
    places = Array(repeating: -1, count: count)
  }

  /// No device polls, and none will.
  mutating func turnOff() {
    precondition(list.isEmpty, "all were woken")
    isOn = false
  }

  // MARK: Who polls

  /// The number of a rhythm; nil: there are too many.
  mutating func number(of rhythm: PollRhythm) -> Int32? {
    if let place = rhythms.firstIndex(of: rhythm) { return Int32(place) }
    guard rhythms.count < Self.mostRhythms else { return nil }
    rhythms.append(rhythm)
    phases.append(PhaseList())
    return Int32(rhythms.count - 1)
  }

  func rhythm(of poller: Poller) -> PollRhythm { rhythms[Int(poller.rhythm)] }

  mutating func insert(_ poller: Poller) {
    let device = Int(poller.device)
    precondition(places[device] < 0, "a device polls once")
    places[device] = Int32(list.count)
    list.append(poller)
    due.append(poller.due)
    phases[Int(poller.rhythm)].insert(key(of: poller))
    next = .unknown
  }

  /// Takes out a device, whose polls were played up to a place.
  mutating func remove(_ device: Int) -> Poller {
    let place = Int(places[device])
    let poller = list[place]
    phases[Int(poller.rhythm)].remove(key(of: poller))
    places[device] = -1
    let (last, lastDue) = (list.removeLast(), due.removeLast())
    if place < list.count {
      (list[place], due[place]) = (last, lastDue)
      places[Int(last.device)] = Int32(place)
    }
    if case .found(let arrival?) = next, arrival.device == device { next = .unknown }
    return poller
  }

  private func key(of poller: Poller) -> PhaseList.Key {
    PhaseList.Key(phase: poller.phase(rhythm(of: poller)), device: Int(poller.device))
  }

  /// The device that polls and is the last in the list.
  var last: Int? { list.last.map { Int($0.device) } }

  // MARK: What they do

  /// Plays what a device does before a place.
  mutating func play(
    _ device: Int, before limit: EventPlace, until end: SimTime, latest: Int32, round: Int32
  ) -> PollSums {
    var sums = PollSums()
    play(Int(places[device]), before: limit, until: end, latest, round, &sums) { _, _, _ in }
    foreseen += sums.events
    return sums
  }

  /// Plays what all do before the place that the run has reached; `book` receives the bytes of
  /// each.
  mutating func playAll(
    until end: SimTime, latest: Int32, round: Int32,
    _ book: (_ device: Int, _ up: Int64, _ down: Int64) -> Void
  ) -> PollSums {
    var sums = PollSums()
    guard settled < reached else { return sums }
    settled = reached
    for place in list.indices where due[place] <= reached.time {
      play(place, before: reached, until: end, latest, round, &sums, book)
    }
    foreseen += sums.events
    return sums
  }

  @inline(__always)
  private mutating func play(
    _ place: Int, before limit: EventPlace, until end: SimTime, _ latest: Int32, _ round: Int32,
    _ sums: inout PollSums, _ book: (_ device: Int, _ up: Int64, _ down: Int64) -> Void
  ) {
    let before = (sums.up, sums.down)
    let rhythm = rhythms[Int(list[place].rhythm)]
    list[place].play(
      before: limit, rhythm, until: end.microseconds, latest: latest, round: round, &digest, &sums)
    due[place] = list[place].due
    book(Int(list[place].device), sums.up - before.0, sums.down - before.1)
  }

  /// The digest of what was played since it was taken last.
  mutating func takeDigest() -> EventDigest {
    defer { digest = EventDigest() }
    return digest
  }

  // MARK: Who may be let in

  /// The run has reached an event.
  mutating func reach(_ entry: borrowing EventQueue.Entry) {
    reached = max(reached, EventPlace(entry))
  }

  /// Until when the selector turns everybody away, as it says now.
  mutating func set(closedUntil time: SimTime?) {
    isStale = false
    guard time != closedUntil else { return }
    closedUntil = time
    next = .unknown
  }

  /// The device whose request is the next that may be let in, and its arrival, if that comes before
  /// an event.
  mutating func next(before entry: borrowing EventQueue.Entry, until end: SimTime) -> (
    device: Int, place: EventPlace
  )? {
    guard !list.isEmpty else { return nil }
    if case .unknown = next { next = .found(findNext(until: end)) }
    guard case .found(let found?) = next else { return nil }
    let place = EventPlace(found.time, .serverArrival, actor: Int32(found.device + 1), 0)
    return place < EventPlace(entry) ? (found.device, place) : nil
  }

  private func findNext(until end: SimTime) -> Arrival? {
    var from = reached
    if let closedUntil {
      from = max(from, EventPlace(closedUntil.microseconds, .world, actor: 0, 0))
    }
    let device = from.firstDevice(of: .serverArrival)
    let time = device == nil ? from.time + 1 : from.time
    var found: Arrival?
    for (rhythm, list) in zip(rhythms, phases) {
      guard let first = list.first else { continue }
      let phase = time % rhythm.period
      let key =
        list.first(from: PhaseList.Key(phase: phase, device: device ?? 0)) ?? first
      let comes = PhaseList.Key(phase: phase, device: device ?? 0)
      let lap = key < comes ? rhythm.period : 0
      let arrival = Arrival(time: time - phase + key.phase + lap, device: key.device)
      if let best = found, (best.time, best.device) < (arrival.time, arrival.device) { continue }
      found = arrival
    }
    return found.flatMap { $0.time <= end.microseconds ? $0 : nil }
  }
}
