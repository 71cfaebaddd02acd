import FedSim
import Results

/// Tokens, registrations and heartbeats, where any device has its own identity.
enum IdentityTable {
  /// Counts over the fleet, and what the server believed against what was true.
  static func groups(_ simulation: Simulation) -> [ResultDocument.Group] {
    guard let counts = simulation.deviceRecords.identityCounts else { return [] }
    let states = Presence.allCases.map(\.name)
    func axis(_ name: String, _ text: String) -> ResultDocument.Variable {
      .init(name, [name], codes: states.indices.map { Int8($0) }, meanings: states, longName: text)
    }
    let variables = counts.named.map { name, count, text in
      ResultDocument.Variable.scalar(name, .int64([Int64(count)]), text)
    }
    let times: [Double] = simulation.deviceRecords.presence.flatMap { row in
      row.map { Double($0) / 1e6 }
    }
    let links = linkVariables(simulation)
    return [
      ResultDocument.Group(
        "identity",
        attributes: [
          .init(
            "comment",
            .text(
              "heartbeatsDue = withheld + unsent + succeeded + failed + unfinished, as counted by "
                + "devices; accepted, unauthorised and forbidden are the server's counts."))
        ],
        axes: [.init("belief", length: 3), .init("truth", length: 3)]
          + (links.isEmpty
            ? [] : [.init("believedLink", length: 3), .init("trueLink", length: 3)]),
        variables: variables + [
          axis("belief", "state that the server assumes from the last heartbeat"),
          axis("truth", "online: the app runs and has a link; idle: a link only; offline: no link"),
          .init(
            "presence", ["belief", "truth"], .double(times), units: "s",
            longName: "time of devices that send heartbeats, summed over the devices"),
        ] + links)
    ]
  }

  /// The link that the server believes in against the true one, where heartbeats tell of it.
  private static func linkVariables(_ simulation: Simulation) -> [ResultDocument.Variable] {
    guard let belief = simulation.deviceRecords.linkBelief else { return [] }
    func axis(_ name: String, _ states: [String], _ text: String) -> ResultDocument.Variable {
      .init(name, [name], codes: [0, 1, 2], meanings: states, longName: text)
    }
    return [
      axis(
        "believedLink", ["unknown", "cellular", "wifi"],
        "link reported by the last heartbeat; unknown: no heartbeat yet"),
      axis("trueLink", ["offline", "cellular", "wifi"], "actual link of the device"),
      .init(
        "link", ["believedLink", "trueLink"],
        .double(belief.flatMap { row in row.map { Double($0) / 1e6 } }), units: "s",
        longName: "time of devices whose heartbeats report the link, summed over the devices"),
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
      (
        "registrations", registrations,
        "registrations accepted by the server, including repetitions"
      ),
      ("registered", registered, "numbers assigned to installations by the server"),
      ("bootstraps", bootstraps, "successful bootstraps of devices"),
      ("refreshes", refreshes, "successful token refreshes of devices"),
      ("failedRefreshes", failedRefreshes, "token refreshes that were lost, or answered with 503"),
      ("revocations", revocations, "refresh tokens rejected by the server"),
      ("unauthorised", unauthorised, "requests refused with 401, without heartbeats"),
      ("forbidden", forbidden, "requests refused with 403, without heartbeats"),
      ("withheld", withheld, "times that a device sent nothing because it had no identity"),
      ("reinstallations", reinstallations, "re-installations of the app"),
      ("heartbeatsDue", heartbeats.due, "heartbeats that were due"),
      ("heartbeatsWithheld", heartbeats.withheld, "not sent because the device had no identity"),
      ("heartbeatsUnsent", heartbeats.unsent, "not sent because the device had no link"),
      ("heartbeatsSucceeded", heartbeats.succeeded, "sent, and a success for the app"),
      ("heartbeatsFailed", heartbeats.failed, "sent, and a failure for the app"),
      ("heartbeatsUnfinished", heartbeats.unfinished, "in flight when the run ended"),
      ("heartbeatsAccepted", heartbeats.accepted, "accepted by the server"),
      ("heartbeatsUnauthorised", heartbeats.unauthorised, "refused by the server with 401"),
      ("heartbeatsForbidden", heartbeats.forbidden, "refused by the server with 403"),
    ]
  }
}
