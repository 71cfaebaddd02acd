import Analysis
import Foundation
import Results
import Schema

/// Pages and figures made of result files.
public struct Looking: Sendable {
  /// What is made of the results.
  public let report: Report

  /// Reads the results; `references` are NAME=FILE.
  ///
  /// Throws: `RunFailure.input` for files that are no results, all of them at once.
  public init(_ results: [String], references: [String] = []) throws(RunFailure) {
    var faults: [Fault] = []
    func read(_ path: String) -> ReportRun? {
      do throws(RunFailure) {
        return ReportRun(path, try Self.document(at: path))
      } catch {
        if case .input(let found) = error { faults += found }
        return nil
      }
    }
    let runs = results.compactMap(read)
    var named: [(name: String, run: ReportRun)] = []
    for text in references {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        faults.append(
          Fault(
            at: Place(file: "--reference"),
            .file("found `\(text)`, expected NAME=FILE, such as central=results/central.h5")))
        continue
      }
      if let run = read(parts[1]) { named.append((parts[0], run)) }
    }
    guard faults.isEmpty else { throw .input(faults) }
    report = Report(runs, references: named)
  }

  private static func document(at path: String) throws(RunFailure) -> ResultDocument {
    guard FileManager.default.fileExists(atPath: path) else {
      throw StoredRun.refusal(path, "there is no such file; expected the result of a run")
    }
    let document: ResultDocument
    do throws(ResultFault) {
      document = try ResultFile.read(path)
    } catch {
      throw StoredRun.refusal(path, "this is no result of FedSim (\(error))")
    }
    guard case .text(ResultDocument.conventions)? = document.root[attribute: "Conventions"] else {
      throw StoredRun.refusal(path, "this is an HDF5 file, and no result of FedSim")
    }
    return document
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
      throw StoredRun.refusal(
        report.runs[0].path,
        "there is nothing to show on `\(plot.rawValue)`: the results do not hold what it is made of"
      )
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
    if let file = FileHandle(forReadingAtPath: path) {
      let head = (try? file.read(upToCount: 1024)) ?? nil
      try? file.close()
      guard let head, head.isEmpty || isOurs(String(decoding: head, as: UTF8.self)) else {
        throw StoredRun.refusal(path, "there is a file of another kind, which stays as it is")
      }
    }
    do throws(ResultFault) {
      try PlacedFile(path).place(bytes)
    } catch {
      throw .output(error)
    }
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
