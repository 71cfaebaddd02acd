import FedSim

/// What EdgeML's SDK asks of its platform; heartbeats are not among it.
///
/// Source: edgeml-ios 1.1, `APIClient`, `DeviceAuthManager`; its README.
extension RequestFacts {
  /// The number that the server gives the device.
  private var number: String { "device-\(device)" }
  private var model: String { Wire.escaped(title) }
  private var organisation: String { group.authentication?.organisation ?? "default" }

  var edgemlRequest: HTTPRequest? {
    switch sent.request {
    case .identity(let request): identityRequest(request)
    case .check(let held, let participation):
      participation < 0
        ? get("updates", "models/\(model)/updates\(held < 0 ? "" : "?current_version=\(held)")")
        : get("rounds", "training/rounds?device_id=\(number)&model_id=\(model)")
    case .latest, .fetch:
      get("download", "models/\(model)/versions/latest/download-url?format=coreml")
    case .submit: weights
    case .leave, .disconnect, .erase, .enrol, .probe, .plan, .sendModel, .properties, .evaluated,
      .central:
      nil
    }
  }

  private func get(_ kind: String, _ path: String) -> HTTPRequest {
    HTTPRequest(kind: kind, verb: "GET", path: "/api/v1/\(path)", headers: bearer)
  }

  private var weights: HTTPRequest? {
    guard let update = sent.update else { return nil }
    var body = JSONFields()
    body.add("model_id", text: title)
    body.add("version", text: "\(update.base)")
    body.add("device_id", text: number)
    body.add("weights_data", contents == nil ? "null" : "\"\(Wire.base64(values))\"")
    body.add("sample_count", update.samples)
    var metrics = JSONFields()
    metrics.add("loss", number: contents?.trainingLoss)
    if let accuracy = contents?.validationAccuracy { metrics.add("accuracy", number: accuracy) }
    body.add("metrics", metrics.object)
    body.add("round_id", text: "round-\(update.round)")
    return HTTPRequest(
      kind: "weights", verb: "POST", path: "/api/v1/training/weights", headers: jsonHeads,
      body: .json(body.object))
  }

  private func identityRequest(_ request: IdentityRequest) -> HTTPRequest {
    var body = JSONFields()
    var heads = [("Content-Type", "application/json")]
    let path: String
    switch request {
    case .register:
      path = "devices/register"
      body.add("device_identifier", text: self.path)
      body.add("org_id", text: organisation)
      body.add("platform", text: "ios")
      body.add("sdk_version", text: "1.1.0")
      heads = jsonHeads
    case .bootstrap:
      path = "device-auth/bootstrap"
      heads.append(("Authorization", "Bearer bootstrap-\(device)"))
      body.add("org_id", text: organisation)
      body.add("device_identifier", text: self.path)
      body.add("scopes", "[\"devices:write\"]")
    case .refresh:
      path = "device-auth/refresh"
      body.add("refresh_token", text: names.refresh ?? "")
    }
    return HTTPRequest(
      kind: "\(request)", verb: "POST", path: "/api/v1/\(path)", headers: heads,
      body: .json(body.object))
  }

  func edgemlAnswer(_ response: Response) -> HTTPAnswer {
    var answer = HTTPAnswer()
    switch response {
    case .granted(.register): answer.body.add("id", text: number)
    case .granted(.bootstrap), .granted(.refresh):
      answer.body.add("access_token", text: HandedNames.name("token", device, sent.id))
      answer.body.add("refresh_token", text: HandedNames.name("refresh", device, sent.id))
    case .check(let latest, _, let admission, let round):
      guard case .check(let held, let participation) = sent.request else { break }
      if participation < 0 {
        // The SDK takes a 404 for "no update".
        answer.status = latest > held ? 200 : 404
        if latest > held { answer.body.add("latest_version", text: "\(latest)") }
      } else if admission == .accepted {
        var assignment = JSONFields()
        assignment.add("round_id", text: "round-\(round)")
        assignment.add("model_id", text: title)
        answer.body.add("assignment", assignment.object)
      } else {
        answer.body.add("assignment", "null")
      }
    case .rejected: answer.body.add("assignment", "null")
    case .modelUnavailable: answer.status = 503
    case .keyInvalid: answer.status = 401
    case .failed: answer.status = 500
    case .model, .receipt, .refused, .enrolled, .probed, .plan, .noted, .central: break
    }
    return answer
  }
}
