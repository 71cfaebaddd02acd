import Analysis
import Foundation
import Runs
import Schema

/// An experiment of a paper: a folder with a sweep, the published figures and ours.
///
/// `sweep.yaml` is played; `published.csv` has a row for each published figure: `row` (its name),
/// `where` (the cells of the sweep's table, such as `alpha=0;mu=1`; empty: all; `variant=2 over
/// variant=0` is a quotient), `metric` (a column
/// of that table), `published`, `deviation` (both may be empty) and `source`. `ours.csv` holds what
/// was played last; `short.txt` the overrides of the short form, a line each. A folder with a
/// README.md alone describes an experiment that other commands play: it has no rows.
public struct PublishedExperiment: Sendable {
  /// A published figure, and ours.
  public struct Row: Sendable, Equatable {
    /// What the table calls it.
    public let name: String
    /// The cells of the sweep that it is of; empty: all.
    public let condition: String
    /// A column of the sweep's table.
    public let metric: String
    /// The paper's figure; nil: it has none.
    public let published: Double?
    /// Its standard deviation, or how exactly it can be read; nil: unknown.
    public let deviation: Double?
    /// The table or figure of the paper, or the independent program.
    public let source: String
    /// Ours, one per seed, as the table has them; after `stored` their mean alone.
    public var ours: [Double] = []
    /// The mean of ours, their standard deviation (n − 1), and how many there are.
    public var summary: (mean: Double, deviation: Double, seeds: Int)? {
      guard !ours.isEmpty else { return nil }
      let deviation = ours.count > 1 ? Statistics.standardDeviation(ours) : 0
      return (Statistics.mean(ours), deviation, ours.count)
    }

    /// Whether ours and the published figure agree within two deviations; in words.
    ///
    /// The deviation is the root of the sum of both variances; a figure without one has 0.
    public var verdict: String {
      guard let summary else { return "not played" }
      guard let published else { return "no published figure" }
      let spread =
        (summary.deviation * summary.deviation + (deviation ?? 0) * (deviation ?? 0))
        .squareRoot()
      let difference = abs(summary.mean - published)
      if spread == 0 { return "no spread known" }
      return difference <= 2 * spread
        ? "agrees"
        : "differs by \(Self.text(difference / spread, digits: 1)) deviations"
    }

    /// A number with this many digits behind the point.
    static func text(_ value: Double, digits: Int = 4) -> String {
      let scale = [1.0, 10, 100, 1_000, 10_000][digits]
      guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
      let whole = (abs(value) * scale).rounded()
      let (integer, rest) = Int(whole).quotientAndRemainder(dividingBy: Int(scale))
      let fraction = String(rest)
      let zeros = String(repeating: "0", count: max(0, digits - fraction.count))
      let sign = value < 0 && whole > 0 ? "-" : ""
      return digits == 0 ? "\(sign)\(integer)" : "\(sign)\(integer).\(zeros)\(fraction)"
    }

    public static func == (a: Row, b: Row) -> Bool {
      a.name == b.name && a.condition == b.condition && a.metric == b.metric && a.ours == b.ours
    }
  }

  /// Its folder.
  public let path: String
  /// The published figures, in the file's order.
  public var rows: [Row]

  /// The folder's name.
  public var name: String { (path as NSString).lastPathComponent }
  /// Its sweep.
  public var sweepPath: String { "\(path)/sweep.yaml" }

  /// Reads the folder's published figures, and ours where they are stored.
  ///
  /// Throws: `input` where a sweep's figures are missing, a column is, or a number is none.
  public init(_ path: String) throws(RunFailure) {
    self.path = path
    rows = []
    let file = "\(path)/published.csv"
    guard isPlayed || FileManager.default.fileExists(atPath: file) else { return }
    let table = try CSVLines(file)
    for line in table.lines {
      rows.append(
        Row(
          name: try table.cell("row", line), condition: try table.cell("where", line),
          metric: try table.cell("metric", line), published: try table.number("published", line),
          deviation: try table.number("deviation", line), source: try table.cell("source", line)))
    }
    let stored = "\(path)/ours.csv"
    guard FileManager.default.fileExists(atPath: stored) else { return }
    let ours = try CSVLines(stored)
    for line in ours.lines {
      let (row, metric) = (try ours.cell("row", line), try ours.cell("metric", line))
      guard let value = try ours.number("value", line) else { continue }
      for place in rows.indices where rows[place].name == row && rows[place].metric == metric {
        rows[place].ours.append(value)
      }
    }
  }

  /// The experiments of a folder, by name: those with published figures or a README.md.
  public static func all(in folder: String) throws(RunFailure) -> [PublishedExperiment] {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    var found: [PublishedExperiment] = []
    for name in names
    where ["published.csv", "README.md"].contains(where: {
      FileManager.default.fileExists(atPath: "\(folder)/\(name)/\($0)")
    }) {
      found.append(try PublishedExperiment("\(folder)/\(name)"))
    }
    return found
  }

  /// The overrides of the short form.
  public var shortForm: [String] {
    let text = (try? String(contentsOfFile: "\(path)/short.txt", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map { String($0) }.filter { !$0.hasPrefix("#") }
  }

  /// Takes ours from a sweep's table: each row's metric of all cells that its condition names.
  ///
  /// Two conditions with ` over ` between them give quotients of the cells with the same seed.
  /// Throws: `input` where the table lacks a column of a row, or a condition is none.
  public mutating func take(from folder: SweepFolder) throws(RunFailure) {
    let table = try CSVLines(folder.tablePath)
    for place in rows.indices {
      let sides = rows[place].condition.components(separatedBy: " over ")
      let metric = rows[place].metric
      let above = try lines(of: sides[0], table)
      var values: [Double] = []
      for line in above {
        guard var value = try table.number(metric, line) else { continue }
        if sides.count > 1 {
          let seed = try table.cell("seed", line)
          var divisor: Double?
          for other in try lines(of: sides[1], table)
          where try table.cell("seed", other) == seed {
            divisor = try table.number(metric, other)
          }
          guard let divisor else { continue }
          value /= divisor
        }
        values.append(value)
      }
      rows[place].ours = values
    }
  }

  /// The lines of the cells that a condition names, in the table's order.
  private func lines(
    of condition: String, _ table: CSVLines
  ) throws(RunFailure) -> [CSVLines.Line] {
    var found: [CSVLines.Line] = []
    for line in table.lines {
      var holds = true
      for part in condition.split(separator: ";") {
        let sides = part.split(separator: "=", maxSplits: 1)
        guard sides.count == 2 else {
          throw SweepFolder.refusal(
            "\(path)/published.csv", "found the condition `\(part)`, expected column=value")
        }
        if try table.cell(String(sides[0]), line) != sides[1] { holds = false }
      }
      if holds { found.append(line) }
    }
    return found
  }
}
