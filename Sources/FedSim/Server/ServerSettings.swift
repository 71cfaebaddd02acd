import Learning
import Schema

/// What the server does with a second update of one device on one version.
public enum Duplicates: String, CaseIterable, Sendable {
  /// The later one takes the earlier one's place.
  case replace
  /// Both count.
  case append
  /// The earlier one stays.
  case ignore
  /// An update that comes again takes its own place; one of another session counts in addition to
  /// it, as in PyGrid.
  case overwrite
}

/// When a device whose update waits gets the next model.
public enum Broadcast: String, CaseIterable, Sendable {
  /// When it asks: it may train the same version again.
  case onRequest
  /// When its update has been aggregated, or given up: until then its request is held.
  case afterAggregation
}

/// The in-process server.
public struct ServerSettings: PartSettings {
  /// A preset that the other keys were filled from; keys written in addition to it win.
  public var policy: String?
  /// What updates carry.
  public var payload = Payload.weights
  /// Who may train now.
  public var selector = Choice<AnySelector>(OpenSelector.self) { $0 }
  /// When it is time to aggregate; the first that says so.
  public var trigger = [
    Choice<any AggregationTrigger>(ThresholdTrigger.self) { $0 },
    Choice<any AggregationTrigger>(EveryTrigger.self) { $0 },
  ]
  /// What is done to each update, in this order, before it is aggregated.
  public var transforms: [Choice<any UpdateTransform>] = []
  /// Noise on what is aggregated, and what the versions may tell of a device; nil: neither.
  public var privacy: PrivacySettings?
  /// How many updates become one.
  public var aggregator = Choice<any Aggregator>(SampleWeightedMean.self) { $0 }
  /// How that one moves the model.
  public var optimizer = Choice<any ServerOptimizer>(ServerSGD.self) { $0 }
  /// How much an old update counts; nil: as much as a fresh one.
  public var staleness: Choice<any StalenessWeight>?
  /// How the share that old updates lose is used; nil: `absolute`.
  public var stalenessScale: StalenessScale?
  /// When a device whose update waits gets the next model; nil: `onRequest`.
  public var broadcast: Broadcast?
  /// Updates from bases older than this many versions are rejected at arrival; nil: none are.
  public var maximumStaleness: Int?
  /// What happens to a second update of one device on one version.
  public var duplicates = Duplicates.replace
  /// When devices reach the server.
  public var reachable = Choice<any TimelineSource>.always("up")
  /// When the server reaches the internet, as its connectivity probe finds it.
  public var internet = Choice<any TimelineSource>.always("up")
  /// How often the server probes its connection.
  public var connectivityProbe = SimDuration.seconds(60)
  /// Size of a parameter on the wire.
  public var bytesPerParameter = 4
  /// Size of a request or answer without parameters.
  public var messageBytes: Int64 = 500
  /// How parameters are written on the wire; nil: `bytesPerParameter` each.
  public var payloadFormat: PayloadFormatSettings?
  /// Sizes of messages one by one; nil: `messageBytes` each.
  public var messages: MessageSettings?
  /// How long an aggregation takes; nil: no time.
  public var aggregationTime: AggregationTimeSettings?
  /// What its own process does besides: the model that it uses, and its restarts.
  var process = ProcessSettings()
  /// What the server does with updates that come while the server believes itself offline; nil:
  /// they wait.
  public var whileOffline: WhileOffline?
  /// How tokens are issued and judged; nil: as by default.
  public var authentication: TokenSettings?
  /// What is made of heartbeats; nil: what is by default.
  public var presence: PresenceSettings?
  /// How long requests take; nil: none.
  public var service: ServiceSettings?
  /// A change of the model's layout in the middle of the run; nil: none.
  public var layoutChange: LayoutChange?
  /// Which tensors updates carry; nil: all that are trained.
  public var exchange: ExchangedTensors?
  /// Where version 0 comes from; nil: the server has it.
  public var initialModel: InitialModel?
  /// How much of its work a device does.
  var work = WorkSettings()
  /// Evaluation on the devices after each round; nil: none.
  public var evaluation: ClientEvaluationSettings?
  /// What the server asks of devices that connect, and when it wants them back.
  public var reception = ReceptionSettings()
  /// Training at the server on what devices collect; nil: none.
  public var central: CentralSettings?

