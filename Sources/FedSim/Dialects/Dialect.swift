import Learning
import Numerics

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
    case .launch, .expire, .kill, .dropLink, .throw, .submit, .forceQuit, .open, .reinstall,
      .reboot, .clearData, .clearErrorLogs, .corruptErrorLogs:
      return false
    }
    return true
  }
}
