import FedSim

/// The automatic backend's three endpoints.
///
/// Source: the backend's document, "API Endpoints".
extension RequestFacts {
  var automaticBackendRequest: HTTPRequest? {
    switch sent.request {
    case .check(let held, _):
      // "version (optional): current client model version (default: 0)".
      let query = held < 0 ? "" : "?version=\(held)"
      return HTTPRequest(
        kind: "check", verb: "GET", path: "/api/model/check\(query)", headers: bearer)
    case .latest, .fetch:
      return HTTPRequest(kind: "latest", verb: "GET", path: "/api/model/latest", headers: bearer)
    case .submit:
      guard let update = sent.update else { return nil }
      var body = JSONFields()
      body.add("device_id", text: path)
      body.add("version", update.base)
      var weights = JSONFields()
      for tensor in tensors { weights.add(tensor.name, Wire.list(tensor.values)) }
      body.add("weight_updates", contents == nil ? "null" : weights.object)
      body.add("num_samples", update.samples)
      body.add("training_loss", number: contents?.trainingLoss)
      body.add("validation_accuracy", number: contents?.validationAccuracy)
      return HTTPRequest(
        kind: "update", verb: "POST", path: "/api/model/update", headers: jsonHeads,
        body: .json(body.object))
    case .leave, .identity, .disconnect, .erase, .enrol, .probe, .plan, .sendModel, .properties,
      .evaluated, .central:
      return nil
    }
  }

  func automaticBackendAnswer(_ response: Response) -> HTTPAnswer {
    var answer = HTTPAnswer()
    switch response {
    case .check(let latest, let isOnline, _, _):
      guard case .check(let held, _) = sent.request else { break }
      answer.body.add("has_update", latest > held)
      answer.body.add("latest_version", Int(latest))
      answer.body.add("online", isOnline)
      answer.body.add("client_version", Int(max(0, held)))
    case .model(let version):
      answer.body.add("model_available", true)
      answer.body.add("version", Int(version))
    case .modelUnavailable:
      answer.body.add("model_available", false)
      answer.body.add("status", text: "offline")
    case .receipt(let receipt):
      answer.body.add("status", text: receipt.status.rawValue)
      answer.body.add("new_version", Int(receipt.newVersion))
      answer.body.add("pending_count", Int(receipt.pendingCount))
    case .keyInvalid: answer.status = 401
    case .failed: answer.status = 500
    case .granted, .refused, .rejected, .enrolled, .probed, .plan, .noted, .central: break
    }
    return answer
  }
}
