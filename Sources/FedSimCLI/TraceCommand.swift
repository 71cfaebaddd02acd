import ArgumentParser
import Runs
import Scenarios

/// `fedsim trace`.
struct TraceCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "trace",
    abstract: "Write when a scenario's devices are plugged in, connected and in use, as traces.",
    discussion: """
      In FLASH's JSON (power, link and usage at whole seconds of local time), or one series as a \
      table of intervals; the sources `flash` and `csv` read them again. Needs none of the task's \
      data.
      """)

  @OptionGroup var source: ScenarioArguments

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "path"),
    completion: .file())
  var output: String

  @Option(help: "flash, or csv.")
  var format: Form = .flash

  @Option(help: "With csv: the series, such as power, link, usage or window.")
  var series: String?

  @Option(parsing: .unconditional, help: "Number of days; by default until the end of the run.")
  var days: Int?

  @Option(help: "Only the devices of this group.")
  var group: String?

  func validate() throws {
    if let days, !(1...100_000).contains(days) {
      throw ValidationError("--days: found \(days), expected a number from 1 to 100000")
    }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      var export = TraceExport(try source.scenario(registry))
      export.format = format == .flash ? .flash : .csv
      (export.series, export.days, export.group) = (series, days, group)
      let summary = try export.write(to: output)
      let what = format == .flash ? "messages" : "rows"
      Output.out(
        "wrote \(output): \(Format.count(summary.devices)) devices, "
          + "\(Format.count(summary.lines)) \(what), \(summary.seconds) s\n"
          + "read it with: \(hint(summary))")
      return 0
    } catch {
      return Output.report(error, nothingWas: "written")
    }
  }

  private func hint(_ summary: TraceExport.Summary) -> String {
    switch format {
    case .flash: "{flash: {file: \(output), gapPolicy: offline}} as power, link and usage"
    case .csv:
      "{csv: {file: \(output), period: \(summary.seconds) s}} as \(series ?? "a series")"
    }
  }

  /// `--format`.
  enum Form: String, ExpressibleByArgument, CaseIterable { case flash, csv }
}
