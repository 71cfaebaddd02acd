import Numerics

/// How long each step of a poll takes, and how much passes: the same for all devices of a group
/// whose links do not differ.
struct PollRhythm: Codable, Equatable {
  /// Units: microseconds.
  let sending: Int64
  let oneWay: Int64
  let receiving: Int64
  let pause: Int64
  /// How long a request waits for its answer.
  let timeout: Int64
  /// The state of the link.
  let link: UInt8
  let bytesUp: Int64
  let bytesDown: Int64

  /// From one request to the next.
  var period: Int64 { sending + 2 * oneWay + receiving + pause }
  /// From the end of a pause to the arrival at the server.
  var untilArrival: Int64 { sending + oneWay }

  /// Whether each step takes time, and the answer comes before the request has waited too long.
  var isRegular: Bool {
    sending > 0 && receiving > 0 && pause > 0 && timeout > 2 * oneWay
      && period < PhaseList.Key.phaseLimit
  }
}

/// What polls have added to the books.
struct PollSums {
  var events = 0
  /// Timers of requests that rang in vain.
  var rings = 0
  var opened = 0
  var closed = 0
  var up: Int64 = 0
  var down: Int64 = 0
  /// Of the requests that are answered in full.
  var carried = CarriedBytes()
}

/// A device that asks again and again and is turned away: the step of its poll that comes next.
struct Poller: Codable {
  /// What comes next.
  enum Step: UInt8, Codable {
    /// The pause ends; the last byte leaves; the request arrives; the answer comes; its last byte
    /// comes.
    case pauseEnd, sent, arrival, answer, received

    @inline(__always) var eventClass: EventClass {
      switch self {
      case .pauseEnd: .deviceTimer
      case .sent, .received: .transferEnd
      case .arrival: .serverArrival
      case .answer: .deviceResponse
      }
    }
  }

  let device: Int32
  let rhythm: Int32
  var step = Step.pauseEnd
  /// When it comes, in microseconds, and its number among the device's events.
  var time: Int64
  var sequence: UInt32
  /// The number of the device's next event.
  var next: UInt32
  /// When the timer of requests rings and its number; `max`: it is not set, or rings after the end.
  var timer: Int64
  var timerSequence: UInt32
  var isTimed: Bool
  /// The number of the device's last request, or of its last plan.
  var generation: UInt32
  let heldVersion: Int32
  /// What the last answer said.
  var latest: Int32 = -1
  var round: Int32 = 0

  var actor: Int32 { @inline(__always) get { device + 1 } }
  /// When something happens next.
  var due: Int64 { @inline(__always) get { min(time, timer) } }

  /// When it arrives next at the server, or the period in which it does: its phase.
  func phase(_ rhythm: PollRhythm) -> Int64 {
    let arrival =
      switch step {
      case .pauseEnd: time + rhythm.untilArrival
      case .sent: time + rhythm.oneWay
      case .arrival: time
      case .answer: time - rhythm.oneWay
      case .received: time - rhythm.receiving - rhythm.oneWay
      }
    return arrival % rhythm.period
  }

  /// Plays what comes before a place; what it asks is answered by a server in this state.
  ///
  /// Order: the events of the device, each as if it had been scheduled: with its number, if it is
  /// not after the end of the run.
  @inline(__always)
  mutating func play(
    before limit: EventPlace, _ rhythm: PollRhythm, until end: Int64,
    latest version: Int32, round number: Int32, _ digest: inout EventDigest,
    _ sums: inout PollSums
  ) {
    while true {
      if timer <= time, timer < time || step == .pauseEnd && timerSequence < sequence {
        guard EventPlace(timer, .deviceTimer, actor: actor, timerSequence) < limit else { return }
        ring(rhythm, until: end)
        sums.rings += 1
        continue
      }
      guard EventPlace(time, step.eventClass, actor: actor, sequence) < limit else { return }
      digest.add(time, step.eventClass, actor: actor, sequence) { combine(into: &$0) }
      sums.events += 1
      switch step {
      case .pauseEnd:
        sums.opened += 1
        generation &+= 2
        turn(to: .sent, after: rhythm.sending, until: end)
      case .sent:
        sums.up += rhythm.bytesUp
        let due = time + rhythm.timeout
        turn(to: .arrival, after: rhythm.oneWay, until: end)
        if !isTimed { watch(until: due, end) }
      case .arrival:
        (latest, round) = (version, number)
        turn(to: .answer, after: rhythm.oneWay, until: end)
      case .answer:
        generation &+= 1
        turn(to: .received, after: rhythm.receiving, until: end)
      case .received:
        sums.down += rhythm.bytesDown
        sums.closed += 1
        sums.carried.add(link: rhythm.link, up: rhythm.bytesUp, down: rhythm.bytesDown)
        turn(to: .pauseEnd, after: rhythm.pause, until: end)
      }
    }
  }

  /// The words of the next step's event, for the digest.
  @inline(__always)
  private func combine(into print: inout Fingerprint) {
    switch step {
    case .pauseEnd:
      print.combine(pack(.deviceTimer, device, UInt64(DeviceTimer.sessionPause.rawValue)))
    case .sent, .received: print.combine(pack(.transferEnd, device))
    case .arrival:
      print.combine(pack(.check, device, 1))
      print.combine(UInt64(UInt32(bitPattern: heldVersion)))
    case .answer:
      print.combine(pack(.checkAnswer, device, UInt64(CheckAnswer.rejected.rawValue) << 1 | 1))
      print.combine(UInt64(UInt32(bitPattern: latest)) << 32 | UInt64(UInt32(bitPattern: round)))
    }
  }

  @inline(__always)
  private mutating func turn(to step: Step, after wait: Int64, until end: Int64) {
    self.step = step
    time += wait
    sequence = next
    if time <= end { next &+= 1 }
  }

  /// Sets the timer of requests.
  private mutating func watch(until due: Int64, _ end: Int64) {
    isTimed = true
    timer = .max
    guard due <= end else { return }
    timer = due
    timerSequence = next
    next &+= 1
  }

  /// The timer of requests rings: one that waits for its answer is watched on.
  private mutating func ring(_ rhythm: PollRhythm, until end: Int64) {
    switch step {
    case .arrival: watch(until: time - rhythm.oneWay + rhythm.timeout, end)
    case .answer: watch(until: time - 2 * rhythm.oneWay + rhythm.timeout, end)
    case .pauseEnd, .sent, .received: (timer, isTimed) = (.max, false)
    }
  }
}
