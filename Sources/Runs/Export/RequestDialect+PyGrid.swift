import FedSim

/// What SwiftSyft asks of PyGrid.
///
/// Source: SwiftSyft, `SyftClient`; PyGrid, `routes/model_centric/routes.py`.
extension RequestFacts {
  private var worker: String { names.worker ?? "worker-\(device)" }
  /// What the server calls the model and the plan: names that a real one hands out otherwise.
  private var model: String { "model-1" }
  private var plan: String { "plan-1" }

  var pygridRequest: HTTPRequest? {
    switch sent.request {
    case .check(_, let participation):
      // The library has no request of an app that only looks for news.
      guard participation >= 0 else { return nil }
      var body = JSONFields()
      body.add("worker_id", text: worker)
      body.add("model", text: title)
      body.add("version", text: "1.0")
      body.add("ping", 8)
      if let speeds = sent.speeds {
        body.add("download", number: Self.mebibytes(speeds.download))
        body.add("upload", number: Self.mebibytes(speeds.upload))
      }
      return post("cycle-request", "cycle-request", body)
    case .latest, .fetch:
      let query = "worker_id=\(worker)&model_id=\(model)&request_key=\(names.key ?? "")"
      return get("get-model", "get-model?\(query)")
    case .plan:
      let query = "worker_id=\(worker)&plan_id=\(plan)&request_key=\(names.key ?? "")"
      return get("get-plan", "get-plan?\(query)&receive_operations_as=torchscript")
    case .enrol:
      var body = JSONFields()
      body.add("auth_token", names.token.map { "\"\($0)\"" } ?? "null")
      body.add("model_name", text: title)
      body.add("model_version", text: "1.0")
      return post("authenticate", "authenticate", body)
    case .probe(let isUpload):
      let path = "speed-test?worker_id=\(worker)&random=\(sent.id)"
      guard isUpload else { return get("speed-test", path) }
      var request = get("speed-test", path)
      (request.verb, request.body) = ("POST", .filling(group.protocol?.worker?.probeBytes ?? 0))
      return request
    case .submit:
      var body = JSONFields()
      body.add("worker_id", text: worker)
      body.add("request_key", text: names.key ?? "")
      body.add("diff", contents == nil ? "null" : "\"\(Wire.base64(values))\"")
      return post("report", "report", body)
    case .leave, .identity, .disconnect, .erase, .sendModel, .properties, .evaluated, .central:
      return nil
    }
  }

  private func post(_ kind: String, _ path: String, _ body: JSONFields) -> HTTPRequest {
    HTTPRequest(
      kind: kind, verb: "POST", path: "/model-centric/\(path)", headers: jsonHeads,
      body: .json(body.object))
  }

  private func get(_ kind: String, _ path: String) -> HTTPRequest {
    HTTPRequest(kind: kind, verb: "GET", path: "/model-centric/\(path)", headers: bearer)
  }

  private static func mebibytes(_ rate: BitRate) -> Double {
    Double(rate.bitsPerSecond) / 8_388_608
  }

  func pygridAnswer(_ response: Response) -> HTTPAnswer {
    var answer = HTTPAnswer()
    switch response {
    case .check(_, _, let admission, _):
      answer.body.add("status", text: admission == .accepted ? "accepted" : "rejected")
      if admission == .accepted {
        answer.body.add("request_key", text: HandedNames.name("key", device, sent.id))
        answer.body.add("model", text: title)
        answer.body.add("version", text: "1.0")
        answer.body.add("model_id", text: model)
        answer.body.add("plans", "{\"training_plan\": \"\(plan)\"}")
      }
    case .rejected(let retry):
      answer.body.add("status", text: "rejected")
      if let retry { answer.body.add("timeout", number: retry.duration.seconds) }
    case .enrolled(let needsSpeedTest):
      answer.body.add("status", text: "success")
      answer.body.add("worker_id", text: HandedNames.name("worker", device, sent.id))
      answer.body.add("requires_speed_test", needsSpeedTest)
    case .receipt: answer.body.add("status", text: "success")
    case .keyInvalid: answer.status = 401
    case .failed:
      // PyGrid catches what goes wrong in its handler and says so in the body.
      answer.body.add("error", text: "the server failed over the request")
    case .model, .modelUnavailable, .plan, .probed, .granted, .refused, .noted, .central: break
    }
    return answer
  }
}
