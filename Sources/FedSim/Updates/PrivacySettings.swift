import Learning
import Schema

/// Whether chance in the choice of devices counts for privacy.
public enum PrivacyAmplification: String, CaseIterable, Sendable {
  /// No: every version counts as if the device had been in it.
  case none
  /// Yes: cohorts are drawn from the whole fleet, all of which waits.
  case population
}

/// Noise at the server, and what is reported of it.
public struct PrivacySettings: PartSettings {
  /// The noise's deviation over the bound of updates.
  public var noiseMultiplier: Double?
  /// The ε that the noise is made for.
  public var epsilon: Double?
  /// After how many versions it is reached.
  public var versions: Int?
  /// The δ for which ε is reported.
  public var delta = 1e-5
  /// Whether chance in the choice of devices counts.
  public var amplification = PrivacyAmplification.none
  public init() {}
  public static var shorthand: String? { "noiseMultiplier" }
  public static var fields: [Field<PrivacySettings>] {
    [
      Field(
        "noiseMultiplier", \.noiseMultiplier, optional: .number(1e-6...1e6),
        "Standard deviation of the noise on the sum of updates, divided by the norm bound"),
      Field(
        "epsilon", \.epsilon, optional: .number(1e-3...1e4),
        "Target ε, from which the noise is computed; replaces a multiplier"),
      Field(
        "versions", \.versions, optional: .integer(1...10_000_000),
        "Number of versions after which `epsilon` is reached"),
      Field("delta", \.delta, .number(1e-30...0.5), "The δ for which ε is reported"),
      Field(
        "amplification", \.amplification, .choice,
        "Use amplification by sampling: population only where cohorts are drawn"
          + " from the whole fleet"),
    ]
  }

  public func contradictions() -> [(key: String, message: String)] {
    if noiseMultiplier != nil, epsilon != nil {
      return [("epsilon", "`noiseMultiplier` and `epsilon` both determine the noise")]
    }
    if noiseMultiplier == nil, epsilon == nil {
      return [("noiseMultiplier", "without this key or `epsilon` there is no noise")]
    }
    if (epsilon == nil) != (versions == nil) {
      return [("versions", "`epsilon` and `versions` need each other")]
    }
    return []
  }
}

extension ServerSettings {
  /// The field of privacy, a feature that is off unless it is named.
  static var privacyFields: [Field<ServerSettings>] {
    [
      Field(
        "privacy", \.privacy, feature: .settings(),
        "Noise on the aggregate, and an ε for each version; absent: neither")
    ]
  }

  /// What does not go with privacy.
  var privacyContradictions: [(key: String, message: String)] {
    guard let privacy else { return [] }
    func no(_ message: String) -> [(key: String, message: String)] { [("privacy", message)] }
    if payload != .delta {
      return no("noise needs sums of bounded differences: use `payload: delta`")
    }
    guard let last = transforms.last, last.value.largestNorm(told: nil) != nil else {
      return no("the last entry of `transforms` must bound norms: `clip-norm` or `adaptive-clip`")
    }
    if !aggregator.value.isPlainMean {
      return no("noise is made for `uniform-mean`, not for `\(aggregator.name)`")
    }
    if staleness != nil, stalenessScale == .normalised {
      return no("with `stalenessScale: normalised` an update may have more than full weight")
    }
    if initialModel == .client {
      return no("version 0 comes from a device and is not private")
    }
    if selector.value.needs.contains(.losses) {
      return no("`\(selector.name)` chooses by losses, which devices report without noise")
    }
    if privacy.epsilon != nil, duplicates == .append || duplicates == .overwrite {
      return no(
        "with `duplicates: \(duplicates.rawValue)` a device may have several updates in a version,"
          + " whose number is unknown to a target: give `noiseMultiplier`")
    }
    if privacy.amplification == .population, selector.value.rules?.uniformMembers == nil {
      return no("`amplification: population` needs the selector `uniform`")
    }
    for transform in transforms {
      guard let told = transform.value.asTold else { continue }
      if let multiplier = privacy.noiseMultiplier, 2 * told.reportNoise <= multiplier {
        return no(
          "the number of updates within the bound is published, too: `countNoise` of "
            + "`\(transform.name)`"
            + " must be above half of `noiseMultiplier`")
      }
      if privacy.noiseMultiplier == nil {
        return no("with `\(transform.name)` give the noise as `noiseMultiplier`")
      }
    }
    return []
  }
}
