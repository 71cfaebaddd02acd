import Learning
import Numerics

/// What server and devices remember of each other where `cycles`, `protocol`, `layoutChange` or a
/// scripted erasure ask for it; empty, and never looked at, where none does.
struct Exchange: Codable {
  /// The selector that lets devices into cycles, if it is one.
  @Rebuilt var admission: (any CycleAdmission)? = nil
  /// The last cycle that each device was let into; 0: none.
  var lastCycles: [Int32] = []
  /// What each device's library remembers.
  var clients: [ClientRegion] = []
  /// What each device's user had erased.
  var erasures: [ErasureRegion] = []
  /// Where the layer that changes lies, and from which version on.
  @Rebuilt var change: (version: Int32, ranges: [Range<Int>])? = nil
  /// What updates go through on their devices; nil: nothing.
  @Rebuilt var chain: TransformChain? = nil
  /// The last update of each device, where transforms keep something of it; else empty.
  var lastSent: [SentUpdate?] = []
  /// What happened, counted.
  var tallies = ExchangeTallies()
  /// What the server asks of devices beside trainings, and what they keep of their own.
  var instructions = Instructions()
  /// What local algorithms and adversaries keep.
  var locals = LocalStates()
  /// Whether any of it is asked for: what the rest of the engine looks at.
  var isOn = false
  /// Whether accepted devices have keys that are good for one cycle.
  var givesKeys = false
}

/// What a device's library remembers.
struct ClientRegion: Codable {
  /// When it last asked for work.
  var askedAt = SimTime.start
  /// Until then it does not ask again.
  var quietUntil = SimTime.start
  /// Whether it has been told to disconnect and does not come back.
  var isDisconnected = false
  /// Until then its server's address is wrong.
  var wrongURLUntil = SimTime.start
  /// How far it has come with enrolling.
  var enrolment = Enrolment.authenticate
  /// When the present probe of a speed test began.
  var probeSince = SimTime.start
  /// What its speed test found.
  var upload: BitRate?
  var download: BitRate?
  /// How long the evaluation under way takes.
  var evaluationPace: Pace?
  /// Whether the evaluation was of samples.
  var hasSamples = false
}

/// What a device's user had erased, and what the server knows of it.
struct ErasureRegion: Codable {
  /// When it was asked for.
  var askedAt = SimTime.never
  /// What.
  var scope = Erasure.files
  /// The last request that the device had begun by then.
  var requestsBefore: UInt32 = 0
  /// Whether the server has still to hear of it.
  var isOwed = false
  /// Updates made until then are gone at the server.
  var refusedUntil = SimTime(microseconds: -1)
}

/// What happened between devices and server beyond the usual, counted.
public struct ExchangeTallies: Sendable, Codable {
  /// Requests that were rejected with a timeout.
  public internal(set) var rejectedWithTimeout = 0
  /// Requests that were rejected without one.
  public internal(set) var rejectedForGood = 0
  /// Rejections that a device could not read.
  public internal(set) var undecodedTimeouts = 0
  /// Requests for a model with the key of a cycle that is over.
  public internal(set) var invalidKeys = 0
  /// Updates to a cycle that is over, which were told that they are welcome.
  public internal(set) var lateReports = 0
  /// Answers of no samples.
  public internal(set) var emptyUpdates = 0
  /// Streams that broke before the result was there.
  public internal(set) var brokenStreams = 0
  /// Devices that were told to disconnect and come back.
  public internal(set) var reconnects = 0
  /// Models that a device could not read whole.
  public internal(set) var layoutMismatches = 0
  /// Sessions that had no server to turn to.
  public internal(set) var unconnectedSessions = 0
  /// Erasures that came to the server.
  public internal(set) var erasures = 0
}

extension ExchangeTallies {
  /// The counts with their names and meanings, in the order of declaration.
  package var named: [(name: String, count: Int, text: String)] {
    [
      ("rejectedWithTimeout", rejectedWithTimeout, "requests rejected with a timeout"),
      ("rejectedForGood", rejectedForGood, "requests rejected without a timeout"),
      ("undecodedTimeouts", undecodedTimeouts, "rejections that a device could not read"),
      ("invalidKeys", invalidKeys, "requests for a model with the key of a cycle that is over"),
      ("lateReports", lateReports, "updates to a cycle that is over"),
      ("emptyUpdates", emptyUpdates, "answers of no samples"),
      ("brokenStreams", brokenStreams, "streams that broke before the result was there"),
      ("reconnects", reconnects, "devices told to disconnect and come back"),
      ("layoutMismatches", layoutMismatches, "models that a device could not read whole"),
      ("unconnectedSessions", unconnectedSessions, "sessions that had no server to turn to"),
      ("erasures", erasures, "erasures that came to the server"),
    ]
  }
}

