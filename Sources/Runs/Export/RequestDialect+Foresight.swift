import FedSim

/// What an app with SwiftyForesight asks of its store: files of samples, their metadata, models.
///
/// Source: SwiftyForesight, `LibraData`, `LibraModel`, `CloudManager`.
extension RequestFacts {
  var foresightRequest: HTTPRequest? {
    guard case .central(let request) = sent.request else { return nil }
    switch request {
    case .file:
      guard let file = sent.file else { return nil }
      return HTTPRequest(
        kind: "file", verb: "PUT", path: "/\(Wire.escaped(file.name))",
        headers: [("Content-Type", "text/csv")] + bearer, body: .filling(file.bytes))
    case .item:
      guard let file = sent.file else { return nil }
      let parts = file.name.split(separator: "_").map(String.init)
      var key = JSONFields()
      key.add("_userID", "{\"S\": \"\(parts[0])\"}")
      key.add("_eventDate", "{\"S\": \"\(String(parts[1].prefix { $0 != "." }))\"}")
      var body = JSONFields()
      body.add("TableName", text: "metadata")
      body.add("Key", key.object)
      let target = ("X-Amz-Target", "DynamoDB_20120810.UpdateItem")
      return HTTPRequest(
        kind: "item", verb: "POST", path: "/",
        headers: [("Content-Type", "application/x-amz-json-1.0"), target] + bearer,
        body: .json(body.object))
    case .model(let model):
      return HTTPRequest(
        kind: "model", verb: "GET", path: "/\(Wire.escaped(models[Int(model)])).mlmodel",
        headers: bearer)
    case .remove: return nil
    }
  }

  func foresightAnswer(_ response: Response) -> HTTPAnswer {
    var answer = HTTPAnswer()
    if case .central(.model(_, let version)) = response {
      answer.body.add("version", Int(version))
    }
    if case .central(.noModel) = response { answer.status = 404 }
    return answer
  }
}
