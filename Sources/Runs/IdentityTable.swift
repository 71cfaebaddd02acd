import FedSim
import Results

/// Tokens, registrations and heartbeats, where any device has an identity of its own.
enum IdentityTable {
  /// Counts over the fleet, and what the server believed against what was true.
  static func groups(_ simulation: Simulation) -> [ResultDocument.Group] {
    guard let counts = simulation.identityCounts else { return [] }
    let states = Presence.allCases.map(\.name)
    func axis(_ name: String, _ text: String) -> ResultDocument.Variable {
      .init(name, [name], codes: states.indices.map { Int8($0) }, meanings: states, longName: text)
    }
    let variables = counts.named.map { name, count, text in
      ResultDocument.Variable.scalar(name, .int64([Int64(count)]), text)
    }
    let times: [Double] = simulation.presence.flatMap { row in row.map { Double($0) / 1e6 } }
    let links = linkVariables(simulation)
    return [
      ResultDocument.Group(
        "identity",
        attributes: [
          .init(
            "comment",
            .text(
              "heartbeatsDue = withheld + unsent + succeeded + failed + unfinished, as the devices "
                + "see it; accepted, unauthorised and forbidden are the server's counts."))
        ],
        axes: [.init("belief", length: 3), .init("truth", length: 3)]
          + (links.isEmpty
            ? [] : [.init("believedLink", length: 3), .init("trueLink", length: 3)]),
        variables: variables + [
          axis("belief", "what the server believes by the last heartbeat"),
          axis("truth", "online: the app runs and has a link; idle: a link only; offline: none"),
          .init(
            "presence", ["belief", "truth"], .double(times), units: "s",
            longName: "time of devices that send heartbeats, summed over them"),
        ] + links)
    ]
  }

  /// The link that the server believes in against the true one, where heartbeats tell of it.
  private static func linkVariables(_ simulation: Simulation) -> [ResultDocument.Variable] {
    guard let belief = simulation.linkBelief else { return [] }
    func axis(_ name: String, _ states: [String], _ text: String) -> ResultDocument.Variable {
      .init(name, [name], codes: [0, 1, 2], meanings: states, longName: text)
    }
    return [
      axis(
        "believedLink", ["unknown", "cellular", "wifi"],
        "the link that the last heartbeat told of; unknown: there was none"),
      axis("trueLink", ["offline", "cellular", "wifi"], "the link that the device had"),
      .init(
        "link", ["believedLink", "trueLink"],
        .double(belief.flatMap { row in row.map { Double($0) / 1e6 } }), units: "s",
        longName: "time of devices whose heartbeats tell of their link, summed over them"),
    ]
  }
}

extension Presence {
  fileprivate var name: String {
    switch self {
    case .online: "online"
    case .idle: "idle"
    case .offline: "offline"
    }
  }
}

extension IdentityCounts {
  package var named: [(name: String, count: Int, text: String)] {
    [
      ("registrations", registrations, "registrations that the server took, repetitions counted"),
      ("registered", registered, "numbers that the server gave to installations"),
      ("bootstraps", bootstraps, "bootstraps that devices got tokens by"),
      ("refreshes", refreshes, "refreshes that devices got tokens by"),
      ("failedRefreshes", failedRefreshes, "refreshes that failed on their way, or with 503"),
      ("revocations", revocations, "refresh tokens that the server did not take"),
      ("unauthorised", unauthorised, "requests refused with 401, heartbeats not counted"),
      ("forbidden", forbidden, "requests refused with 403, heartbeats not counted"),
      ("withheld", withheld, "times at which something was not sent for want of an identity"),
      ("reinstallations", reinstallations, "re-installations of the app"),
      ("heartbeatsDue", heartbeats.due, "heartbeats that were due"),
      ("heartbeatsWithheld", heartbeats.withheld, "not sent for want of an identity"),
      ("heartbeatsUnsent", heartbeats.unsent, "not sent for want of a link"),
      ("heartbeatsSucceeded", heartbeats.succeeded, "sent, and a success to the app"),
      ("heartbeatsFailed", heartbeats.failed, "sent, and a failure to the app"),
      ("heartbeatsUnfinished", heartbeats.unfinished, "under way when the run ended"),
      ("heartbeatsAccepted", heartbeats.accepted, "taken in by the server"),
      ("heartbeatsUnauthorised", heartbeats.unauthorised, "refused by the server with 401"),
      ("heartbeatsForbidden", heartbeats.forbidden, "refused by the server with 403"),
    ]
  }
}
