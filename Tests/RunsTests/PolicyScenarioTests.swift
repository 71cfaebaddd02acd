import Foundation
import Testing

import FedSim
import Runs
import Scenarios
import Schema

/// The scenarios of `scenarios/policies`: one policy each, all parts together.
@Suite("Policies")
struct PolicyScenarioTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func scenarios(in folder: String) throws -> [Scenario] {
    let path = root.appendingPathComponent("scenarios/" + folder)
    return try FileManager.default.contentsOfDirectory(atPath: path.path)
      .filter { $0.hasSuffix(".yaml") }.sorted()
      .map { try Scenario(contentsOf: path.appendingPathComponent($0).path) }
  }

  /// The parts of a list such as `trigger`, those within parts, too.
  private func names(_ node: Node?) -> [String] {
    guard case .mapping(let entries) = node?.content else { return [] }
    return entries.flatMap { [$0.key] + names($0.value["of"]) }
  }

  /// What is chosen: a word, or the names of parts.
  private func words(_ node: Node?) -> [String] {
    switch node?.content {
    case .scalar(let text, _): [text]
    case .mapping(let entries): entries.map(\.key)
    default: []
    }
  }

  @Test("every part of a server's policy is in a scenario that CI runs")
  func completeness() throws {
    let all = try Self.scenarios(in: "policies") + Self.scenarios(in: "smoke")
    for (seam, key) in [
      ("aggregator", "aggregator"), ("server optimizer", "optimizer"),
      ("staleness weight", "staleness"), ("aggregation trigger", "trigger"),
      ("client selector", "selector"), ("update transform", "transforms"),
    ] {
      let used = all.flatMap { names($0.resolvedNode["server"]?[key]) }
      let foreign = ["python", ProgramSelector.name]
      for part in Registry.standard.catalog.parts(of: seam) where !foreign.contains(part.name) {
        #expect(used.contains(part.name), "\(seam) \(part.name)")
      }
    }
    let algorithms = all.flatMap { names($0.resolvedNode["task"]?["training"]?["algorithm"]) }
    for part in Registry.standard.catalog.parts(of: "local algorithm") {
      #expect(algorithms.contains(part.name), "\(part.name)")
    }
    let attacks = all.flatMap(\.settings.fleet).compactMap { $0.adversary?.attack.name }
    for part in Registry.standard.catalog.parts(of: "attack") {
      #expect(attacks.contains(part.name), "\(part.name)")
    }
  }

  /// Running statistics of a model are 0 and 1 at first.
  @Test("every policy moves running statistics of batches, but for those that stay on devices")
  func batchNormalisation() throws {
    for scenario in try Self.scenarios(in: "policies") {
      let classes = try scenario.inputs().task.train.classCount
      let changed = try Scenario(
        contentsOf: scenario.file,
        overrides: [
          "task.model={layers: [{dense: 7}, batch-normalisation, relu, {dense: \(classes)}]}",
          "stop={versions: 3, after: 1 d}",
        ])
      var simulation = try changed.makeSimulation()
      let layout = simulation.inputs.task.network.layout
      simulation.run(observers: [])
      #expect(simulation.version == 3, "\(scenario.file)")
      #expect(simulation.model.isFinite, "\(scenario.file)")
      let stays = simulation.inputs.task.algorithm.needs.personalNormalisation != nil
      for (name, start) in [("norm1.mean", 0), ("norm1.variance", 1)] as [(String, Float)] {
        let values = simulation.model.values(of: try #require(layout[name]))
        #expect(values.allSatisfy { ($0 == start) == stays }, "\(scenario.file): \(values)")
      }
    }
  }

  @Test("every preset is one of its parts by name, and is in the pages of policies")
  func presets() throws {
    let page = try ["policies", "selection", "clients"].map {
      try String(contentsOf: Self.root.appendingPathComponent("docs/\($0).md"), encoding: .utf8)
    }.joined()
    for preset in PolicyPreset.standard {
      let group: String
      if preset.name == ProgramSelector.name {
        group =
          "{name: a, count: 40, profile: flower-node}]\n"
          + "task: {flower: {samples: 1, batchSize: 1, epochs: 1}}"
      } else {
        group = "{name: a, count: 40}]"
      }
      let scenario = try Scenario(text: "fleet: [\(group)\nserver: {policy: \(preset.name)}\n")
      let server = try #require(scenario.resolvedNode["server"])
      guard case .mapping(let entries) = preset.settings.content else {
        Issue.record("\(preset.name) fills nothing")
        continue
      }
      for entry in entries {
        #expect(words(server[entry.key]) == words(entry.value), "\(preset.name): \(entry.key)")
      }
      #expect(page.contains("`\(preset.name)`"), "\(preset.name)")
    }
    for seam in [
      "aggregator", "server optimizer", "staleness weight", "aggregation trigger",
      "local algorithm", "attack", "update transform", "client selector",
    ] {
      for part in Registry.standard.catalog.parts(of: seam) {
        let isThere = page.contains("`\(part.name)`") || page.contains("`\(part.name): ")
        #expect(isThere, "\(part.name)")
      }
    }
  }

  @Test(
    "presets have the numbers of their papers and of their summaries",
    arguments: [
      ("fedavg", "trigger", "{threshold: 3, every: 30 min}"),
      ("synchronous-fedavg", "selector", "{uniform: {cohort: 10, overSelection: 1.3}}"),
      ("synchronous-fedavg", "trigger", "{cohort-complete: {}, deadline: 10 min}"),
      ("fedavgm", "optimizer", "{momentum: 0.9}"),
      ("fedtrimmedavg", "aggregator", "{trimmed-mean: 0.2}"),
      ("fedasync", "optimizer", "{mixing: 0.6}"),
      ("fedasync", "staleness", "{polynomial: 0.5}"),
      ("fedbuff", "selector", "{concurrent: 100}"), ("fedbuff", "trigger", "{buffer: 10}"),
      ("fedbuff", "staleness", "{polynomial: 0.5}"),
      ("oort", "selector", "{oort: {cohort: 10, overSelection: 1.3}}"),
      ("power-of-choice", "selector", "{power-of-choice: {cohort: 6, candidates: 12}}"),
    ] as [(String, String, String)])
  func presetNumbers(preset: String, key: String, text: String) throws {
    // What is written takes the place of the preset's value, so the numbers here decide.
    func resolved(_ more: String) throws -> String {
      let scenario = try Scenario(
        text: "fleet: [{name: a, count: 200}]\nserver: {policy: \(preset)\(more)}\n")
      return try #require(scenario.resolvedNode["server"]?[key]).yaml
    }
    #expect(try resolved("") == resolved(", \(key): \(text)"))
  }

  private static let count = (try? scenarios(in: "policies").count) ?? 0

  @Test("one result file for 1, 2 and 3 threads, lazily and eagerly", arguments: 0..<count)
  func sameBytes(index: Int) throws {
    let scenario = try Self.scenarios(in: "policies")[index]
    let folder = try Folder()
    var reference: Data?
    for (threads, isEager) in [(1, false), (2, true), (3, false), (1, true)] {
      var options = RunOptions()
      options.threads = threads
      options.compute = isEager ? .eager : .lazy
      let path = folder("\(threads)-\(isEager).h5")
      let summary = try Run(scenario, output: path, options: options).perform()
      #expect(summary.ledgers.allSatisfy { $0.balances })
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(bytes == reference ?? bytes, "\(scenario.settings.name), \(threads) threads")
      reference = bytes
    }
  }

  @Test("a wrong name says which is nearest, and a wrong pair what does not go together")
  func faults() {
    func faults(_ server: String) -> String {
      do throws(Faults) {
        _ = try Scenario(text: "fleet: [{name: a, count: 40}]\nserver: {\(server)}\n")
        return "none"
      } catch {
        return error.description
      }
    }
    #expect(faults("policy: fedbuf").contains("did you mean `fedbuff`?"))
    #expect(faults("aggregator: meadian").contains("did you mean `median`?"))
    #expect(faults("staleness: {polynomial: -1}").contains("a number from 0 to 1000"))
    #expect(faults("aggregator: {trimmed-mean: 0.5}").contains("from 0 to 0.499999"))
    #expect(
      faults("aggregator: krum, staleness: constant").contains(
        "`krum` does not use staleness weights"))
    #expect(faults("trigger: {all: {of: {threshold: 3}}}").contains("needs at least two triggers"))
    #expect(faults("trigger: all").contains("of"))
    #expect(faults("transforms: topk").contains("did you mean `top-k`?"))
    #expect(faults("aggregator: {agnostic: -1}").contains("a number from 0 to 1000"))
    #expect(faults("aggregator: {agnostic: {domains: group}}").contains("`groups`"))
    #expect(faults("transforms: {top-k: 2}").contains("a number from 0 to 1"))
    #expect(
      faults("transforms: {top-k: 0.1, random-k: 0.1}").contains(
        "both choose the parameters to send"))
    #expect(
      faults("transforms: int8, payloadFormat: json").contains("are not decimal numbers"))
    let noisy = "payload: delta, aggregator: uniform-mean, transforms: clip-norm, privacy: "
    #expect(faults(noisy + "1.1") == "none")
    #expect(faults(noisy + "{}").contains("there is no noise"))
    let six = "{cohort: 6, candidates: 12}"
    #expect(
      faults("selector: {power-of-choice: \(six)}, " + noisy + "1.1").contains("chooses by losses"))
    #expect(faults("selector: oort, " + noisy + "1.1").contains("chooses by losses"))
    let target = noisy + "{epsilon: 5, versions: 12, delta: 1e-3}, duplicates: "
    #expect(faults(target + "replace") == "none")
    #expect(faults(target + "overwrite").contains("several updates in a version"))
    #expect(faults("policy: fedprox").contains("`task.training.algorithm: fedprox`"))
    #expect(faults(noisy + "{noiseMultiplier: 1, epsilon: 3}").contains("both determine the noise"))
    #expect(faults("privacy: 1.1").contains("use `payload: delta`"))
    let drawn = "selector: {uniform: {cohort: 5, minimumWaiting: N}}, "
    let counted = noisy + "{noiseMultiplier: 1, amplification: population}"
    let all = drawn.replacingOccurrences(of: "N", with: "40")
    let some = drawn.replacingOccurrences(of: "N", with: "39")
    #expect(faults(all + counted) == "none")
    #expect(faults(some + counted).contains("`minimumWaiting: 40`"))
    #expect(faults("trigger: {first: 3}").contains("needs a selector that forms cohorts"))
    #expect(faults("trigger: {all: {of: {first: 3, every: 1 h}}}").contains("needs a selector"))
    #expect(faults("aggregator: normalised-mean, payload: weights").contains("`payload: delta`"))
  }

  @Test(
    "a layer that stays is the model's and not all of it, a label that is taken one of the data")
  func faultsOfTheModel() {
    func faults(_ overrides: String...) -> String {
      do throws(Faults) {
        let path = Self.root.appendingPathComponent("scenarios/policies/plain.yaml").path
        _ = try Scenario(contentsOf: path, overrides: overrides).makeSimulation()
        return "none"
      } catch {
        return error.description
      }
    }
    let key = "task.training.algorithm={personal-layers: "
    #expect(faults(key + "[dense2]}") == "none")
    #expect(faults(key + "[dens2]}").contains("did you mean `dense2`?"))
    #expect(
      faults(key + "[dense1, dense2]}").contains("no trained layer would be sent"))
    #expect(
      faults("task.training.algorithm=fedbn").contains(
        "the model has no trained `batch-normalisation`"))
    let model = "task.model={layers: [{dense: 5}, batch-normalisation]}"
    #expect(faults("task.training.algorithm=fedbn", model) == "none")
    #expect(
      faults("task.training.algorithm=fedbn", "server.exchange=weightsOnly", model).contains(
        "both decide what stays"))
    let only = "task.model={layers: [{dense: {units: 5, isUpdatable: false}}, batch-normalisation]}"
    #expect(
      faults("task.training.algorithm=fedbn", only).contains("no trained layer would be sent"))
    #expect(faults("task.training.algorithm={fedbn: statistics}", only) == "none")
    let single = "task.training.batchSize=1"
    #expect(
      faults(single, model).contains("needs batches of two samples or more"))
    #expect(faults(single) == "none")
    #expect(
      faults(
        single,
        "task.model={layers: [{batch-normalisation: {isUpdatable: false}}, {dense: 5}]}")
        == "none")
    let fednova = "server={policy: fednova, selector: {uniform: 8}}"
    #expect(faults(fednova, "task.training.algorithm={fedprox: 10}") == "none")
    #expect(
      faults(fednova, "task.training.algorithm={fedprox: 11}").contains("must be at most 1"))
    let noise =
      "server={payload: delta, aggregator: uniform-mean, transforms: clip-norm, privacy: 1}"
    #expect(faults(noise) == "none")
    #expect(
      faults(noise, "task.training.algorithm=scaffold").contains("buffers in addition to updates"))
    let adversary = "fleet[0].adversary={share: 0.1, attack: {label-flip: "
    #expect(faults(adversary + "{from: 4, to: 0}}}") == "none")
    #expect(faults(adversary + "{from: 5, to: 0}}}").contains("there is no class 5"))
    #expect(faults(adversary + "{from: 4}}}").contains("`from` and `to` need each other"))
  }
}
