import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim bundle`.
struct BundleCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "bundle",
    abstract: "Pack a result with all that is needed to check it on another machine.",
    discussion: """
      The bundle is one zip file with the scenario, the result, the digests of the data files that \
      the run read, the scenario's assertions, the version, and metadata as RO-Crate 1.1 \
      (docs/bundle.md). `fedsim replay BUNDLE` plays the run again and compares. Two bundles of \
      one result have the same bytes. Exit code 1: the run is not reproduced on this machine, and \
      nothing is written.
      """)

  @Argument(help: "The result file of a run.", completion: .file(extensions: ["h5"]))
  var result: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The file to write; by default RESULT with .bundle.zip in place of .h5. An earlier bundle "
        + "there is replaced.",
      valueName: "path"), completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Base folder of paths in the scenario; by default the scenario's folder at the time of the "
        + "run.",
      valueName: "path"), completion: .file())
  var folder: String?

  @Option(
    help: ArgumentHelp(
      "A scenario file whose assertions (`expect`) are packed; by default that of the run, if it "
        + "has not changed.",
      valueName: "path"), completion: .file())
  var claims: String?

  @Flag(
    help: "Do not play the run again first. Then a table of intervals may have changed unnoticed.")
  var noReplay = false

  @Option(
    parsing: .unconditional,
    help: "Computing threads; by default one per processor. No answer depends on it.")
  var threads: Int?

  @Flag(name: .shortAndLong, help: "No progress on standard error.")
  var quiet = false

  @Option(
    help: ArgumentHelp(
      "The date in the metadata, YYYY-MM-DD; by default the day of the run, by its provenance.",
      valueName: "day"))
  var date: String?

  @Option(help: ArgumentHelp("An author, for the metadata; may be repeated.", valueName: "name"))
  var author: [String] = []

  @Option(
    help: ArgumentHelp(
      "The address of the result's licence, for the metadata, such as "
        + "https://spdx.org/licenses/CC-BY-4.0.",
      valueName: "url"))
  var licence: String?

  func validate() throws {
    try CountOption.check("threads", threads)
    if let licence, !licence.hasPrefix("https://"), !licence.hasPrefix("http://") {
      throw ValidationError(
        "--licence: `\(licence)` is no address, such as https://spdx.org/licenses/CC-BY-4.0")
    }
    if author.contains(where: \.isEmpty) { throw ValidationError("--author: expected a name") }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      var bundle = ResultBundle(result)
      (bundle.folder, bundle.date, bundle.claims) = (folder, date, claims)
      (bundle.authors, bundle.licence, bundle.replays) = (author, licence, !noReplay)
      let progress = quiet || noReplay || isatty(2) == 0 ? nil : Progress(isTerminal: true)
      let outcome = try bundle.write(
        to: output ?? ResultBundle.path(for: result),
        observers: progress.map { [$0.ticker] } ?? [], options: ReplayCommand.options(threads),
        registry: registry)
      progress?.clear()
      switch outcome {
      case .different(let replay):
        Output.out(replay.text)
        Output.error("the run is not reproduced on this machine; nothing was written")
        return 1
      case .written(let summary):
        report(summary)
        return 0
      }
    } catch {
      return Output.report(error, nothingWas: "written")
    }
  }

  private func report(_ summary: ResultBundle.Summary) {
    if let warning = summary.warning { Output.error("warning: \(warning)") }
    for claim in summary.broken {
      Output.error("warning: broken: \(claim.claim): found \(claim.found)")
    }
    let files =
      switch summary.dataFiles {
      case 0: "no data files"
      case 1: "the digest of 1 data file, which is not in it: hand it over as well"
      case let count: "digests of \(count) data files, which are not in it: hand them over as well"
      }
    let claims = summary.claims == 1 ? "1 assertion" : "\(summary.claims) assertions"
    Output.out(
      "wrote \(summary.path): \(Format.count(summary.bytes)) bytes, \(claims), \(files)")
  }
}
