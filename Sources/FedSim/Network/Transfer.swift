import Learning
import Numerics

/// A device has sent a message over its stream, and waits there for the server's next instruction.
struct StreamWait: Codable {
  /// The participation in which it is asked next.
  let participation: Int32
  /// The version that it holds; −1: none.
  let heldVersion: Int32
}

/// A request under way.
struct Transfer: Codable {
  enum Purpose: Equatable, Codable {
    case check, download, upload(Int32), identity(IdentityRequest), enrolment, reply
    case central(CentralRequest)
  }
  enum Phase: UInt8, Codable { case sending, awaiting, receiving }

  var purpose: Purpose
  let request: Request
  /// Names the request in arrivals and responses.
  let id: UInt32
  /// Names the present plan of when its bytes are through.
  var plan: UInt32
  var phase = Phase.sending
  /// Whether the server holds the connection open until a cohort is formed: no timeout applies.
  var isHeld = false
  /// Whether the server has it and has not handled it yet.
  var isQueued = false
  /// Whether the server has handled it and answers when its aggregation is over.
  var isOwed = false
  /// The wait on a stream that follows its last byte; nil: an answer follows.
  var wait: StreamWait?
  /// Whether a model comes with the answer, over a stream.
  var carriesModel = false
  var remaining: Int64
  /// What has passed of it, by link.
  var carried = CarriedBytes()
  /// What the device's radio had drawn as it began, in nanojoules.
  var energyMark: Int64 = 0
  /// What has passed of the byte under way, in millionths of a bit.
  var fraction: Int64 = 0
  var since: SimTime
  /// When it fails for lack of an answer.
  var due = SimTime.never
  var response: Response?
  /// The parameters that come with the answer.
  var body: ParameterBuffer?

  /// The remaining bytes are planned again; how long they take, nil where nothing moves.
  mutating func begin(_ plan: UInt32, over rates: Link, at now: SimTime) -> SimDuration? {
    self.plan = plan
    since = now
    let rate = phase == .sending ? rates.up : rates.down
    return rate.bitsPerSecond > 0 ? rate.duration(bytes: remaining, less: fraction) : nil
  }

  /// Bytes pass since the last plan; how many.
  mutating func pass(over rates: Link, until now: SimTime) -> Int64 {
    let rate = phase == .sending ? rates.up : rates.down
    let (bytes, rest) = rate.bytes(in: now - since, after: fraction)
    let passed = min(remaining, bytes)
    remaining -= passed
    fraction = rest
    return passed
  }

  /// The last byte leaves the device: what is on its way, and how many bytes were left to send.
  mutating func leave(due: SimTime) -> (id: UInt32, request: Request, sent: Int64) {
    let sent = remaining
    remaining = 0
    phase = .awaiting
    self.due = due
    return (id, request, sent)
  }

  /// The head of an answer has come.
  mutating func receive(_ response: Response, _ bytes: Int64) {
    phase = .receiving
    fraction = 0
    self.response = response
    remaining = bytes
  }
}
