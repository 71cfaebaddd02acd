import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim compare`.
struct CompareCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract:
      "Show where two results diverge, or which of two policies is better over several seeds.",
    usage: """
      fedsim compare A B [--no-replay] [--json]
      fedsim compare --a A1 A2 … --b B1 B2 … [--target accuracy] [--json]
      """,
    discussion: """
      Two files: reports whether they are equal; if not, the settings that differ and the first \
      hour, event, round and version that differ. Without stored events both runs are replayed to \
      find the event. Exit code 0 if the contents are equal, 1 if not.

      Several seeds: compares results in pairs with equal seeds: medians, intervals of the \
      differences, signed-rank tests, and the claims that these allow. Exit code 0.
      """)

  @Argument(help: "Two result files.", completion: .file(extensions: ["h5"]))
  var results: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Results of the first policy, one per seed.", valueName: "files"),
    completion: .file(extensions: ["h5"]))
  var a: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Results of the second policy, one per seed.", valueName: "files"),
    completion: .file(extensions: ["h5"]))
  var b: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --a and --b: accuracy for the costs to a target; by default the highest that all "
        + "runs reached.", valueName: "accuracy"))
  var target: Double?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "With --a and --b: measures to compare, of " + SeedPairs.measureNames.joined(separator: ", ")
        + ". Fewer tests need fewer seeds.", valueName: "names"))
  var measures: [String] = []

  @Option(
    parsing: .unconditional,
    help: "With --a and --b: an adjusted p-value below this allows a claim (0.05).")
  var alpha: Double?

  @Option(parsing: .unconditional, help: "With --a and --b: resamples per interval (9999).")
  var resamples: Int?

  @Flag(name: .customLong("no-replay"), help: "With two files: replay nothing.")
  var noReplay = false

  @Option(
    help: ArgumentHelp(
      "With two files: base folder of paths in the scenarios; by default each scenario's folder "
        + "when run.", valueName: "path"), completion: .file())
  var folder: String?

  @Option(
    parsing: .unconditional,
    help: "With two files: computing threads; by default one per processor.")
  var threads: Int?

  @Flag(help: "Print the answer as JSON.")
  var json = false

  private var isOfSeeds: Bool { !a.isEmpty || !b.isEmpty }

  func validate() throws {
    if isOfSeeds {
      guard results.isEmpty else {
        throw ValidationError(
          "found \(results[0]) together with --a and --b; expected two files, or --a and --b")
      }
      guard !a.isEmpty, !b.isEmpty else {
        throw ValidationError("found only --\(a.isEmpty ? "b" : "a"), expected --a and --b")
      }
    } else if results.count != 2 {
      throw ValidationError(
        "found \(results.count == 1 ? "one file" : "\(results.count) files"), expected two, or "
          + "several after --a and several after --b")
    }
    try checkMode()
    try check("--target", target ?? 0.5, 0...1)
    if let alpha, alpha <= 0 || alpha >= 1 {
      throw ValidationError("--alpha: found \(alpha), expected a number between 0 and 1")
    }
    if let resamples, !(100...1_000_000).contains(resamples) {
      throw ValidationError("--resamples: found \(resamples), expected 100 to 1000000")
    }
    try CountOption.check("threads", threads)
  }

  /// An option of the other kind of comparison would do nothing.
  private func checkMode() throws {
    let ofFiles = [
      (noReplay, "--no-replay"), (folder != nil, "--folder"), (threads != nil, "--threads"),
    ]
    let ofSeeds = [
      (target != nil, "--target"), (!measures.isEmpty, "--measures"), (alpha != nil, "--alpha"),
      (resamples != nil, "--resamples"),
    ]
    for (isGiven, name) in isOfSeeds ? ofFiles : ofSeeds where isGiven {
      throw ValidationError(
        isOfSeeds
          ? "found \(name) with --a and --b; expected it with two files only"
          : "found \(name) with two files; expected it with --a and --b only")
    }
  }

  private func check(_ name: String, _ value: Double, _ range: ClosedRange<Double>) throws {
    guard range.contains(value) else {
      throw ValidationError(
        "\(name): found \(value), expected a number from \(range.lowerBound) to "
          + "\(range.upperBound)")
    }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      if isOfSeeds {
        let pairs = try SeedPairs(
          a, b, target: target, measures: measures, alpha: alpha ?? 0.05,
          resamples: resamples ?? 9_999)
        Output.out(json ? JSONText.of(pairs) : pairs.text)
        return 0
      }
      let comparison = try Comparison(
        results[0], results[1], replays: !noReplay, folder: folder,
        options: ReplayCommand.options(threads), registry: registry)
      Output.out(json ? JSONText.of(comparison) : comparison.text)
      return comparison.isSame ? 0 : 1
    } catch {
      return Output.report(error, nothingWas: "written")
    }
  }
}

/// Answers as JSON.
enum JSONText {
  /// A value of numbers and texts; what is not finite is a text.
  static func of(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    guard let data = try? encoder.encode(value) else {
      preconditionFailure("an answer holds numbers and texts only")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
