import Schema

/// How an app's library talks with the server, its faults included.
public struct ProtocolSettings: PartSettings {
  /// What a device does with the time after which it may ask again.
  public enum Timeouts: String, CaseIterable, Sendable {
    /// It asks again as after any rejection.
    case ignored
    /// It expects a whole number and finds a text: an unknown error ends the session.
    case strictInteger
    /// It asks again then, and never where there is none; a task is completed and does not wait.
    case honoured
  }
  /// What a device does when its training throws.
  public enum OnFailure: String, CaseIterable, Sendable {
    /// It ends its session, and the server hears nothing.
    case end
    /// It sends an answer of no samples.
    case report
  }
  /// What a device does when the server tells it to disconnect and come back.
  public enum Reconnect: String, CaseIterable, Sendable {
    /// It disconnects, and never comes back while its process lives.
    case asCoded
    /// It comes back when it was asked to.
    case fixed
  }

  /// How an app evaluates a model.
  public enum Evaluation: String, CaseIterable, Sendable {
    /// It trains an epoch on its test samples, reports that training's loss, and forgets the rest.
    case asCoded
    /// It looks at the samples without a step.
    case asDocumented
  }

  /// What a device does with the time after which it may ask again.
  public var timeouts = Timeouts.honoured
  /// The shortest time between two requests of a device that was rejected.
  public var requestGap = SimDuration.minutes(1)
  /// Whether a device holds one connection while its session lives.
  public var stream = false
  /// How long the server takes to notice a stream whose link is lost.
  public var keepalive = SimDuration.seconds(1000)
  /// What a device does when its training throws.
  public var onFailure = OnFailure.end
  /// What a device does when the server tells it to disconnect and come back.
  public var reconnect = Reconnect.asCoded
  /// Whether loss and weights are looked at before an update is sent.
  public var checksFinite = false
  /// Whether the app knows the model's layout after `server.layoutChange`.
  public var knowsNewLayout = true
  /// Whether an app that does not know a layer skips it and takes the others.
  public var skipsUnknownLayers = false
  /// How a device enrols before each request for work; nil: it just asks.
  public var worker: WorkerSettings?
  /// Whether hyper-parameters that the server sends are ignored; nil: no.
  public var ignoresConfig: Bool?
  /// Whether a finished training takes the place of the device's own model, so that each round's
  /// model has to be sent; nil: no.
  public var overwritesModel: Bool?
  /// How the app evaluates a model; nil: without a step.
  public var evaluation: Evaluation?
  /// What an evaluation without a step takes, as a share of a training's step; nil: a third.
  public var evaluationShare: Double?
  /// Whether the app answers a question for its properties; nil: no.
  public var properties: Bool?

  public init() {}
  public static var fields: [Field<ProtocolSettings>] {
    [
      Field(
        "timeouts", \.timeouts, .choice,
        "Timeout of a rejection: ignored; expected as a whole number but sent as text, which is "
          + "an error (SwiftSyft); or honoured"),
      Field(
        "requestGap", \.requestGap, .duration(),
        "Minimum time between two requests of a device that was rejected with a timeout"),
      Field(
        "stream", \.stream, .flag,
        "Keep one connection while the session lives, as in Flower: between two instructions the "
          + "device waits on it; if it breaks, the server notices"),
      Field(
        "keepalive", \.keepalive, .duration(atLeast: SimDuration(microseconds: 1)),
        "Time until the server notices a stream whose link is lost"),
      Field(
        "onFailure", \.onFailure, .choice,
        "A training that throws: end the session, or send a reply with zero samples (Flower)"),
      Field(
        "reconnect", \.reconnect, .choice,
        "After an instruction to reconnect: never reconnect (Flower's Swift SDK), or reconnect"),
      Field(
        "checksFinite", \.checksFinite, .flag,
        "Check that loss and weights are finite before an update is sent"),
      Field(
        "knowsNewLayout", \.knowsNewLayout, .flag,
        "The app knows the model's layout after `server.layoutChange`"),
      Field(
        "skipsUnknownLayers", \.skipsUnknownLayers, .flag,
        "Skip an unknown layer silently (Flower's Swift SDK) instead of an error"),
      Field(
        "worker", \.worker, feature: .settings(),
        "Enrol as a new worker before each request for work, with a speed test if the server "
          + "requires one (SwiftSyft); absent: only request work"),
      Field(
        "ignoresConfig", \.ignoresConfig, feature: .flag,
        "Ignore `server.clientConfig` (Flower's iOS example); absent: no"),
      Field(
        "overwritesModel", \.overwritesModel, feature: .flag,
        "Overwrite the device's model with each finished training, so that each "
          + "round must send its model (Flower's iOS example); absent: no"),
      Field(
        "evaluation", \.evaluation, feature: .choice,
        "Evaluation: train an epoch on the test samples and report its loss (Flower's iOS "
          + "example), or evaluate without a step; absent: asDocumented"),
      Field(
        "evaluationShare", \.evaluationShare, feature: .number(0.001...1), assumption: true,
        "Duration of an evaluation without a step, as a share of a training's; absent: a third"),
      Field(
        "properties", \.properties, feature: .flag,
        "Answer a request for properties; absent: reply that there are "
          + "none, as Flower's Swift SDK does"),
    ]
  }
}

/// What a person has erased.
public enum Erasure: String, CaseIterable, Sendable, Codable {
  /// The updates, on the device and at the server.
  case files
  /// What the server remembers of the device.
  case metadata
  /// Both, and the training under way with its checkpoint.
  case all

  /// Whether updates go.
  var coversFiles: Bool { self != .metadata }
  /// Whether the server's memory of the device goes.
  var coversMetadata: Bool { self != .files }
}

/// A device that enrols as a worker before each request for work, as in PyGrid.
public struct WorkerSettings: PartSettings {
  /// Size of each of the two probes of a speed test.
  public var probeBytes: Int64 = 64_000_000
  /// A probe that takes longer than this has failed.
  public var probeTimeout = SimDuration.seconds(60)

  public init() {}
  public static var fields: [Field<WorkerSettings>] {
    [
      Field(
        "probeBytes", \.probeBytes, .bytes,
        "Size of each of the two probes of a speed test, made if the server has a "
          + "`minimumUpload` or a `minimumDownload`"),
      Field(
        "probeTimeout", \.probeTimeout, .duration(atLeast: .milliseconds(1)),
        "Time limit of a probe; then the test has failed"),
    ]
  }
}
