import ArgumentParser
import Foundation
import Runs
import Scenarios
import Sweeps

/// `fedsim published`.
struct PublishedCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "published",
    abstract: "Play a published experiment, and compare its figures with ours.",
    discussion: """
      Without a name it lists the experiments of scenarios/published, with the time that each \
      took. With a name it plays the sweep and prints the table; the same command again \
      continues an interrupted sweep. Folders with a README.md alone describe what other commands \
      play. docs/published.md has all tables.
      """)

  @Argument(help: "The experiment, a folder of scenarios/published; absent: list them.")
  var name: String?

  @Flag(help: "Play the short form: fewer rounds and seeds; nothing is stored.")
  var short = false

  @Flag(help: "Store ours in the experiment's folder, and add a line to the log.")
  var store = false

  @Flag(help: "Write the page of all stored tables to standard output.")
  var page = false

  @Flag(help: "Write the figure of what is stored to standard output; play nothing.")
  var figure = false

  @Option(
    help: ArgumentHelp("The folder of experiments.", valueName: "folder"), completion: .directory)
  var folder = "scenarios/published"

  @Option(
    help: ArgumentHelp("The log that --store adds to.", valueName: "file"), completion: .file())
  var log = "docs/published-log.csv"

  @OptionGroup var play: SweepPlayArguments

  func validate() throws {
    if short, store { throw ValidationError("--store: a short form is not stored") }
    if page, name != nil { throw ValidationError("--page: writes all experiments; give no name") }
    if figure, name == nil { throw ValidationError("--figure: name an experiment") }
    if figure, short || store { throw ValidationError("--figure: nothing is played or stored") }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let all = try PublishedExperiment.all(in: folder)
      guard let name else {
        if page { Output.out(PublishedPage(all, log: PublishedLog(log)).text) } else { list(all) }
        return 0
      }
      guard let found = all.first(where: { $0.name == name }) else {
        let nearest = SpellingSuggestion.word(to: name, among: all.map(\.name))
        Output.error(
          "there is no experiment `\(name)` in \(folder); "
            + (nearest.map { "did you mean `\($0)`?" }
              ?? "there are: \(all.map(\.name).joined(separator: ", "))"))
        return 2
      }
      guard found.isPlayed else {
        Output.error(
          "\(found.path) has no sweep.yaml, so there is nothing to play here; "
            + "\(found.path)/README.md names the commands that play it")
        return 2
      }
      if figure {
        Output.out(found.figure)
        return 0
      }
      return try play(found, registry)
    } catch {
      return Output.report(error)
    }
  }

  private func list(_ all: [PublishedExperiment]) {
    let log = PublishedLog(log)
    for experiment in all {
      guard experiment.isPlayed else {
        Output.out("\(experiment.name): described in \(experiment.path)/README.md, no sweep")
        continue
      }
      let minutes = log.minutes(of: experiment.name).map { "\($0) min" } ?? "not timed"
      let played = experiment.rows.count { !$0.ours.isEmpty }
      Output.out(
        "\(experiment.name): \(played) of \(experiment.rows.count) rows played, \(minutes)")
    }
  }

  private func play(
    _ found: PublishedExperiment, _ registry: Registry
  ) throws(RunFailure) -> Int32 {
    var experiment = found
    let overrides = short ? experiment.shortForm : []
    let scenario = try Run.scenario(
      experiment.sweepPath, overrides: overrides, registry: registry)
    var options = RunOptions()
    Environment.set(&options)
    let output = "results/published/\(experiment.name)\(short ? "-short" : "")"
    let begin = SweepPreparation(scenario, output: output, store: nil, options: options)
    let begun = try begin.begin()
    let start = Date()
    let code = try play.play(begun.folder)
    let minutes = Date().timeIntervalSince(start) / 60
    guard code == 0 else { return code }
    try experiment.take(from: begun.folder)
    try experiment.write(to: begun.folder)
    Output.out(experiment.table)
    Output.out("figure: \(begun.folder.path)/published.svg")
    guard store else { return 0 }
    try experiment.store()
    let seeds = experiment.rows.map(\.ours.count).max() ?? 0
    guard PublishedLog.append(experiment.name, seeds: seeds, minutes: minutes, to: log) else {
      Output.error("\(log): cannot be written")
      return 3
    }
    return 0
  }
}

/// The log of stretches: experiment, seeds, minutes, commit.
struct PublishedLog {
  private let lines: [[String]]

  /// The log of a file; empty where there is none.
  init(_ path: String) {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    lines = text.split(separator: "\n").dropFirst().map { line in
      line.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    }
  }

  /// The minutes of all stretches of the last commit that played an experiment, in tenths.
  func minutes(of name: String) -> String? {
    let own = lines.filter { $0.count == 4 && $0[0] == name }
    guard let last = own.last else { return nil }
    let total = own.filter { $0[3] == last[3] }.reduce(0) { $0 + (Double($1[2]) ?? 0) }
    return "\((total * 10).rounded() / 10)"
  }

  /// The commit that played an experiment last.
  func commit(of name: String) -> String? { lines.last { $0.count == 4 && $0[0] == name }?[3] }

  /// Adds a line; false where the file cannot be written.
  static func append(_ name: String, seeds: Int, minutes: Double, to path: String) -> Bool {
    let head = "experiment,seeds,minutes,commit\n"
    let before = (try? String(contentsOfFile: path, encoding: .utf8)) ?? head
    let shown = (minutes * 100).rounded() / 100
    let line = "\(name),\(seeds),\(shown),\(Self.commitNow)\n"
    return (try? (before + line).write(toFile: path, atomically: true, encoding: .utf8)) != nil
  }

  /// The commit of the working folder; the program's version outside of a repository.
  private static var commitNow: String {
    let git = Process()
    git.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    git.arguments = ["git", "rev-parse", "--short=10", "HEAD"]
    let pipe = Pipe()
    git.standardOutput = pipe
    git.standardError = FileHandle.nullDevice
    guard (try? git.run()) != nil else { return FedSimVersion.current }
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    git.waitUntilExit()
    let name = text.split(separator: "\n").first.map { String($0) } ?? ""
    return name.isEmpty ? FedSimVersion.current : name
  }
}

/// docs/published.md: the tables of all experiments.
struct PublishedPage {
  private let experiments: [PublishedExperiment]
  private let log: PublishedLog

  init(_ experiments: [PublishedExperiment], log: PublishedLog) {
    (self.experiments, self.log) = (experiments, log)
  }

  var text: String {
    var text = """
      # Published results, and ours

      `fedsim published --page` writes this page from `scenarios/published/*/ours.csv`. A row agrees
      where the published figure and the mean of ours are at most two deviations apart; the
      deviation is the root of the sum of both variances. Each folder's README.md says what differs
      from the paper; the paragraphs below are its verdict.

      """
    for experiment in experiments {
      text += "\n## \(experiment.title)\n\n"
      let link = "[Source and differences](../\(experiment.path)/README.md).\n"
      let verdict = experiment.verdict.isEmpty ? "" : "\n\(experiment.verdict)\n"
      guard experiment.isPlayed else {
        text += link + verdict
        continue
      }
      text += "`fedsim published \(experiment.name)`"
      let (minutes, commit) = (
        log.minutes(of: experiment.name), log.commit(of: experiment.name)
      )
      if let minutes, let commit {
        text += ", commit `\(commit)`, \(minutes) min on the machine of the log"
      }
      text += ".\n" + link + verdict + "\n" + experiment.table
    }
    return text
  }
}
