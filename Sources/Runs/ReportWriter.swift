import Analysis
import FedSim
import Foundation
import Results
import Scenarios
import Schema

/// Pages and figures made of result files.
public struct ReportWriter: Sendable {
  /// What is made of the results.
  public let report: Report
  /// What to say of results that are not as FedSim wrote them.
  public let warnings: [String]

  /// Reads the results; `references` are NAME=FILE.
  ///
  /// Throws: `RunFailure.input` for files that are no results, and for two that are of one policy
  /// and one seed, all of them at once.
  public init(_ results: [String], references: [String] = []) throws(RunFailure) {
    var faults: [Fault] = []
    var alterations: [(path: String, words: String)] = []
    func read(_ path: String) -> ReportRun? {
      do throws(RunFailure) {
        let (run, alteration) = try Self.run(at: path)
        if let alteration { alterations.append((path, alteration)) }
        return run
      } catch {
        if case .input(let found) = error { faults += found }
        return nil
      }
    }
    var runs: [ReportRun] = []
    for run in results.compactMap(read) {
      if let other = runs.first(where: { $0.isOfOneRun(with: run) }) {
        let words = [run, other].compactMap { run in
          alterations.first { $0.path == run.path }?.words
        }
        faults.append(Self.repetition(run, of: other, words))
      } else {
        runs.append(run)
      }
    }
    var named: [(name: String, run: ReportRun)] = []
    for text in references {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      func refuse(_ words: String) {
        faults.append(Fault(at: Place(file: "--reference"), .file(words)))
      }
      guard parts.count == 2 else {
        refuse("found `\(text)`, expected NAME=FILE, such as central=results/central.h5")
        continue
      }
      guard !named.contains(where: { $0.name == parts[0] }) else {
        refuse("the name `\(parts[0])` appears twice, expected different names")
        continue
      }
      if let run = read(parts[1]) { named.append((parts[0], run)) }
    }
    guard faults.isEmpty else { throw .input(faults) }
    warnings = alterations.map(\.words)
    report = Report(
      runs, references: named,
      columns: VersionColumn.all.filter { $0.uses.contains(.report) }.map(\.name))
  }

  /// A result, and what to say where it is not as FedSim wrote it.
  private static func run(
    at path: String
  ) throws(RunFailure) -> (run: ReportRun, alteration: String?) {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw StoredRun.refusal(path, "this is a folder; expected the result of a run")
    }
    let stored = try StoredResult(path)
    do throws(Faults) {
      let scenario = try YAMLReader.read(stored.scenarioText, file: path)
      return (ReportRun(path, stored.document, scenario: scenario), stored.alteration)
    } catch {
      throw .input(error.faults)
    }
  }

  /// Why a result cannot be counted together with another; `alterations` are what to say of those
  /// that are not as FedSim wrote them.
  private static func repetition(
    _ run: ReportRun, of other: ReportRun, _ alterations: [String]
  ) -> Fault {
    // Not by the digests in the files, which damage leaves as they were.
    let isSame = run.document.contentDigest == other.document.contentDigest
    let words =
      isSame
      ? "its content equals that of \(other.path); give each result once"
      : "it has the same policy and the same seed, \(run.seed), as \(other.path); give each seed "
        + "once: leave one result out, or give it as --reference NAME=\(run.path)"
    return Fault(
      at: Place(file: run.path),
      .file(([words] + alterations.map { "note: " + $0 }).joined(separator: "; ")))
  }

  /// Writes the page, whole or not at all.
  ///
  /// A file that is no report stays as it is.
  public func writeReport(to path: String) throws(RunFailure) {
    try Self.place(Array(report.html.utf8), at: path, replacing: Self.isReport)
  }

  /// The figures that can be had alone: their names, and what is seen on them.
  public static var plots: [(name: String, summary: String)] {
    Report.Plot.allCases.map { ($0.rawValue, $0.summary) }
  }

  /// Writes one figure: as SVG, or as PDF or PNG by librsvg's `rsvg-convert`, by the path's ending.
  public func writePlot(_ name: String, to path: String) throws(RunFailure) {
    guard let plot = Report.Plot(rawValue: name) else {
      preconditionFailure("`\(name)` is one of `plots`")
    }
    let ending = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
    guard ["svg", "pdf", "png"].contains(ending) else {
      throw StoredRun.refusal(path, "expected a path that ends in .svg, .pdf or .png")
    }
    guard let svg = report.svg(plot) else {
      let reason = report.obstacle(plot) ?? "there is nothing to show"
      throw StoredRun.refusal(
        report.runs[0].path, "there is nothing to show on `\(plot.rawValue)`: \(reason)")
    }
    let bytes = ending == "svg" ? Array(svg.utf8) : try Self.converted(svg, to: ending)
    try Self.place(bytes, at: path) { head in
      switch ending {
      case "svg": head.contains("<svg") || head.contains("<?xml")
      case "pdf": head.hasPrefix("%PDF")
      default: head.dropFirst().hasPrefix("PNG")
      }
    }
  }

  private static func isReport(_ head: String) -> Bool { head.contains("· FedSim</title>") }

  private static func place(
    _ bytes: [UInt8], at path: String, replacing isOurs: (String) -> Bool
  ) throws(RunFailure) {
    let file = try StandingFile.place(for: path, replacing: isOurs)
    do throws(ResultFault) { try file.place(bytes) } catch { throw .output(error) }
  }

  /// A figure by way of `rsvg-convert`.
  private static func converted(_ svg: String, to format: String) throws(RunFailure) -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["rsvg-convert", "--format", format, "--zoom", "2"]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
      // A figure that the program does not read leaves a broken pipe, which its exit code tells.
      try? input.fileHandleForWriting.write(contentsOf: Data(svg.utf8))
      try? input.fileHandleForWriting.close()
      let bytes = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      if process.terminationStatus == 0, !bytes.isEmpty { return Array(bytes) }
    } catch {}
    throw .failed(
      "\(format.uppercased()) needs `rsvg-convert`, which could not be run: install librsvg "
        + "(Debian: librsvg2-bin, Homebrew: librsvg), or write .svg")
  }
}
