import FedSim
import Foundation
import Runs
import Scenarios
import Testing

/// What `docs/device.md` says of how often an iPhone gets a processing task, played again.
@Suite("How often an iPhone gets a processing task")
struct TaskStartTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// When the tasks of each device began.
  private final class Starts: Observer {
    var times: [[SimTime]] = []
    var wantsEveryEvent: Bool { true }
    func happened(_ event: ObservedEvent) {
      guard event.kind == .sessionBegan(.task) else { return }
      while times.count <= event.device { times.append([]) }
      times[event.device].append(event.time)
    }
  }

  /// The starts in a week of a thousand phones of `scenarios/iphones.yaml`, without arithmetic.
  private func starts(_ overrides: [String] = []) throws -> [[SimTime]] {
    let scenario = try Scenario(
      contentsOf: Self.root.appendingPathComponent("scenarios/iphones.yaml").path,
      overrides: ["fleet.iphones.count=1000", "task.learning=none"] + overrides)
    var simulation = try scenario.makeSimulation()
    let starts = Starts()
    simulation.run(observers: [starts])
    return starts.times
  }

  private func gaps(_ times: [[SimTime]]) -> [Double] {
    times.flatMap { one in zip(one, one.dropFirst()).map { ($1 - $0).seconds / 3600 } }.sorted()
  }

  /// The cells of a table: tasks a phone and day, and quantiles of the hours between two of them.
  private func cells(_ times: [[SimTime]]) -> String {
    let perDay = Double(times.joined().count) / 7000
    let gaps = gaps(times)
    let quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map {
      String(format: "%.1f", gaps[Int($0 * Double(gaps.count - 1))])
    }
    return ([String(format: "%.2f", perDay)] + quantiles).joined(separator: " | ")
  }

  @Test("the page shows what is played: less than one per night, 10 h and more between two")
  func page() throws {
    let page = try String(
      contentsOf: Self.root.appendingPathComponent("docs/device.md"), encoding: .utf8)
    let times = try starts()
    #expect(gaps(times)[0] >= 10)
    for device in times { #expect(device.count <= 14) }
    let row = "| `iphones` | \(cells(times)) |\n"
    #expect(page.contains(row), "\(row)")
    let unlimited = try starts(["fleet.iphones.background.system.processingStarts=null"])
    let before = "| without the limit | \(cells(unlimited)) |\n"
    #expect(page.contains(before), "\(before)")
    // What developers report is a range, in words: no row of quantiles.
    #expect(page.contains("one task in 10 to 20 h") && !page.contains("| reported |"))
  }
}
