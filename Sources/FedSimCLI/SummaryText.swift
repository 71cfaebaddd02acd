import Foundation
import Runs

/// The end of `fedsim run`, for a person.
struct SummaryText {
  private let summary: RunSummary
  private let command: String
  private let source: ScenarioArguments?

  /// The summary of a run of a scenario by a command; nil: one that was resumed.
  init(_ summary: RunSummary, command: String, source: ScenarioArguments?) {
    self.summary = summary
    self.command = command
    self.source = source
  }

  /// Some lines.
  var text: String { lines.joined(separator: "\n") }

  /// Whether devices train for rounds.
  private var isOfRounds: Bool { summary.central?.hasTrainers ?? true }

  private var lines: [String] {
    var lines = [headline] + central
    if isOfRounds, let best = summary.bestAccuracy, let version = summary.bestVersion {
      lines.append("  best accuracy      \(Format.fixed(best, 4)) (version \(version))")
    }
    if isOfRounds, let best = summary.bestRMSE, let version = summary.bestVersion {
      lines.append("  lowest RMSE        \(Format.significant(best, 4)) (version \(version))")
    }
    lines.append(
      "  simulated          \(Format.time(summary.simulatedSeconds)), "
        + "\(Format.count(summary.devices, "device")), \(Format.count(summary.rounds, "round"))")
    if let quiet = summary.quietSeconds {
      lines.append(
        "  last version       \(Format.time(summary.simulatedSeconds - quiet)), and none in the "
          + "\(Format.time(quiet)) after it: see `report` and `explain`")
    }
    lines.append(
      "  sessions           \(tally("sessions")), including opened apps; not eligible "
        + tally("ineligibleSessions"))
    if let central = summary.central {
      lines.append("  uploads            failed \(Format.count(central.failedUploads))")
    }
    if !isOfRounds { return lines + end }
    lines.append(
      "  trainings          expired \(tally("expiredTrainings")), checkpointed "
        + "\(tally("checkpoints")), resumed \(tally("resumed"))")
    lines.append("  updates            waited offline \(tally("waitedOffline"))")
    return lines + end
  }

  /// The ledgers, the speed, the result and what to do next.
  private var end: [String] {
    var lines: [String] = []
    if !summary.standstill.isEmpty {
      lines.append(
        summary.version == 0 ? "no version was published: \(obstacle)" : "no progress was possible")
      lines += summary.standstill.map { "  " + $0 }
    }
    if let notice = summary.divergence { lines.append(notice) }
    if let notice = summary.missedEvents { lines.append(notice) }
    let isRight = summary.ledgers.allSatisfy { $0.balances }
    lines.append("ledgers (\(isRight ? "they balance" : "THEY DO NOT BALANCE"))")
    lines += summary.ledgers.map(ledger)
    let speed = Format.count(Int(summary.eventsPerSecond))
    lines.append(
      "\(tally("events")) events in \(Format.fixed(summary.wallSeconds, 2)) s (\(speed) a second)")
    lines.append("result: \(summary.result)")
    lines.append("look:   \(quoted(command)) report \(quoted(summary.result))")
    if let source, !source.isStandardInput { lines.append("next: \(next(source))") }
    return lines
  }

  /// A line for each model that the server trained.
  private var central: [String] {
    (summary.central?.models ?? []).map { model in
      let name = "model \(model.name) ".padding(
        toLength: max(19, model.name.count + 7), withPad: " ", startingAt: 0)
      guard model.version > 0 else { return "  \(name)no version" }
      let score =
        model.rmse.map { "RMSE \(Format.significant($0, 4))" }
        ?? "accuracy " + (model.accuracy.map { Format.fixed($0, 4) } ?? "not known")
      return
        "  \(name)\(score)\(model.isOwn ? " on users' local samples" : "") at version "
        + "\(model.version), of \(Format.count(model.samples, "sample")) of "
        + Format.count(model.users, "user")
    }
  }

  /// The first thing that is missing on the way to a version.
  private var obstacle: String {
    let ledgers = summary.ledgers.map(\.opened)
    if let central = summary.central, central.models.allSatisfy({ $0.version == 0 }) {
      return "the server trained nothing; see fleet[].collection and server.central"
    }
    if summary.tally("sessions") == 0 {
      return "no device was ever allowed to run; see fleet[].background"
    }
    if ledgers[0] == 0 { return "no device started a training" }
    if ledgers[1] == 0 { return "no training produced an update; see fleet[].interruption" }
    let updates = Format.count(ledgers[1])
    return "the server aggregated none of \(updates) updates; see server.trigger"
  }

  private var headline: String {
    if !summary.learns {
      return "\(summary.scenario): version \(summary.version), simulated without learning"
    }
    if !isOfRounds { return "\(summary.scenario): trained at the server on collected data" }
    if let error = summary.rmse {
      return
        "\(summary.scenario): central RMSE \(Format.significant(error, 4)) at version "
        + "\(summary.version)"
    }
    let accuracy = summary.accuracy.map { Format.fixed($0, 4) } ?? "not known"
    return "\(summary.scenario): central accuracy \(accuracy) at version \(summary.version)"
  }

  private func ledger(_ ledger: RunSummary.LedgerTotals) -> String {
    let name = ledger.name.padding(toLength: 18, withPad: " ", startingAt: 0)
    let outcomes = ledger.outcomes.map { "\($0.name) \(Format.count($0.count))" }
    let sum = outcomes.isEmpty ? "" : " = " + outcomes.joined(separator: " + ")
    return "  \(name) \(Format.count(ledger.opened))\(sum)"
  }

  private func tally(_ name: String) -> String { Format.count(summary.tally(name)) }

  /// The same fleet in another random world: that of the next seed that has no result yet.
  private func next(_ source: ScenarioArguments) -> String {
    var stem = summary.result.hasSuffix(".h5") ? String(summary.result.dropLast(3)) : summary.result
    if stem.hasSuffix("-seed\(summary.seed)") { stem.removeLast("-seed\(summary.seed)".count) }
    var seed = summary.seed &+ 1
    while FileManager.default.fileExists(atPath: "\(stem)-seed\(seed).h5") { seed &+= 1 }
    var words = [command, "run", source.file]
    for text in source.set where !text.hasPrefix("seed=") { words += ["--set", text] }
    words += ["--seed", "\(seed)", "--output", "\(stem)-seed\(seed).h5"]
    return words.map(quoted).joined(separator: " ")
  }

  private func quoted(_ word: String) -> String {
    let plain = word.allSatisfy { $0.isLetter || $0.isNumber || "/._-+=:,".contains($0) }
    return plain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }
}

extension RunSummary {
  /// What to say where the stored events are not all that happened; nil: they are, or nobody asked.
  var missedEvents: String? {
    guard let events = storedEvents, events.missed > 0 else { return nil }
    return "only the first \(Format.count(events.stored)) events are stored, and "
      + "\(Format.count(events.missed)) more did not fit (record.eventLimit)"
  }

  /// The summary as JSON.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("a summary holds numbers and texts only")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
