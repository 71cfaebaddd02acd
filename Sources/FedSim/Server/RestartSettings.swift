import Numerics
import Schema

/// When the server's process stops and is started again, and what it finds then.
public struct RestartSettings: PartSettings {
  /// Given times after the start of the run.
  public var at: [SimDuration] = []
  /// At each whole multiple of this; nil: at none.
  public var every: SimDuration?
  /// The mean time from one random restart to the next; nil: there is none.
  public var meanInterval: SimDuration?
  /// How long it is down each time.
  public var downFor = SimDuration.seconds(10)
  /// Whether updates that wait are kept where a restart leaves them.
  public var keepsPending = false

  public init() {}
  public static var fields: [Field<RestartSettings>] {
    [
      Field(
        "at", \.at, .list(of: .duration(atLeast: .milliseconds(1))),
        "Times after the start of the run at which the process stops"),
      Field(
        "every", \.every, feature: .duration(atLeast: .milliseconds(1)),
        "The process stops at each whole multiple of this; absent: at none"),
      Field(
        "meanInterval", \.meanInterval, feature: .duration(atLeast: .seconds(1)),
        "Mean time from one random stop to the next, exponential, keyed by the world's seed; "
          + "absent: no random stops"),
      Field(
        "downFor", \.downFor, .duration(atLeast: .milliseconds(1)), assumption: true,
        "Time until the process is back"),
      Field(
        "keepsPending", \.keepsPending, .flag,
        "Updates that wait are stored and are there after a restart; else they are lost"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if at.isEmpty, every == nil, meanInterval == nil {
      return [("at", "no restart is named: give `at`, `every` or `meanInterval`")]
    }
    if let every, every <= downFor {
      return [("every", "the process would stop again before it is back (`downFor`)")]
    }
    return []
  }
}

/// What a server's process does besides serving devices.
struct ProcessSettings: Sendable {
  var modelInUse: ModelInUseSettings?
  var restarts: RestartSettings?
}

extension ServerSettings {
  /// The model that the server uses itself; nil: it is not looked at.
  public var modelInUse: ModelInUseSettings? {
    get { process.modelInUse }
    set { process.modelInUse = newValue }
  }
  /// When its process restarts; nil: never.
  public var restarts: RestartSettings? {
    get { process.restarts }
    set { process.restarts = newValue }
  }

  /// The field of restarts, a feature that is off unless it is named.
  static var restartFields: [Field<ServerSettings>] {
    [
      Field(
        "restarts", \.restarts, feature: .settings(),
        "When the server's process restarts and loses what it has in memory; absent: never")
    ]
  }

  /// What does not go with restarts.
  var restartContradictions: [(key: String, message: String)] {
    guard let restarts else { return [] }
    if central != nil {
      return [("restarts", "restarts are not played for a server that trains (`central`)")]
    }
    let isOfRounds = selector.value.rules?.acceptsLate == false || selector.value.cycles != nil
    if restarts.keepsPending, isOfRounds {
      return [
        (
          "restarts",
          "`keepsPending` has no effect with the selector `\(selector.name)`: an update belongs to"
            + " its round, and a restart ends the round"
        )
      ]
    }
    return []
  }
}
