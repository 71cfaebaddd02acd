import FedSim

extension Story {
  /// What happened, in a sentence; nil: not worth one.
  func sentence(_ event: ObservedEvent) -> String? {
    if let clause = collectionClause(event.kind) {
      // The devices that collect for a model hear when the server has trained it.
      guard event.device >= 0 || isCollecting else { return nil }
      return "At \(event.time.words) \(clause)."
    }
    if event.device < 0 {
      return serverClause(event.kind).map { "At \(event.time.words) \($0)." }
    }
    return (sessionClause(event.kind) ?? updateClause(event)).map {
      "At \(event.time.words) \($0)."
    }
  }

  private func serverClause(_ kind: ObservedEvent.Kind) -> String? {
    // Of the whole run, only what the server tells of itself.
    switch kind {
    case .connectivity(let isOnline):
      return isOnline
        ? "the server was online again" : "the server believed itself offline"
    case .cohortFormed(let number, let members):
      return round == nil
        ? nil : "the cohort of round \(number) was formed, of \(Words.count(members, "device"))"
    case .published(let version, let updates):
      return round == nil || version == 0
        ? nil : "version \(version) was published, of \(Words.count(updates, "update"))"
    case .serverProcess(let isRunning):
      return isRunning
        ? "the server was back after its restart"
        : "the server stopped for a restart and lost what it had in memory"
    case .roundSkipped(let number):
      return round == nil ? nil : "the deadline of round \(number) passed with too few updates"
    default: return nil
    }
  }

  private func sessionClause(_ kind: ObservedEvent.Kind) -> String? {
    switch kind {
    case .sessionBegan(let kind): return Self.beginning(of: kind)
    case .sessionEnded(let end): return Self.ending(end)
    case .accepted(let round): return "it was accepted into round \(round)"
    case .downloaded(let version): return "it had downloaded version \(version)"
    case .waited(let round):
      return inputs.server.selector.value.formsCohorts
        ? "it waited for the cohort of round \(round)"
        : "it waited for the aggregation of its update in round \(round)"
    case .requestFailed(let request, let outcome):
      let what = request == .check ? "its request to the server" : "its download"
      return "\(what) failed: \(Self.text(outcome))"
    case .rested(let end): return "it paused: \(Self.text(end))"
    case .serverOffline: return "the server replied that it believes itself offline"
    case .softExpiry: return "its time to run expired"
    case .killed: return "its app was killed"
    case .forceQuit: return "its app was swiped away"
    case .processorExceeded: return "it had used the processor for too long"
    case .condition(let condition): return Self.text(condition)
    case .identity(let step): return step.clause
    case .rejected(let retry):
      return retry == nil
        ? "the server permanently had no work for it"
        : "the server had no work for it and gave a time to return"
    case .disconnected: return "its stream to the server ended"
    case .erased: return "its user had its data erased"
    case .exchange(let step): return step.clause
    case .submitted(let task, let error):
      return error.map { "the system refused its request for `\(task)`: \($0)" }
    case .trainingBegan(let base, let first, let batches):
      return first == 0
        ? "it started to train on version \(base), \(Words.count(batches, "batch"))"
        : "it resumed its training on version \(base) at batch \(first + 1) of \(batches)"
    case .trainingCut(let done, let all):
      return "its training was interrupted after \(done) of \(all) batches"
    case .checkpointed(let done, let all): return "it saved \(done) of \(all) batches"
    case .attemptEnded(let outcome, let batches):
      guard outcome != .finished, outcome != .submittedPartial else { return nil }
      let after = "after \(Words.count(batches, "batch"))"
      return "its training ended \(after): \(Self.text(outcome))"
    default: return nil
    }
  }

  private func updateClause(_ event: ObservedEvent) -> String? {
    switch event.kind {
    case .updateCreated(let update, let base, let batches, _):
      return "it made update \(update) of version \(base) (\(Words.count(batches, "batch")))"
    case .uploadBegan(let update): return "it began to send update \(update)"
    case .uploadFailed(let update, let outcome):
      return "sending update \(update) failed: \(Self.text(outcome))"
    case .arrived(let update): return "update \(update) reached the server"
    case .receipt(let update, let receipt):
      return "the server answered update \(update): \(receipt.status.rawValue)"
    case .updateEnded(let update, let outcome):
      return outcome == .aggregated
        ? "update \(update) became part of a version" : "update \(update) \(Self.text(outcome))"
    default: return nil
    }
  }

  private static func beginning(of kind: SessionKind) -> String {
    switch kind {
    case .task: "the system started its task"
    case .window: "a background window opened for it"
    case .activation: "its app was opened"
    case .refresh: "the system started its refresh task"
    case .continued: "its user started a training"
    case .heartbeat: "its app had to send a heartbeat"
    }
  }

  private static func ending(_ end: SessionEnd) -> String? {
    switch end {
    case .completed: "its app was done"
    case .killed: nil
    case .expired, .ineligible, .withoutData, .unreachable, .rejected, .nothingNew, .conditionsLost,
      .threw, .locked, .unauthorised, .unregistered, .keychainLocked, .unknownError, .expiredRound,
      .undecodable, .streamBroken, .disconnected, .wrongURL, .erased, .declined, .left:
      "its app stopped: \(text(end))"
    }
  }

