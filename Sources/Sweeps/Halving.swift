import FedSim
import Scenarios
import Schema

/// Synchronous successive halving: which variants continue after a rung.
///
/// A rung is judged when all of its cells are over, so the same variants continue for any number of
/// workers and whatever was interrupted.
public enum Halving {
  /// The variants that continue, in the order of their numbers.
  ///
  /// `score` is a variant's metric, nil where it has none because a cell failed or was never
  /// evaluated; such variants come last, and never continue. Order: the better score first, then
  /// the lower number.
  public static func survivors(
    of variants: [Int], keep: KeptShare, prefersLower: Bool, score: (Int) -> Double?
  ) -> [Int] {
    let scored = variants.compactMap { variant -> (variant: Int, score: Double)? in
      guard let score = score(variant), !score.isNaN else { return nil }
      return (variant, prefersLower ? score : -score)
    }
    let ranked = scored.sorted { ($0.score, $0.variant) < ($1.score, $1.variant) }
    return ranked.prefix(keep.count(of: variants.count)).map(\.variant).sorted()
  }

  /// A variant's score: the mean over its replicas, added in their order; nil where one is missing.
  public static func mean(_ values: [Double?]) -> Double? {
    var sum = 0.0
    for value in values {
      guard let value, !value.isNaN else { return nil }
      sum += value
    }
    return values.isEmpty ? nil : sum / Double(values.count)
  }
}

/// What can be wrong with rungs.
enum HalvingFaults {
  static func faults(of scenario: Scenario, _ settings: SweepSettings) -> [Fault] {
    guard let halving = settings.halving else { return [] }
    var faults: [Fault] = []
    let place = scenario.writtenNode["sweep"]?["halving"]?.place ?? Place(file: scenario.file)
    func report(_ message: String, at place: Place, _ key: String) {
      faults.append(Fault(at: place, path: "sweep.halving\(key)", .contradiction(message)))
    }
    if scenario.settings.task.learning != nil {
      report("there is no accuracy without learning (`task: none`)", at: place, "")
    } else if scenario.settings.task.data.validationFraction <= 0 {
      report(
        "variants are compared by their accuracy on validation samples: give"
          + " `task.data.validationFraction`", at: place, "")
    }
    var last: StopSettings?
    for (index, rung) in halving.rungs.enumerated() {
      guard let stop = stop(scenario, rung) else { continue }
      if let last, !isLonger(stop, than: last) {
        report("this rung is not longer than the previous one", at: rung.place, ".rungs[\(index)]")
      }
      last = stop
    }
    if let last, let rung = halving.rungs.last, !isLonger(scenario.settings.stop, than: last) {
      report(
        "the last rung is not shorter than the scenario's own `stop`", at: rung.place,
        ".rungs[\(halving.rungs.count - 1)]")
    }
    return faults
  }

  private static func stop(_ scenario: Scenario, _ rung: Node) -> StopSettings? {
    let values = [VariantValue(path: "stop", place: rung.place, value: rung)]
    return (try? scenario.variant(values))?.settings.stop
  }

  /// Whether a run continues for longer: no limit is tighter, and one is wider.
  private static func isLonger(_ stop: StopSettings, than other: StopSettings) -> Bool {
    let limits: [(Int64?, Int64?)] = [
      (stop.after.microseconds, other.after.microseconds),
      (stop.rounds.map { Int64($0) }, other.rounds.map { Int64($0) }),
      (stop.versions.map { Int64($0) }, other.versions.map { Int64($0) }),
    ]
    let isTighter = limits.contains { ($0 ?? .max) < ($1 ?? .max) }
    let isWider = limits.contains { ($0 ?? .max) > ($1 ?? .max) }
    return isWider && !isTighter
  }
}
