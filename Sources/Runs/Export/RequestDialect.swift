import FedSim
import Schema

/// Whose verbs, paths and bodies requests are written in.
public enum RequestDialect: String, CaseIterable, Sendable {
  /// The automatic FedAvg backend's.
  case automaticBackend = "automatic-backend"
  /// PyGrid's, as SwiftSyft speaks with it.
  case pygrid
  /// EdgeML's.
  case edgeml
  /// Those of the store that SwiftyForesight uploads to.
  case swiftyforesight

  /// That of a group by what its devices do; nil: they hold streams, as Flower's do.
  ///
  /// A resolved scenario has no names of profiles, so the keys decide that these fill.
  init?(of group: FleetGroupSettings, server: ServerSettings) {
    if group.protocol?.stream == true { return nil }
    if group.collection != nil {
      self = .swiftyforesight
    } else if group.protocol?.worker != nil || server.selector.name == "cycles" {
      self = .pygrid
    } else if group.registration != nil {
      self = .edgeml
    } else {
      self = .automaticBackend
    }
  }

  /// A request in this dialect; nil: it has none.
  func request(_ sent: RequestFacts) -> HTTPRequest? {
    switch self {
    case .automaticBackend: sent.automaticBackendRequest
    case .pygrid: sent.pygridRequest
    case .edgeml: sent.edgemlRequest
    case .swiftyforesight: sent.foresightRequest
    }
  }

  /// What the server's answer to such a request says in this dialect.
  func answer(_ response: Response, to sent: RequestFacts) -> HTTPAnswer {
    var answer: HTTPAnswer
    switch self {
    case .automaticBackend: answer = sent.automaticBackendAnswer(response)
    case .pygrid: answer = sent.pygridAnswer(response)
    case .edgeml: answer = sent.edgemlAnswer(response)
    case .swiftyforesight: answer = sent.foresightAnswer(response)
    }
    if case .refused(let refusal) = response {
      answer = HTTPAnswer(status: refusal.rawValue)
    }
    return answer
  }
}

/// What devices have been handed by the server: names that a real one would choose otherwise.
struct HandedNames {
  /// The access token that the device has; nil: none.
  var token: String?
  /// The refresh token.
  var refresh: String?
  /// The worker that the device is.
  var worker: String?
  /// The key with which it may ask for the model.
  var key: String?

  /// A name that no other answer hands out.
  static func name(_ kind: String, _ device: Int, _ id: UInt32) -> String {
    "\(kind)-\(device)-\(id)"
  }

  /// The device hears an answer.
  mutating func hear(_ response: Response, _ device: Int, _ id: UInt32) {
    if case .granted(let request) = response, request != .register {
      token = Self.name("token", device, id)
      refresh = Self.name("refresh", device, id)
    }
    if case .enrolled = response { worker = Self.name("worker", device, id) }
    if case .check(_, _, .accepted, _) = response { key = Self.name("key", device, id) }
  }
}

/// A request with all that a dialect may want to say of it.
struct RequestFacts {
  /// The device's number in the fleet.
  var device: Int
  /// Its path, such as `phones/17`.
  var path: String
  var group: FleetGroupSettings
  var sent: SentRequest
  var names: HandedNames
  /// The scenario's name, the model's for those who ask.
  var title: String
  /// The names of the models that are trained at the server.
  var models: [String]
  /// What is in its update; nil: nothing is computed, or it has none.
  var contents: PostedUpdate.Contents?
  /// The tensors that travel, with the number that the update has in place of each of theirs.
  var tensors: [(name: String, values: [Double])] = []

  /// All of these numbers, tensor by tensor.
  var values: [Double] { tensors.flatMap(\.values) }

  /// `Authorization`, where the group has tokens and the device holds one.
  var bearer: [(String, String)] {
    guard group.authentication != nil, let token = names.token else { return [] }
    return [("Authorization", "Bearer \(token)")]
  }

  /// Heads of a request with a body of JSON.
  var jsonHeads: [(String, String)] { [("Content-Type", "application/json")] + bearer }
}

extension Request {
  /// A word for each kind that a dialect may have no request for.
  var kindWord: String {
    switch self {
    case .check(_, let participation): participation < 0 ? "polls" : "checks"
    case .latest, .fetch: "downloads"
    case .submit: "updates"
    case .leave: "closed connections"
    case .identity: "identities"
    case .disconnect: "disconnections"
    case .erase: "erasures"
    case .enrol: "enrolments"
    case .probe: "probes"
    case .plan: "plans"
    case .sendModel: "initial models"
    case .properties: "properties"
    case .evaluated: "evaluations"
    case .central(.remove): "erasures"
    case .central: "store requests"
    }
  }
}
