import Learning
import Numerics

/// What a device's library remembers.
struct ClientRegion: Codable {
  /// When it last asked for work.
  var askedAt = SimTime.start
  /// Until then it does not ask again.
  var quietUntil = SimTime.start
  /// Whether it was rejected until then; otherwise it was asked to reconnect then.
  var isRejected = false
  /// Whether the server has asked it to disconnect and it does not come back.
  var isDisconnected = false
  /// Until then its server's address is wrong.
  var wrongURLUntil = SimTime.start
  /// How far it has come with enrolling.
  var enrolment = Enrolment.authenticate
  /// When the present probe of a speed test began.
  var probeSince = SimTime.start
  /// How long the evaluation under way takes.
  var evaluationPace: Pace?
  /// Whether the evaluation was of samples.
  var hasSamples = false
  /// The model that came with an instruction, until it is read at the same moment.
  var carried: CarriedModel?
}

/// A model that came with an instruction.
struct CarriedModel: Codable {
  let version: Int32
  let parameters: ParameterBuffer
}

/// What is known of PyGrid, Flower, SwiftSyft and erasure: each question goes to the rooms that it
/// may concern.
struct KnownDialect: Dialect {
  func beforeSession(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> SessionEnd? {
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

  func beforeCheck(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> BeforeCheck {
    if Cycles.awaitTurn(device, &devices, &cx) == .begun { return .begun }
    return Workers.enrol(device, &devices, &cx)
  }

  func onAnswer(
    _ device: Int, _ answer: Response, _ devices: inout Devices, _ cx: inout Context
  ) {
    switch answer {
    case .check(_, _, let instruction, let round):
      Instructions.instructed(device, instruction, round: round, &devices, &cx)
    case .enrolled(let needsSpeedTest):
      Workers.enrolled(device, needsSpeedTest: needsSpeedTest, &devices, &cx)
    case .probed: Workers.probed(device, &devices, &cx)
    case .noted: Instructions.replyNoted(device, &devices, &cx)
    case .rejected(let retry): Cycles.rejected(device, retry, &devices, &cx)
    case .keyInvalid: Cycles.keyExpired(device, &devices, &cx)
    case .failed: Cycles.requestFailed(device, &devices, &cx)
    case .model, .modelUnavailable, .receipt, .granted, .refused, .plan, .central:
      preconditionFailure("the plain path knows this answer")
    }
  }

  func onModel(
    _ device: Int, _ model: (version: Int32, parameters: ParameterBuffer)?,
    _ devices: inout Devices, _ cx: inout Context
  ) -> ModelReading {
    if let model {
      guard LayoutDialect.take(device, model.version, model.parameters, &devices, &cx) == .read
      else {
        Instructions.goOn(device, without: .undecodable, &devices, &cx)
        return .unread
      }
      return Workers.wantsPlan(device, devices, cx) ? .readWithoutPlan : .read
    }
    guard
      devices[device].session?.isEvaluating == true || OwnModel.overwritesModel(device, cx)
    else { return .read }
    Instructions.goOn(device, without: .nothingNew, &devices, &cx)
    return .unread
  }

  func onStep(
    _ device: Int, _ step: DialectStep, _ devices: inout Devices, _ cx: inout Context
  ) {
    switch step {
    case .evaluate: EvaluationRound.beginEvaluation(device, &devices, &cx)
    case .evaluated: EvaluationRound.endEvaluation(device, hasSamples: true, &devices, &cx)
    case .reply: Instructions.sendReply(device, &devices, &cx)
    }
  }

  /// An update is sound if its weights and loss are finite; it is computed to know.
  func onUpdateMade(
    _ device: Int, _ update: Int32, _ devices: inout Devices, _ cx: inout Context
  ) -> UpdateCheck {
    let group = Int(devices[device].group)
    guard cx.inputs.fleet[group].protocol?.checksFinite == true, !cx.inputs.omitsArithmetic,
      let training = cx.updates[update].training
    else { return .sound }
    let value = cx.computations.values(of: [training])[0]
    return value.lossSum.isFinite && value.parameters.isFinite ? .sound : .unsound
  }

  /// An erasure goes out, or a stream breaks.
  func onLink(
    _ device: Int, isConnected: Bool, _ devices: inout Devices, _ cx: inout Context
  ) {
    if isConnected {
      Erasing.sendErasure(device, &cx)
    } else if Streams.isOpen(device, devices, cx) {
      Streams.endStreamedSession(device, .streamBroken, &devices, &cx)
    }
  }

  func onParticipationEnd(
    _ device: Int, _ participation: Int32, _ devices: inout Devices, _ cx: inout Context
  ) { Streams.leaveStream(device, participation, &devices, &cx) }
}

extension KnownDialect: ServerDialect {
  func onRequest(
    _ device: Int, _ generation: UInt32, _ server: inout Server,
    _ cx: inout Context
  ) { Erasing.hearErasure(device, generation, &server, &cx) }

  func handle(
    _ device: Int, _ generation: UInt32, _ request: Request, _ server: inout Server,
    _ cx: inout Context
  ) {
    if case .disconnect(let participation, let reason) = request {
      Streams.streamBroke(participation, reason, &server, &cx)
    } else {
      Instructions.handleInstruction(device, generation, request, &server, &cx)
    }
  }

  func beforeWaiting(_ device: Int, _ server: inout Server, _ cx: borrowing Context)
    -> CheckAnswer?
  { Instructions.askForProperties(device, &server, cx) }

  func beforeCohort(_ server: inout Server, _ cx: inout Context)
    -> BeforeCohort
  { Instructions.giveOtherWork(&server, &cx) }

  func onUpdate(_ update: Int32, _ server: inout Server, _ cx: inout Context) {
    Program.ended(cx.updates[update].participation, isReply: true, &server, &cx)
  }

  func onRound(_ server: inout Server, _ cx: inout Context) {
    EvaluationRound.beginEvaluationRound(&server, &cx)
  }
}

extension KnownDialect {
  /// What the process held in memory is gone: a new one connects. When the server wants a device
  /// back is stored.
  static func forgetProcess(_ device: Int, _ devices: inout Devices, _ cx: borrowing Context) {
    guard !devices.clients.isEmpty else { return }
    devices.clients[device].isDisconnected = false
    if cx.inputs.server.retry == nil { devices.clients[device].quietUntil = .start }
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
