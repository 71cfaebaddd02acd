// Plays a scenario and prints, as JSON, how long making it and playing it took; no result is written.
//
//   fedsim-play FILE [--counts] [--save] [--set key=value]…
//
// With --counts every event is looked at, which takes longer, and counted by what it is. With --save the run is saved
// and restored once, half way, and the duration is printed.
import FedSim
import Foundation
import Runs
import Scenarios
import Schema

/// Counts events by what they are.
final class Counts: Observer {
  var series = [Int](repeating: 0, count: Series.allCases.count)
  var taskStarts = 0
  var wantsEveryEvent: Bool { true }

  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    if case .world(let what, _, _) = event { series[Int(what.rawValue)] += 1 }
    if case .taskStart = event { taskStarts += 1 }
  }
}

func seconds(_ work: () throws -> Void) rethrows -> Double {
  let time = try ContinuousClock().measure(work).components
  return Double(time.seconds) + Double(time.attoseconds) * 1e-18
}

var files: [String] = []
var sets: [String] = []
var isCounted = false
var isSaved = false
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
  switch argument {
  case "--counts": isCounted = true
  case "--save": isSaved = true
  case "--set": sets.append(arguments.popFirst() ?? "")
  default: files.append(argument)
  }
}
guard files.count == 1 else {
  print("usage: fedsim-play FILE [--counts] [--save] [--set key=value]…")
  exit(2)
}
do {
  var simulation: Simulation?
  let scenario = try Scenario(contentsOf: files[0], overrides: sets)
  let made = try seconds { simulation = try scenario.makeSimulation() }
  let counts = Counts()
  var archive: [UInt8] = []
  var saving = 0.0
  var played = try seconds {
    try simulation!.run(observers: isCounted ? [counts] : []) { (run) throws in
      guard isSaved, archive.isEmpty, run.progressTime.seconds * 2 > run.end.seconds else { return }
      saving = try seconds { archive = try run.archive() }
    }
  }
  played -= saving
  let run = simulation!
  var report: [String: Any] = [
    "made": made, "played": played, "events": run.books.tallies.events,
    "skipped": run.books.tallies.cancelledEvents, "sessions": run.books.tallies.sessions,
    "devices": run.inputs.deviceCount, "aggregated": run.books.ledgers.updates[.aggregated],
    "version": run.version, "days": run.now.seconds / 86_400,
    "balances": run.audit().isEmpty,
  ]
  if isSaved, !archive.isEmpty {
    var restored: Simulation?
    report["archiveBytes"] = archive.count
    report["saved"] = saving
    report["restored"] = try seconds {
      restored = try Simulation(run.inputs, archive: archive)
    }
    restored!.run()
    report["same"] = restored!.eventDigest == run.eventDigest
  }
  if isCounted {
    report["taskStarts"] = counts.taskStarts
    for series in Series.allCases { report["\(series)"] = counts.series[Int(series.rawValue)] }
  }
  let text = try JSONSerialization.data(withJSONObject: report, options: [.sortedKeys])
  print(String(decoding: text, as: UTF8.self))
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(2)
}
