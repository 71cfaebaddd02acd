import ArgumentParser
import Runs
import Scenarios

/// `fedsim report`.
struct ReportCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Write an HTML page about one or several results.",
    discussion: """
      The page is one self-contained file: figures, tables, the assumptions, the scenario. Results \
      that differ only in their seed are combined into a median and a band; others are shown as \
      separate lines.
      """)

  @Argument(help: "Result files.", completion: .file(extensions: ["h5"]))
  var results: [String] = []

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The page; by default next to a single result, else report.html.", valueName: "path"),
    completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp(
      "A result to show as a separate line of this name, such as "
        + "always-on=results/always-on.h5; repeatable.", valueName: "name=file"))
  var reference: [String] = []

  func validate() throws {
    if results.isEmpty { throw ValidationError("found no result, expected one or several files") }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let writer = try ReportWriter(results, references: reference)
      for warning in writer.warnings { Output.error("warning: \(warning)") }
      let path = output ?? (results.count == 1 ? Self.beside(results[0]) : "report.html")
      try writer.writeReport(to: path)
      Output.out("report: \(path)")
      return 0
    } catch {
      return Output.report(error, nothingWas: "written")
    }
  }

  private static func beside(_ result: String) -> String {
    (result.hasSuffix(".h5") ? String(result.dropLast(3)) : result) + ".html"
  }
}

/// `fedsim plot`.
struct PlotCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "plot",
    abstract: "Write a single figure of one or several results.",
    usage: """
      fedsim plot RESULT… --figure NAME [--output FILE.svg|pdf|png]
      fedsim plot --list
      """)

  @Argument(help: "Result files.", completion: .file(extensions: ["h5"]))
  var results: [String] = []

  @Option(help: "Which figure; --list names them.")
  var figure: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The file: .svg, or .pdf and .png where librsvg is installed; by default NAME.svg.",
      valueName: "path"), completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp(
      "A result to show as a separate line of this name; repeatable.",
      valueName: "name=file"))
  var reference: [String] = []

  @Flag(help: "List the names of all figures.")
  var list = false

  func validate() throws {
    if list { return }
    if results.isEmpty { throw ValidationError("found no result, expected one or several files") }
    let known = ReportWriter.plots.map(\.name)
    guard let figure else {
      throw ValidationError("--figure: expected one of \(known.joined(separator: ", "))")
    }
    guard known.contains(figure) else {
      let advice =
        SpellingSuggestion.word(to: figure, among: known).map { "did you mean `\($0)`?" }
        ?? "expected one of \(known.joined(separator: ", "))"
      throw ValidationError("--figure: there is no `\(figure)`; \(advice)")
    }
  }

  func run(_ registry: Registry) -> Int32 {
    if list {
      let width = ReportWriter.plots.map(\.name.count).max() ?? 0
      for (name, summary) in ReportWriter.plots {
        let room = String(repeating: " ", count: width - name.count + 2)
        Output.out("\(name)\(room)\(summary)")
      }
      return 0
    }
    guard let figure else { return 2 }
    do throws(RunFailure) {
      let path = output ?? "\(figure).svg"
      let writer = try ReportWriter(results, references: reference)
      for warning in writer.warnings { Output.error("warning: \(warning)") }
      try writer.writePlot(figure, to: path)
      Output.out("figure: \(path)")
      return 0
    } catch {
      return Output.report(error, nothingWas: "written")
    }
  }
}
