import Schema

/// How long the server takes for a request, and how many it serves at once.
public struct ServiceSettings: PartSettings {
  /// How service times spread around their mean.
  public enum Distribution: String, CaseIterable, Sendable { case fixed, exponential }

  /// How long a request takes, on average.
  public var time = SimDuration.milliseconds(1)
  /// How service times spread.
  public var distribution = Distribution.fixed
  /// How many requests are served at once.
  public var workers = 1

  public init() {}
  public static var fields: [Field<ServiceSettings>] {
    [
      Field(
        "time", \.time, .duration(atLeast: SimDuration(microseconds: 1)), required: true,
        "Mean processing time of a request"),
      Field(
        "distribution", \.distribution, .choice,
        "Distribution of processing times: constant, or exponential"),
      Field("workers", \.workers, .integer(1...1_000_000), "Number of requests processed at once"),
    ]
  }
}
