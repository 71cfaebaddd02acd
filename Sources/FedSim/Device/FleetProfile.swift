import Schema

/// A kind of phone and app by its usual name: values for several keys of a fleet group at once.
public struct FleetProfile: Sendable {
  /// Its name in `profile:`.
  public let name: String
  /// One sentence.
  public let summary: String
  /// The settings that it fills.
  public let settings: Node

  /// The profiles, in the order in which they are listed.
  public static let standard: [FleetProfile] = [
    FleetProfile(
      name: "iphone",
      summary: "Battery, heat and the rules of iOS; a processing task on the charger, and refresh",
      settings: iphone),
    FleetProfile(
      name: "iphone-continued",
      summary: "An iPhone whose user starts trainings in the app: continued processing, no other",
      settings: group(
        background: [("continued", .mapping([])), ("system", .mapping([]))],
        [("battery", .mapping([])), ("thermal", .mapping([])), ("app", .mapping([]))])),
    FleetProfile(
      name: "swiftsyft",
      summary: "An iPhone with SwiftSyft's app, its faults included: Wi-Fi and charging at the "
        + "start only, no outbox, a request that is never renewed, a flag that is never cleared",
      settings: group(
        background: [
          (
            "processing",
            .mapping([("requiresExternalPower", .text("true")), ("resubmit", .text("never"))])
          )
        ],
        [
          (
            "participation",
            .mapping([
              ("externalPower", .text("true")), ("chargingOnly", .text("true")),
              ("network", .text("wifi")),
            ])
          ),
          (
            "interruption",
            .mapping([("onExpiry", .text("discard")), ("onConditionsLost", .text("ignore"))])
          ),
          (
            "app",
            .mapping([
              ("onExpiration", .text("forget")), ("resetsFlag", .text("false")),
              ("completesEarly", .text("5 s")),
            ])
          ),
          ("outbox", .mapping([("capacity", .text("0"))])),
        ]
      ).filled(from: iphone, deeply: true)),
    FleetProfile(
      name: "edgeml",
      summary:
        "An iPhone with EdgeML's rules: no low-power mode, not too warm, 20 % or plugged in; "
        + "tokens, heartbeats whose answer nobody reads, a registration kept in memory only",
      settings: group(
        background: [
          (
            "processing",
            .mapping([("earliestBegin", .text("1 h")), ("budgetMaximum", .text("300 s"))])
          )
        ],
        [
          (
            "participation",
            .mapping([
              ("avoidsLowPower", .text("true")), ("avoidsHeat", .text("true")),
              ("minimumBattery", .text("20")),
            ])
          ),
          ("network", .mapping([("requestTimeout", .text("30 s"))])),
          ("outbox", .mapping([("supersedes", .text("true")), ("attempts", .text("3"))])),
          ("authentication", .mapping([("onUnauthorised", .text("fail"))])),
          (
            "registration",
            .mapping([
              ("persists", .text("false")), ("inBackground", .text("false")),
              ("atStart", .text("true")),
            ])
          ),
          ("heartbeats", .mapping([("ignoresStatus", .text("true"))])),
        ]
      ).filled(from: iphone, deeply: true)),
    FleetProfile(
      name: "workmanager",
      summary: "An Android phone: ten minutes for each piece of work on the charger",
      settings: android),
    FleetProfile(
      name: "gboard",
      summary: "An Android phone that trains while idle, charging and unmetered, and aborts else",
      settings: group(
        background: [("processing", .mapping([("requiresUnmetered", .text("true"))]))],
        [
          (
            "participation",
            .mapping([
              ("externalPower", .text("true")), ("network", .text("unmetered")),
              ("idle", .text("true")), ("avoidsLowPower", .text("true")),
            ])
          ),
          ("interruption", .mapping([("onConditionsLost", .text("abort"))])),
        ]
      ).filled(from: android, deeply: true)),
    FleetProfile(
      name: "flower",
      summary: "An app on Flower's Swift SDK, its faults included: one stream from the request to "
        + "the result, answers of no samples, never back, unknown layers skipped",
      settings: .mapping([
        (
          "protocol",
          .mapping([
            ("stream", .text("true")), ("onFailure", .text("report")),
            ("reconnect", .text("asCoded")), ("skipsUnknownLayers", .text("true")),
          ])
        ),
        ("participation", .mapping([("repeats", .text("true")), ("pause", .text("1 s"))])),
        ("outbox", .mapping([("capacity", .text("0"))])),
      ])),
    FleetProfile(
      name: "swiftyforesight",
      summary: "An iPhone with SwiftyForesight's app: it trains nothing, sends files with metadata "
        + "when it is opened or a task of it runs, and fetches models",
      settings: group(
        background: [],
        [
          (
            "collection", .mapping([("metadata", .mapping([])), ("fetch", .mapping([]))])
          ), ("participation", .mapping([("pollOnActivation", .text("1"))])),
        ]
      ).filled(from: iphone, deeply: true)),
  ]

  private static func group(
    background: [(String, Node)], _ rest: [(String, Node)]
  ) -> Node {
    .mapping([("background", .mapping(background))] + rest)
  }

  private static let iphone = group(
    background: [
      ("processing", .mapping([("requiresExternalPower", .text("true"))])),
      ("refresh", .mapping([])), ("system", .mapping([])),
    ], [("battery", .mapping([])), ("thermal", .mapping([])), ("app", .mapping([]))])

  private static let android = group(
    background: [
      (
        "processing",
        .mapping([
          ("requiresExternalPower", .text("true")), ("budgetMedian", .text("10 min")),
          ("budgetSpread", .text("0")),
        ])
      ),
      (
        "system",
        .mapping([
          ("endsOnUse", .text("false")), ("cpuLimit", .text("60 s")), ("onBattery", .text("1")),
          ("useLimit", .text("30 d")),
        ])
      ),
    ], [("battery", .mapping([])), ("thermal", .mapping([]))])
}

extension Form where Value == FleetGroupSettings {
  /// A group's settings, filled from a profile where `profile` names one.
  public static var fleetGroup: Form {
    let plain = Form.settings()
    return Form(
      shape: plain.shape, expected: plain.expected,
      read: { node, reader in
        guard let name = node["profile"], case .scalar(let text, _) = name.content else {
          return reader.read(FleetGroupSettings.self, from: node)
        }
        guard let profile = FleetProfile.standard.first(where: { $0.name == text }) else {
          let known = FleetProfile.standard.map(\.name)
          let nearest = Spelling.nearest(to: text, among: known)
          reader.within("profile") {
            $0.report(
              .unknownName(text, seam: "profile", nearest: nearest, known: known), at: name.place)
          }
          return reader.read(FleetGroupSettings.self, from: node)
        }
        let filled = node.filled(from: profile.settings, deeply: true)
        return reader.read(FleetGroupSettings.self, from: filled)
      }, write: { $0.resolved })
  }
}

extension Node {
  /// This mapping with the keys of another that it lacks, within its own mappings too if `deeply`.
  func filled(from other: Node, deeply: Bool) -> Node {
    guard case .mapping(let own) = content, case .mapping(let given) = other.content else {
      return self
    }
    let filled = own.map { entry -> Entry in
      guard deeply, let other = given.first(where: { $0.key == entry.key }) else { return entry }
      return Entry(
        key: entry.key, place: entry.place,
        value: entry.value.filled(from: other.value, deeply: true))
    }
    return Node(
      .mapping(filled + given.filter { entry in !own.contains { $0.key == entry.key } }),
      at: place)
  }
}
