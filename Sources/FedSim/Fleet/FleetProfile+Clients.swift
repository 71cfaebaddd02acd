import Schema

// The clients of the automatic backend and of EdgeML, each as its document says and as its code
// reads. What is not said here is an iPhone's.
extension FleetProfile {
  /// The automatic backend's client by the words of its document: news every five minutes while the
  /// app is open and once in each task, training with and without a connection, and what could not
  /// be sent is sent when the connection returns.
  static let automaticBackend = Node.settings([
    (
      "background",
      .settings([("processing", .settings([("requiresNetworkConnectivity", .text("false"))]))])
    ),
    (
      "participation",
      .settings([
        ("pollOnActivation", .text("1")), ("pollEvery", .text("5 min")),
        ("trainsOffline", .text("true")),
      ])
    ),
    ("app", .settings([("comesWithModel", .text("true"))])),
    ("authentication", .settings([])),
  ])

  /// The same by the code in addition to the words: one look each time the app runs, nothing is
  /// tried again or kept, a token is used until its user signs in again.
  static let automaticBackendAsCoded = Node.settings([
    (
      "background",
      .settings([("processing", .settings([("requiresNetworkConnectivity", .text("true"))]))])
    ),
    ("participation", .settings([("pollOnActivation", .text("1"))])),
    ("outbox", .settings([("capacity", .text("0"))])),
    (
      "authentication",
      .settings([
        ("onUnauthorised", .text("fail")), ("refreshes", .text("false")),
        ("bootstrapsInUse", .text("true")),
      ])
    ),
  ])

  /// EdgeML's SDK with the standard configuration, as documented.
  static let edgeml = Node.settings([
    (
      "background",
      .settings([
        (
          "processing",
          .settings([
            ("earliestBegin", .text("1 h")), ("budgetMaximum", .text("300 s")),
            ("requiresNetworkConnectivity", .text("true")),
          ])
        ),
        ("refresh", .settings([("earliestBegin", .text("15 min"))])),
      ])
    ),
    (
      "participation",
      .settings([
        ("avoidsLowPower", .text("true")), ("avoidsHeat", .text("true")),
        ("externalPower", .text("true")), ("minimumBattery", .text("20")),
        ("network", .text("unmetered")), ("pollEvery", .text("1 h")),
      ])
    ),
    (
      "network",
      .settings([("requestTimeout", .text("30 s")), ("downloadTimeout", .text("300 s"))])
    ),
    (
      "outbox",
      .settings([
        ("supersedes", .text("true")), ("attempts", .text("3")), ("delay", .text("2 s")),
        ("retriesLost", .text("false")),
      ])
    ),
    ("authentication", .settings([("onUnauthorised", .text("fail"))])),
    (
      "app",
      .settings([
        ("openFor", .settings([("median", .text("36 s")), ("spread", .text("1"))])),
        ("evictedAfter", .settings([("median", .text("1 h")), ("spread", .text("1"))])),
      ])
    ),
    ("registration", .settings([("content", .text("edgeml"))])),
    (
      "heartbeats",
      .settings([
        ("afterRegistration", .text("true")), ("inRefresh", .text("true")),
        ("reportedLink", .text("actual")),
      ])
    ),
  ])

  /// The same with what README's sample and the SDK's code do otherwise.
  static let edgemlAsCoded = Node.settings([
    ("background", .settings([("refresh", .settings([("resubmit", .text("atCompletion"))]))])),
    ("app", .settings([("onRefreshExpiration", .text("ignore"))])),
    ("network", .settings([("requestTimeout", .text("60 s"))])),
    ("outbox", .settings([("flushes", .text("false"))])),
    (
      "authentication",
      .settings([("refreshes", .text("false")), ("bootstrapsInUse", .text("true"))])
    ),
    (
      "registration",
      .settings([("persists", .text("false")), ("inBackground", .text("false"))])
    ),
    (
      "heartbeats",
      .settings([
        ("afterRegistration", .text("false")), ("ignoresStatus", .text("true")),
        ("reportedLink", .text("wifi")),
      ])
    ),
  ]).filled(from: edgeml, deeply: true)
}

extension Node {
  /// A mapping of settings.
  fileprivate static func settings(_ pairs: [(String, Node)]) -> Node { .mapping(pairs) }
}
