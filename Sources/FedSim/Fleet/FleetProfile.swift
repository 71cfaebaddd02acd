import Schema

/// A kind of phone and app by its usual name: values for several keys of a fleet group at once.
public struct FleetProfile: Sendable {
  /// Its name in `profile:`.
  public let name: String
  /// One sentence on the kind of phone and app, for `fedsim list`.
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
      summary: "An iPhone with SwiftSyft's app as in its tutorial: a processing task on the "
        + "charger that stops gracefully, a worker that enrols, no outbox",
      settings: swiftsyft),
    FleetProfile(
      name: "swiftsyft-as-coded",
      summary: "SwiftSyft's app as coded: Wi-Fi and charging at the start only, a request that is "
        + "never renewed, a flag that is never cleared, tasks that are not completed, undecodable "
        + "timeouts",
      settings: group(
        background: [("processing", .mapping([("resubmit", .text("never"))]))],
        [
          (
            "participation",
            .mapping([
              ("externalPower", .text("true")), ("chargingOnly", .text("true")),
              ("network", .text("wifi")),
            ])
          ),
          (
            "app",
            .mapping([
              ("onExpiration", .text("forget")), ("resetsFlag", .text("false")),
              ("onRejection", .text("forget")),
              ("evictedAfter", .mapping([("median", .text("1 h")), ("spread", .text("1"))])),
            ])
          ),
          ("protocol", .mapping([("timeouts", .text("strictInteger"))])),
        ]
      ).filled(from: swiftsyft, deeply: true)),
    FleetProfile(
      name: "automatic-backend",
      summary:
        "An iPhone with the automatic backend's client as documented: a poll every 5 min, a token "
        + "on every call, a model from the start, training offline, updates that wait for the link",
      settings: automaticBackend.filled(from: iphone, deeply: true)),
    FleetProfile(
      name: "automatic-backend-as-coded",
      summary:
        "The automatic backend's sample as coded: one poll each time the app runs, errors ignored, "
        + "nothing stored, a token that lasts until the user signs in again",
      settings: automaticBackendAsCoded.filled(from: iphone, deeply: true)),
    FleetProfile(
      name: "edgeml",
      summary:
        "An iPhone with EdgeML's SDK as documented: no low-power mode, not too warm, charging, "
        + "20 % or plugged in, unmetered; tokens, registration, correct heartbeats",
      settings: edgeml.filled(from: iphone, deeply: true)),
    FleetProfile(
      name: "edgeml-as-coded",
      summary: "EdgeML's sample and SDK as coded: a registration in memory, answers ignored, "
        + "no expiration handler, Wi-Fi reported on any link, a cache that is never emptied",
      settings: edgemlAsCoded.filled(from: iphone, deeply: true)),
    FleetProfile(
      name: "workmanager",
      summary: "An Android phone: ten minutes for each work item on the charger",
      settings: android),
    FleetProfile(
      name: "gboard",
      summary:
        "An Android phone that trains only while idle, charging and unmetered, and aborts "
        + "otherwise",
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
      summary:
        "An app on Flower's Swift SDK as in its tutorial: one stream from the request to "
        + "the result, a fit that overwrites the app's model, evaluation without a step",
      settings: flower),
    FleetProfile(
      name: "flower-node",
      summary:
        "A SuperNode of Flower, for programs in Python (docs/flower.md): a stream whose loss is "
        + "noticed after 60 s",
      settings: .mapping([("protocol", .mapping([("keepalive", .text("60 s"))]))])
        .filled(from: flower, deeply: true)),
    FleetProfile(
      name: "flower-as-coded",
      summary: "Flower's Swift SDK as coded: replies with zero samples, no reconnection, "
        + "unknown layers skipped, hyper-parameters ignored, evaluation by training",
      settings: .mapping([
        (
          "protocol",
          .mapping([
            ("onFailure", .text("report")), ("reconnect", .text("asCoded")),
            ("skipsUnknownLayers", .text("true")), ("ignoresConfig", .text("true")),
            ("evaluation", .text("asCoded")),
          ])
        )
      ]).filled(from: flower, deeply: true)),
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

  private static let iphone = group(background: [("refresh", .mapping([]))], [])
    .filled(from: taskPhone, deeply: true)

  private static let taskPhone = group(
    background: [
      ("processing", .mapping([("requiresExternalPower", .text("true"))])),
      ("system", .mapping([("processingStarts", .mapping([]))])),
    ], [("battery", .mapping([])), ("thermal", .mapping([])), ("app", .mapping([]))])

  private static let swiftsyft = group(
    background: [],
    [
      (
        "interruption",
        .mapping([("onExpiry", .text("discard")), ("onConditionsLost", .text("ignore"))])
      ),
      ("app", .mapping([("completesEarly", .text("5 s"))])),
      ("protocol", .mapping([("timeouts", .text("honoured")), ("worker", .mapping([]))])),
      ("outbox", .mapping([("capacity", .text("0"))])),
    ]
  ).filled(from: taskPhone, deeply: true)

  private static let flower = Node.mapping([
    (
      "protocol",
      .mapping([
        ("stream", .text("true")), ("reconnect", .text("fixed")),
        ("overwritesModel", .text("true")),
      ])
    ),
    ("participation", .mapping([("repeats", .text("true")), ("pause", .text("1 s"))])),
    ("outbox", .mapping([("capacity", .text("0"))])),
  ])

  private static let android = group(
    background: [
      (
        "processing",
        .mapping([
          ("requiresExternalPower", .text("true")), ("budgetMedian", .text("10 min")),
          ("budgetSpread", .text("0")), ("idleDwell", .text("31 min")),
        ])
      ),
      (
        "system",
        .mapping([
          ("endsOnUse", .text("false")), ("cpuLimit", .text("60 s")), ("onBattery", .text("1")),
          ("useLimit", .text("30 d")), ("idleSlop", .text("5 min")),
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
        guard let name = node["profile"], !name.isNothing else {
          return reader.read(FleetGroupSettings.self, from: node)
        }
        guard case .scalar(let text, _) = name.content else {
          reader.within("profile") {
            $0.report(
              .unexpected(found: name.found, expected: "the name of a profile"), at: name.place)
          }
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
        let filled = node.filled(from: profile.settings.placed(at: name.place), deeply: true)
        return reader.read(FleetGroupSettings.self, from: filled)
      }, write: { $0.resolved })
  }
}

extension Node {
  /// Whether nothing was written.
  fileprivate var isNothing: Bool {
    if case .null = content { true } else { false }
  }

  /// This tree of a preset's values, at the place that names the preset.
  func placed(at place: Place) -> Node {
    guard case .mapping(let given) = content else { return Node(content, at: place) }
    return Node(
      .mapping(
        given.map {
          Entry(key: $0.key, place: place, value: $0.value.placed(at: place))
        }), at: place)
  }

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