  /// Why a session ends or rests.
  static func text(_ end: SessionEnd) -> String {
    switch end {
    case .completed: "it was done"
    case .expired: "its time was over"
    case .killed: "it was killed"
    case .ineligible: "a condition of the app did not hold"
    case .withoutData: "it has no data"
    case .unreachable: "the server could not be reached"
    case .rejected: "the server had no work for it"
    case .nothingNew: "there was nothing new to train on"
    case .conditionsLost: "a condition of the app was lost"
    case .threw: "the training threw an error"
    case .locked: "its user left it"
    case .unauthorised: "it had no valid token"
    case .unregistered: "the server does not know it"
    case .keychainLocked: "its keychain was locked since its reboot"
    case .unknownError: "the app could not read the answer"
    case .expiredRound: "its round was over"
    case .undecodable: "it could not read the model"
    case .streamBroken: "its stream to the server broke"
    case .disconnected: "the server had asked it to reconnect"
    case .wrongURL: "it called a wrong address"
    case .erased: "its user had its data erased"
    case .declined: "the device cannot train this model"
    case .left: "the device left the fleet"
    }
  }

  /// How a transmission failed.
  static func text(_ outcome: TransmissionOutcome) -> String {
    switch outcome {
    case .delivered: "it succeeded"
    case .linkLost: "the link was lost during the transfer"
    case .unacknowledged: "the link was lost before an answer came"
    case .timedOut: "no answer came in time"
    case .cancelled: "the app's time expired first"
    case .unauthorised: "the server requires a valid token"
    case .forbidden: "the server forbade it"
    case .unavailable: "the token service was down"
    case .unfinishedAtEnd: "the run ended first"
    }
  }

  private static func text(_ outcome: AttemptOutcome) -> String {
    switch outcome {
    case .finished, .submittedPartial: "it was done"
    case .discardedAtExpiry: "the task expired, and the app discards the batches"
    case .killed: "the app was killed"
    case .conditionsLost: "a condition of the app was lost"
    case .threw: "it threw an error"
    case .restarted: "there was a newer version, so it starts again"
    case .outdated: "its checkpoint was too old"
    case .uninstalled: "the app was removed"
    case .erased: "its user had it erased"
    case .deviceLeft: "the device left the fleet"
    case .unfinishedAtEnd: "the run ended first"
    }
  }

  private static func text(_ outcome: UpdateOutcome) -> String {
    switch outcome {
    case .aggregated: "became part of a version"
    case .replaced: "was replaced by a later one on the same version"
    case .rejectedDuplicate:
      "was rejected: the server had another update of this device on this version"
    case .rejectedStale: "was rejected: its base was too old"
    case .rejectedLate: "was rejected: its round was over"
    case .rejectedNotFinite: "was rejected: its parameters are not finite"
    case .roundSkipped: "was given up with its round"
    case .dropped: "was dropped: it could not be sent, and the device keeps none"
    case .evicted: "was dropped: a newer one needed its place in the outbox"
    case .outdated: "was dropped: it had waited for too long"
    case .lostAtKill: "was lost with the app, which keeps none"
    case .uninstalled: "was lost with the app, which was removed"
    case .forbidden: "was refused: its tokens are not for this server or purpose"
    case .rejectedLocally: "was not sent: it was not finite"
    case .weightless: "was discarded: its training had failed"
    case .erased: "was erased by its user"
    case .deviceLeft: "was lost: the device left the fleet"
    case .refusedOffline: "was not accepted: the server believed itself offline"
    case .lostAtRestart: "was lost at the server, which restarted"
    case .unfinishedAtEnd: "was in transit when the run ended"
    }
  }

  private static func text(_ condition: DeviceChange) -> String {
    switch condition {
    case .full: "its battery was full"
    case .lowPowerOn: "low-power mode was switched on"
    case .lowPowerOff: "low-power mode was switched off"
    case .shutDown: "its battery was empty and it switched off"
    case .booted: "it was switched on again"
    case .nominal: "it was cool again"
    case .fair: "it was a little warm"
    case .serious: "it was seriously warm"
    case .critical: "it was critically warm"
    case .joined: "the device joined the fleet"
    case .left: "the device left the fleet"
    case .unloaded: "the system removed its suspended app from memory"
    case .uploadHandedOver: "the system continued with its upload without the app"
    }
  }
}

extension ExchangeStep {
  /// What a device did, in a clause; nil: the server did it.
  fileprivate var clause: String? {
    switch self {
    case .enrolled: "it was enrolled as a new worker"
    case .speedTested: "it had measured its link"
    case .planDownloaded: "it had downloaded the plan"
    case .trainsUnasked: "it had no answer from the server and trained on the model that it held"
    case .modelAsked: "it was asked for the model that its app came with"
    case .propertiesAsked: "it was asked for its properties"
    case .evaluationAsked: "it was asked to evaluate the version"
    case .evaluated: "it had evaluated the version"
    case .evaluationEnded: nil
    }
  }
}
