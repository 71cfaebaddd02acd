/// The outcome of a check of one scenario.
public struct ScenarioReport: Codable, Equatable, Sendable {
  /// The verdict on a scenario.
  public enum Status: String, Codable, Sendable {
    /// All that was claimed and recorded holds.
    case holds
    /// Something does not.
    case broken
    /// It was recorded, for the first time or again.
    case recorded
    /// It cannot be played: something in it, or in a file that it names, is wrong.
    case badInput
    /// The run itself failed.
    case failed
  }

  /// The outcome of the recording.
  public struct Recording: Codable, Equatable, Sendable {
    /// The path of the recording.
    public var file: String
    /// Whether the run is the recorded one.
    public var isSame: Bool
    /// Whether there was none before.
    public var isNew = false
    /// Whether it was written.
    public var isWritten = false
    /// Where the run differs, the first place of each kind.
    public var findings: [BaselineFinding]
    /// What else is not as it was recorded; it breaks nothing.
    public var notes: [String]
  }

  /// The scenario's file.
  public var path: String
  /// Whether the scenario keeps its claims and its recording.
  public var status: Status
  /// The outcome of each claim.
  public var claims: [ClaimVerdict] = []
  /// The outcome of the recording; nil: there is none.
  public var baseline: Recording?
  /// What is wrong, where it could not be played.
  public var faults: [String] = []
  /// Seconds by the wall clock.
  public var seconds = 0.0

  /// What a person reads: one line, and more where something is broken.
  public var text: String {
    let broken = claims.filter { !$0.holds }
    var lines: [String] = []
    switch status {
    case .holds:
      lines.append("ok        \(path)  (\(what))")
    case .broken:
      lines.append("BROKEN    \(path)")
    case .recorded:
      lines.append("recorded  \(baseline?.file ?? path)\(baseline?.isNew == true ? "  (new)" : "")")
    case .badInput:
      lines.append("BAD INPUT \(path)")
    case .failed:
      lines.append("FAILED    \(path)")
    }
    lines += faults.map { "  \($0)" }
    lines += broken.map { "  \($0.text)" }
    if status == .broken, let baseline, baseline.isWritten {
      lines.append("  recorded despite this in \(baseline.file)\(baseline.isNew ? "  (new)" : "")")
    }
    if let baseline, !baseline.isNew, !baseline.isSame || status != .holds {
      if isOther(baseline) {
        lines.append("  this run differs from the recording \(baseline.file):")
      }
      lines += baseline.findings.map { "    \($0.text)" } + baseline.notes.map { "    \($0)" }
      if isOther(baseline) {
        lines.append("    if this is intended: fedsim check --record \(path)")
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Whether the run is another than the recorded one, and stays so.
  private func isOther(_ baseline: Recording) -> Bool { !baseline.isSame && !baseline.isWritten }

  private var what: String {
    var parts: [String] = []
    if !claims.isEmpty { parts.append(Words.count(claims.count, "assertion")) }
    if let baseline {
      parts.append(
        baseline.isWritten ? "as recorded; written again" : "as recorded")
      if !baseline.notes.isEmpty { parts.append(contentsOf: baseline.notes) }
    }
    return parts.joined(separator: ", ")
  }
}

/// The outcome of a check.
public struct CheckReport: Codable, Equatable, Sendable {
  /// The scenarios that were checked, in their order.
  public var scenarios: [ScenarioReport]
  /// Scenarios in folders that have neither claims nor a baseline.
  public var unchecked: [String]

  /// How many had a given outcome.
  public func count(_ status: ScenarioReport.Status) -> Int {
    scenarios.count { $0.status == status }
  }

  /// 0: all holds, 1: something is broken, 2: bad input, 3: a run failed; the highest.
  public var exitCode: Int32 {
    if count(.failed) > 0 { return 3 }
    if count(.badInput) > 0 { return 2 }
    return scenarios.contains { $0.status == .broken || $0.claims.contains { !$0.holds } } ? 1 : 0
  }

  /// The last line.
  public var summary: String {
    var parts = ["\(Words.count(scenarios.count, "scenario")): \(count(.holds)) hold"]
    if count(.recorded) > 0 { parts.append("\(count(.recorded)) recorded") }
    if count(.broken) > 0 { parts.append("\(count(.broken)) broken") }
    if count(.badInput) > 0 { parts.append("\(count(.badInput)) with bad input") }
    if count(.failed) > 0 { parts.append("\(count(.failed)) failed") }
    if !unchecked.isEmpty {
      parts.append("\(unchecked.count) more have neither assertions nor a recording")
    }
    return parts.joined(separator: ", ")
  }
}
