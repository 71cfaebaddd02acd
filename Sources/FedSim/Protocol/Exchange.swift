import Learning
import Numerics

/// What the settings ask for beyond the plain path, found out once: nothing of it changes.
struct Features {
  /// The selector that lets devices into cycles, if it is one.
  var admission: (any CycleAdmission)?
  /// Whether accepted devices have keys that are good for one cycle.
  var givesKeys = false
  /// Where the layer that changes lies, and from which version on.
  var change: (version: Int32, ranges: [Range<Int>])?
  /// What updates go through on their devices; nil: nothing.
  var chain: TransformChain?
  /// The parameters that are trained and never leave a device.
  var privateRanges: [Range<Int>] = []
  /// Plans by what the server sends, in the order of `clientConfig`.
  var plans: [TrainingPlan] = []
  /// Whether anything travels with models and updates.
  var hasCompanions = false
  /// Whether trainings depend on one another, or on more than the model.
  var isStateful = false
  /// Whether an attack looks at what trainings began with.
  var falsifies = false
  /// Whether the server asks for more than trainings: then its counts are part of the result.
  var hasInstructions = false
  /// Whether any of a protocol is asked for: cycles, streams, erasures, another layout.
  var isOn = false
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
  public var exchangeTallies: ExchangeTallies? { cx.features.isOn ? cx.books.exchange : nil }

  /// Makes what the settings ask for.
  mutating func makeExchange() {
    cx.features.admission = cx.inputs.server.selector.value as? any CycleAdmission
    cx.features.givesKeys = cx.features.admission != nil
    if cx.features.givesKeys {
      server.lastCycles = Array(repeating: 0, count: devices.count)
    }
    let verbs = cx.inputs.injections.map(\.action)
    makeInstructions()
    makeLocalStates()
    makeTransforms()
    if cx.inputs.fleet.contains(where: { $0.protocol != nil }) || verbs.contains(.wrongURL)
      || cx.features.hasInstructions
    {
      devices.clients = Array(repeating: ClientRegion(), count: devices.count)
    }
    if verbs.contains(.erase) {
      devices.erasures = Array(repeating: ErasureRegion(), count: devices.count)
    }
    if let change = cx.inputs.server.layoutChange {
      let ranges = cx.inputs.task.network.layout.ranges(ofLayer: change.layer)
      precondition(!ranges.isEmpty, "the layer that changes is one of the model's")
      cx.features.change = (Int32(change.version), ranges)
    }
    cx.features.isOn =
      cx.features.givesKeys || !devices.clients.isEmpty || !devices.erasures.isEmpty
      || cx.features.change != nil
  }

  /// What cannot be between server and devices.
  func exchangeImpossibilities() -> [String] {
    guard cx.features.isOn else { return [] }
    var found: [String] = []
    if !devices.erasures.isEmpty,
      server.pending.contains(where: {
        cx.updates[$0].createdAt <= devices.erasures[Int(cx.updates[$0].device)].refusedUntil
      })
    {
      found.append("an update waits whose user had it erased")
    }
    if let evaluation = server.instructions.evaluation,
      evaluation.members
        != evaluation.pending.count + evaluation.results.count + evaluation.failures
    {
      found.append("a member of an evaluation is lost")
    }
    if let cycle = server.cycle, let settings = cx.features.admission?.cycle {
      if settings.mode == .asDocumented, Int(cycle.workers) > settings.maximumWorkers ?? .max {
        found.append("a cycle has too many workers")
      }
      if server.pending.contains(where: { cx.updates[$0].round != server.round }) {
        found.append("a report waits in a cycle that is not its own")
      }
    }
    return found
  }
}

/// What a device's library does beyond the plain path.
enum Dialect {
  /// A session begins; why it has no server to turn to, if it has none.
  static func disconnection(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> SessionEnd?
  {
    guard !devices.clients.isEmpty else { return nil }
    devices.clients[device].enrolment = .authenticate
    let end: SessionEnd
    if cx.now < devices.clients[device].wrongURLUntil {
      end = .wrongURL
    } else if devices.clients[device].isDisconnected {
      end = .disconnected
    } else {
      return nil
    }
    cx.books.exchange.unconnectedSessions += 1
    return end
  }

  /// What the process held in memory is gone: a new one connects.
  static func forgetProcess(_ device: Int, _ devices: inout Devices) {
    guard !devices.clients.isEmpty else { return }
    devices.clients[device].isDisconnected = false
    devices.clients[device].quietUntil = .start
  }

  /// The link has changed: an erasure goes out, a stream breaks.
  static func exchangeLinkChanged(
    _ device: Int, isConnected: Bool, _ devices: inout Devices, _ cx: inout Context
  ) {
    if isConnected {
      Erasing.sendErasure(device, &devices, &cx)
    } else if Streams.holdsStream(device, devices, cx), Streams.isAwaited(device, devices, cx) {
      Streams.endStreamedSession(device, .streamBroken, &devices, &cx)
    }
  }

  /// Whether an update's weights and loss are finite; it is computed to know.
  static func isSound(_ device: Int, _ update: Int32, _ devices: inout Devices, _ cx: inout Context)
    -> Bool
  {
    let group = Int(devices[device].group)
    guard cx.inputs.fleet[group].protocol?.checksFinite == true, !cx.inputs.omitsArithmetic,
      let training = cx.updates[update].training
    else { return true }
    let value = cx.computations.values(of: [training])[0]
    return value.lossSum.isFinite && value.parameters.isFinite
  }

  /// All that a running training holds becomes not a number.
  static func poison(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> Bool {
    guard devices[device].isTraining else { return false }
    devices[device].attempt!.start = .parameters(
      ParameterBuffer(count: cx.inputs.task.initial.count) { target in
        for i in 0..<target.count { target[i] = .nan }
      })
    return true
  }

  /// A scripted event of this kind; false where it found nothing to act on.
  static func injectExchange(
    _ injection: InjectionSettings, _ device: Int, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    switch injection.action {
    case .erase: Erasing.erase(device, injection.scope ?? .files, &devices, &cx)
    case .poison: return poison(device, &devices, &cx)
    case .reconnect: return Streams.tellReconnect(device, after: injection.lasting, &devices, &cx)
    case .wrongURL: devices.clients[device].wrongURLUntil = cx.now + injection.lasting
    default: return false
    }
    return true
  }
}
