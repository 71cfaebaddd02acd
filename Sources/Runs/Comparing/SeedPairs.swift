import Analysis
import FedSim
import Results
import Scenarios
import Schema

/// The results of two policies, in pairs of one seed.
public struct SeedPairs: Codable, Equatable, Sendable {
  /// The result of the pairs.
  public var comparison: SeedComparison
  /// Settings in which the two policies differ.
  public var settings: [DocumentComparison.Difference]
  /// Seeds that only the first policy was run with; they do not count.
  public var onlyA: [UInt64]
  /// Seeds that only the second was run with; they do not count.
  public var onlyB: [UInt64]
  /// Measures that were asked for and that no pair has on both sides.
  public var unknown: [Measure]
  /// What to keep in mind: files that were changed, other versions or data.
  public var warnings: [String]

  /// Reads and compares results; the order of the files does not matter.
  ///
  /// Throws: `RunFailure.input` for a file that is no result, two of one seed, runs of one side
  /// that are not of one policy, sides that have no seed in common, and a measure that there is
  /// not. `measures` by name; none: all.
  public init(
    _ a: [String], _ b: [String], target: Double? = nil, measures names: [String] = [],
    alpha: Double = 0.05, resamples: Int = 9_999
  ) throws(RunFailure) {
    let measures = try Self.measures(names)
    let sides = (try Side(a), try Side(b))
    let common = sides.0.runs.compactMap { run in
      sides.1.runs.contains { $0.seed == run.seed } ? run.seed : nil
    }
    guard !common.isEmpty else {
      throw .input([
        Fault(
          at: Place(file: "--b"),
          .contradiction(
            "no seed is on both sides: --a has \(Self.list(sides.0.runs.map(\.seed))), --b has "
              + "\(Self.list(sides.1.runs.map(\.seed))); a pair is two runs of one seed"))
      ])
    }
    func paired(_ side: Side) -> [MeasuredRun] { side.runs.filter { common.contains($0.seed) } }
    comparison = SeedComparison(
      paired(sides.0), paired(sides.1), target: target, measures: measures, alpha: alpha,
      bootstrap: Bootstrap(.bca, resamples: resamples))
    settings = SettingDifferences.between(sides.0.policy, sides.1.policy)
    onlyA = sides.0.runs.map(\.seed).filter { !common.contains($0) }
    onlyB = sides.1.runs.map(\.seed).filter { !common.contains($0) }
    let known = comparison.lines.map(\.measure)
    unknown = measures.filter { !known.contains($0) }
    warnings = sides.0.warnings + sides.1.warnings
    warnings += Self.unlike(settings, common.filter { !sides.0.hasSameWorld($0, as: sides.1) })
    let engines = Set(sides.0.engines + sides.1.engines).sorted()
    if engines.count > 1 {
      warnings.append("the results are from several versions: " + engines.joined(separator: ", "))
    }
    if settings.isEmpty { warnings.append("both sides are runs of one policy") }
  }

  /// What to say where pairs differ in more than the policy.
  private static func unlike(
    _ settings: [DocumentComparison.Difference], _ seeds: [UInt64]
  ) -> [String] {
    var warnings: [String] = []
    let others = settings.map(\.place).filter { place in
      conditions.contains { place == $0 || place.hasPrefix("\($0).") || place.hasPrefix("\($0)[") }
        && !place.hasPrefix("task.training.")
    }
    if !others.isEmpty {
      let more = others.count > 8 ? " and \(others.count - 8) more" : ""
      warnings.append(
        "the two sides differ in more than the policy, which may cause the differences found: "
          + others.prefix(8).joined(separator: ", ") + more)
    }
    if !seeds.isEmpty, others.isEmpty {
      warnings.append(
        "pairs have different sub-seeds or data on the two sides, which may cause the differences "
          + "found: seeds \(list(seeds))")
    }
    return warnings
  }

  /// Settings of what a policy is tried on.
  private static let conditions = ["task", "fleet", "stop", "start", "inject"]

  /// The names of all measures.
  public static var measureNames: [String] { Measure.allCases.map(\.rawValue) }

  private static func measures(_ names: [String]) throws(RunFailure) -> [Measure] {
    var faults: [Fault] = []
    for name in names where Measure(rawValue: name) == nil {
      faults.append(
        Fault(
          at: Place(file: "--measures"),
          .unknownName(
            name, seam: "measure", nearest: Spelling.nearest(to: name, among: measureNames),
            known: measureNames)))
    }
    guard faults.isEmpty else { throw .input(faults) }
    return names.isEmpty
      ? Measure.allCases : Measure.allCases.filter { names.contains($0.rawValue) }
  }

  /// Seeds in words.
  static func list(_ seeds: [UInt64]) -> String {
    seeds.prefix(20).map(String.init).joined(separator: ", ") + (seeds.count > 20 ? ", …" : "")
  }

  /// The results of one policy.
  private struct Side {
    let runs: [MeasuredRun]
    /// What is drawn of each seed, and from which data.
    let worlds: [(seed: UInt64, drawn: Node?, data: String?)]
    /// The settings that all of them have.
    let policy: Node
    let engines: [String]
    let warnings: [String]

    init(_ paths: [String]) throws(RunFailure) {
      var runs: [MeasuredRun] = []
      var engines: [String] = []
      var warnings: [String] = []
      var first: (path: String, policy: Node)?
      var seeds: [(seed: UInt64, path: String)] = []
      var worlds: [(seed: UInt64, drawn: Node?, data: String?)] = []
      for path in paths {
        let result = try StoredResult(path)
        guard let seed = result.seed else {
          throw StoredRun.refusal(path, "the result has no seed")
        }
        if let other = seeds.first(where: { $0.seed == seed }) {
          throw StoredRun.refusal(
            path,
            "its seed, \(seed), is also that of \(other.path); a pair has one run from each side")
        }
        let scenario: Node
        do throws(Faults) {
          scenario = try YAMLReader.read(result.scenarioText, file: path)
        } catch {
          throw .input(error.faults)
        }
        let policy = scenario.policy
        if let first {
          if let off = SettingDifferences.between(first.policy, policy).first {
            throw StoredRun.refusal(
              path,
              "it is not a run of the same policy as \(first.path): \(off.place) is "
                + "\(off.b ?? "absent") here and \(off.a ?? "absent") there")
          }
        } else {
          first = (path, policy)
        }
        if let alteration = result.alteration { warnings.append(alteration) }
        if result.document.root[attribute: "isComplete"] != nil {
          warnings.append("\(path) is incomplete: its run is still running, or was interrupted")
        }
        worlds.append((seed, scenario["seeds"], result.text(of: "dataDigest")))
        engines.append(result.engineVersion)
        seeds.append((seed, path))
        runs.append(MeasuredRun(result.document, seed: seed))
      }
      guard let first else {
        throw .input([
          Fault(
            at: .none,
            .contradiction("found no result on one side, expected at least one for each policy"))
        ])
      }
      self.runs = runs.sorted { $0.seed < $1.seed }
      self.worlds = worlds
      (policy, self.engines, self.warnings) = (first.policy, engines, warnings)
    }

    /// Whether both sides' runs of a seed draw the same from the same data.
    func hasSameWorld(_ seed: UInt64, as other: Side) -> Bool {
      guard let one = worlds.first(where: { $0.seed == seed }),
        let two = other.worlds.first(where: { $0.seed == seed }), one.data == two.data
      else { return false }
      guard let first = one.drawn, let second = two.drawn else {
        return one.drawn == nil && two.drawn == nil
      }
      return SettingDifferences.between(first, second).isEmpty
    }
  }
}