  public init() {}
  public static var fields: [Field<ServerSettings>] {
    [
      Field(
        "policy", \.policy, optional: .policy,
        "A preset that fills the keys below; a key given here replaces the preset's whole value"),
      Field("payload", \.payload, .choice, "What updates contain: trained weights, or differences"),
      Field("selector", \.selector, .part(.clientSelector), "Which devices may train?"),
      Field(
        "trigger", \.trigger, .parts(.aggregationTrigger),
        "When does the server aggregate? The first trigger that fires decides"),
      Field(
        "transforms", \.transforms, .parts(.updateTransform),
        "How is each update changed, in this order, before aggregation?"),
      Field("aggregator", \.aggregator, .part(.aggregator), "How are updates combined?"),
      Field(
        "optimizer", \.optimizer, .part(.serverOptimizer),
        "How does the server apply the combined update?"),
      Field(
        "maximumStaleness", \.maximumStaleness, optional: .integer(0...1_000_000),
        "Maximum staleness of an arriving update, in versions; older ones are rejected; absent: "
          + "no limit"
      ),
      Field(
        "duplicates", \.duplicates, .choice,
        "What happens to a device's second update on a version while its first one waits"),
      Field("reachable", \.reachable, .timeline(.server), "When devices reach the server"),
      Field(
        "internet", \.internet, .timeline(.server),
        "When the server has internet access, as found by its connectivity probe"),
      Field(
        "connectivityProbe", \.connectivityProbe, .duration(atLeast: .milliseconds(1)),
        "Interval of the server's connectivity probes"),
      Field(
        "bytesPerParameter", \.bytesPerParameter, .integer(1...64),
        "Size of a parameter on the wire (float32: 4; decimal JSON: about 17)"),
      Field(
        "messageBytes", \.messageBytes, .bytes,
        "Size of a request or an answer without parameters"),
      Field(
        "service", \.service, feature: .settings(),
        "Processing time of a request; absent: no time, for any number of requests at once"),
      Field(
        "layoutChange", \.layoutChange, feature: .settings(),
        "A layer added from a version on; apps that do not know the layer cannot decode the model"),
      Field(
        "central", \.central, feature: .settings(),
        "Training at the server on the files of groups with `collection`; absent: none"),
    ] + stalenessFields + privacyFields + instructionFields + wireFields + aggregationFields
      + identityFields + restartFields + retryFields
  }
  /// Whether updates have to keep what their training started from.
  var needsBases: Bool {
    payload == .delta || !transforms.isEmpty || aggregator.value.needs.contains(.bases)
  }

  public func contradictions() -> [(key: String, message: String)] {
    if trigger.isEmpty { return [("trigger", "without a trigger the server never aggregates")] }
    if !selector.value.formsCohorts,
      let name = trigger.first(where: { $0.value.needs.contains(.cohorts) })?.name
    {
      return [("trigger", "`\(name)` needs a selector that forms cohorts, such as `uniform`")]
    }
    if selector.value.cycles == nil,
      let name = trigger.first(where: { $0.value.needs.contains(.cycles) })?.name
    {
      return [("trigger", "`\(name)` needs the selector `cycles`")]
    }
    if aggregator.value.needs.contains(.differences), payload != .delta {
      return [
        ("aggregator", "`\(aggregator.name)` combines differences: it needs `payload: delta`")
      ]
    }
    if payloadFormat != nil, bytesPerParameter != 4 {
      return [("payloadFormat", "`payloadFormat` and `bytesPerParameter` both determine sizes")]
    }
    return stalenessContradictions + optimizerContradictions + transformContradictions
      + privacyContradictions + instructionContradictions + restartContradictions
      + retryContradictions
  }
}
