import ArgumentParser
import FedSim
import FedSimTesting
import Foundation
import Runs
import Scenarios
import Schema

/// `fedsim conform`.
struct ConformCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "conform",
    abstract: "Check that a scenario's policy keeps what runs rely on (docs/writing-a-policy.md).",
    discussion: """
      Calls each part of the server's policy with made-up values, and plays each, then all of them \
      together, in a small world: in one piece, again, and saved and restored. The world has 16 \
      devices and lasts 12 hours; it grows to what cohorts, thresholds and timers need, up to 1000 \
      devices and 10 days. The scenario's fleet and task are not played, nor what needs them, such \
      as `server.central`. Exit code 1 where a promise is broken.
      """)

  @OptionGroup var source: ScenarioArguments

  @Option(
    help: ArgumentHelp(
      "A promise that is broken on purpose, such as symmetry; repeatable.", valueName: "promise"))
  var skip: [String] = []

  @Flag(help: "Print the findings as JSON.")
  var json = false

  func validate() throws {
    for word in skip where Check(rawValue: word) == nil {
      let known = Check.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("--skip: found `\(word)`, expected one of \(known)")
    }
  }

  private struct Line: Encodable {
    var part: String
    var promise: String
    var message: String
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      let scenario = try source.scenario(registry)
      let unplayed = Conformance.unplayed(scenario.settings.server)
      if !unplayed.isEmpty {
        let keys = unplayed.map { "`server.\($0)`" }.joined(separator: ", ")
        Output.error("\(keys): not played, for it needs the scenario's task and world")
      }
      let findings = findings(of: scenario, registry)
      if json {
        let lines = findings.map {
          Line(part: $0.part, promise: $0.check.rawValue, message: $0.message)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        Output.out(String(decoding: (try? encoder.encode(lines)) ?? Data(), as: UTF8.self))
      } else if findings.isEmpty {
        Output.out("\(source.file): the policy keeps all promises that were checked")
      } else {
        for finding in findings { Output.out(finding.description) }
      }
      return findings.isEmpty ? 0 : 1
    } catch {
      return Output.report(error, nothingWas: "checked")
    }
  }

  private func findings(of scenario: Scenario, _ registry: Registry) -> [Finding] {
    let server = scenario.settings.server
    let conformance = Conformance(skipping: skip.compactMap { Check(rawValue: $0) })
    var parts = [
      (Seam.clientSelector.name, server.selector.name, server.selector.settings),
      (Seam.aggregator.name, server.aggregator.name, server.aggregator.settings),
      (Seam.serverOptimizer.name, server.optimizer.name, server.optimizer.settings),
    ]
    parts += server.trigger.map { (Seam.aggregationTrigger.name, $0.name, $0.settings) }
    parts += server.transforms.map { (Seam.updateTransform.name, $0.name, $0.settings) }
    let findings = parts.flatMap { seam, name, settings in
      conformance.findings(
        of: name, in: seam, settings, from: registry.catalog, folder: scenario.path(of: "."))
    }
    // Parts are made again each time, as in a run that is restored by another process.
    return findings
      + conformance.findings(ofPolicy: scenario.settings.name ?? source.file) {
        (try? source.scenario(registry))?.settings.server ?? server
      }
  }
}
