import FedSim

extension Event {
  /// What it is, as short as can be, with all that its digest is made of.
  var shortWords: String {
    switch self {
    case .world(let series, _, let state): "\(series) \(state)"
    case .linkRestored: "linkRestored"
    case .server(let series, let state): "\(series) \(state)"
    case .injection(let index): "injection \(index)"
    case .softExpiry: "softExpiry"
    case .hardExpiry: "hardExpiry"
    case .transferEnd: "transferEnd"
    case .trainingEnd: "trainingEnd"
    case .serverTimer(let timer): "timer \(Self.shortWords(timer))"
    case .arrival(_, _, let request): "arrival \(request.shortWords)"
    case .response(_, _, let response): "response \(response.shortWords)"
    case .deviceTimer(let timer, _, _): "timer \(timer)"
    case .taskStart: "taskStart"
    case .end: "end"
    }
  }

  private static func shortWords(_ timer: ServerTimer) -> String {
    switch timer {
    case .probe: "probe"
    case .program: "program"
    case .trigger(let index, _): "trigger \(index)"
    case .served(let number): "served \(number)"
    case .modelWanted: "modelWanted"
    case .cohortWait(let round): "cohortWait round=\(round)"
    case .evaluationWait(let round): "evaluationWait round=\(round)"
    case .evaluationTimeout(let round): "evaluationTimeout round=\(round)"
    case .aggregated: "aggregated"
    case .central(let number): "central \(number)"
    }
  }
}

extension Request {
  fileprivate var shortWords: String {
    switch self {
    case .check(let held, let participation):
      "check held=\(held)\(participation < 0 ? " poll" : "")"
    case .latest: "latest"
    case .submit(let update): "submit update=\(update)"
    case .leave: "leave"
    case .identity(let kind): "identity \(kind)"
    case .fetch(let round): "fetch round=\(round)"
    case .disconnect(_, let reason): "disconnect \(reason)"
    case .erase: "erase"
    case .enrol: "enrol"
    case .probe(let isUpload): "probe \(isUpload ? "up" : "down")"
    case .plan(let round): "plan round=\(round)"
    case .sendModel: "sendModel"
    case .properties(let isImplemented): "properties \(isImplemented ? "known" : "unknown")"
    case .evaluated(_, let hasSamples): "evaluated \(hasSamples ? "samples" : "nothing")"
    case .central(let request): "central \(request)"
    }
  }
}

extension Response {
  fileprivate var shortWords: String {
    switch self {
    case .check(let latest, let isOnline, let admission, let round):
      "check latest=\(latest) \(isOnline ? "online" : "offline") \(admission) round=\(round)"
    case .model(let version): "model version=\(version)"
    case .modelUnavailable: "modelUnavailable"
    case .receipt(let receipt):
      "receipt \(receipt.status.rawValue) version=\(receipt.newVersion)"
        + " pending=\(receipt.pendingCount)"
    case .granted(let kind): "granted \(kind)"
    case .refused(let refusal): "refused \(refusal)"
    case .rejected(let retry):
      "rejected" + (retry.map { " retry=\($0.seconds)s+\($0.microseconds)us" } ?? "")
    case .keyInvalid: "keyInvalid"
    case .failed: "failed"
    case .enrolled(let needsSpeedTest): "enrolled\(needsSpeedTest ? " speedTest" : "")"
    case .probed: "probed"
    case .plan: "plan"
    case .noted: "noted"
    case .central(let response): "central \(response)"
    }
  }
}