extension Simulation {
  /// What happened between devices and server beyond the usual; nil where nothing asks for it.
  public var exchangeTallies: ExchangeTallies? { exchange.isOn ? exchange.tallies : nil }

  /// Makes what the settings ask for.
  mutating func makeExchange() {
    exchange.admission = inputs.server.selector.value.cycles
    exchange.givesKeys = exchange.admission != nil
    if exchange.givesKeys {
      exchange.lastCycles = Array(repeating: 0, count: devices.count)
    }
    let verbs = inputs.injections.map(\.action)
    makeInstructions()
    makeLocalStates()
    makeTransforms()
    if inputs.fleet.contains(where: { $0.protocol != nil }) || verbs.contains(.wrongURL)
      || exchange.instructions.isOn
    {
      exchange.clients = Array(repeating: ClientRegion(), count: devices.count)
    }
    if verbs.contains(.erase) {
      exchange.erasures = Array(repeating: ErasureRegion(), count: devices.count)
    }
    if let change = inputs.server.layoutChange {
      let ranges = inputs.task.network.layout.ranges(ofLayer: change.layer)
      precondition(!ranges.isEmpty, "the layer that changes is one of the model's")
      exchange.change = (Int32(change.version), ranges)
    }
    exchange.isOn =
      exchange.givesKeys || !exchange.clients.isEmpty || !exchange.erasures.isEmpty
      || exchange.change != nil
  }

  /// A session begins; why it has no server to turn to, if it has none.
  mutating func disconnection(_ device: Int) -> SessionEnd? {
    guard !exchange.clients.isEmpty else { return nil }
    exchange.clients[device].enrolment = .authenticate
    let end: SessionEnd
    if now < exchange.clients[device].wrongURLUntil {
      end = .wrongURL
    } else if exchange.clients[device].isDisconnected {
      end = .disconnected
    } else {
      return nil
    }
    exchange.tallies.unconnectedSessions += 1
    return end
  }

  /// What the process held in memory is gone: a new one connects.
  mutating func forgetProcess(_ device: Int) {
    guard !exchange.clients.isEmpty else { return }
    exchange.clients[device].isDisconnected = false
    exchange.clients[device].quietUntil = .start
  }

  /// The link has changed: an erasure goes out, a stream breaks.
  mutating func exchangeLinkChanged(_ device: Int, isConnected: Bool) {
    if isConnected {
      sendErasure(device)
    } else if holdsStream(device), isAwaited(device) {
      endStreamedSession(device, .streamBroken)
    }
  }

  /// Whether an update's weights and loss are finite; it is computed to know.
  mutating func isSound(_ device: Int, _ update: Int32) -> Bool {
    let group = Int(devices[device].group)
    guard inputs.fleet[group].protocol?.checksFinite == true, !inputs.omitsArithmetic,
      let training = updates[update].training
    else { return true }
    let value = computations.values(of: [training])[0]
    return value.lossSum.isFinite && value.parameters.isFinite
  }

  /// All that a running training holds becomes not a number.
  mutating func poison(_ device: Int) -> Bool {
    guard devices[device].isTraining else { return false }
    devices[device].attempt!.start = .parameters(
      ParameterBuffer(count: server.model.count) { target in
        for i in 0..<target.count { target[i] = .nan }
      })
    return true
  }

  /// A scripted event of this kind; false where it found nothing to act on.
  mutating func injectExchange(_ injection: InjectionSettings, _ device: Int) -> Bool {
    switch injection.action {
    case .erase: erase(device, injection.scope ?? .files)
    case .poison: return poison(device)
    case .reconnect: return tellReconnect(device, after: injection.lasting)
    case .wrongURL: exchange.clients[device].wrongURLUntil = now + injection.lasting
    default: return false
    }
    return true
  }

  /// What cannot be between server and devices.
  func exchangeImpossibilities() -> [String] {
    guard exchange.isOn else { return [] }
    var found: [String] = []
    if !exchange.erasures.isEmpty,
      server.pending.contains(where: {
        updates[$0].createdAt <= exchange.erasures[Int(updates[$0].device)].refusedUntil
      })
    {
      found.append("an update waits whose user had it erased")
    }
    if let evaluation = exchange.instructions.evaluation,
      evaluation.members
        != evaluation.pending.count + evaluation.results.count + evaluation.failures
    {
      found.append("a member of an evaluation is lost")
    }
    if let cycle = server.cycle, let settings = exchange.admission?.cycle {
      if settings.mode == .asDocumented, Int(cycle.workers) > settings.maximumWorkers ?? .max {
        found.append("a cycle has too many workers")
      }
      if server.pending.contains(where: { updates[$0].round != server.round }) {
        found.append("a report waits in a cycle that is not its own")
      }
    }
    return found
  }
}
