import Foundation
import Runs
import Scenarios
import Sweeps
import Testing

/// What a driver does about workers that are killed: a shell replaces one.
@Suite struct SweepDriverTests {
  /// Plays no cell in time: it places the result of the first one, none of the second, and sleeps.
  /// A look finds what was placed.
  private static let script = """
    while read -r order id; do
      if [ "$order" = play ]; then
        if [ "$id" = "$1" ]; then : > "$0/$id"; fi
        exec sleep 60
      elif [ -e "$0/$id" ]; then
        numbers=null
        for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
        do numbers="$numbers,null"; done
        printf '{"id":"%s","kind":"there","row":{"metrics":[%s],"times":[],' "$id" "$numbers"
        printf '"eventDigest":"e","contentDigest":"c","curves":[]}}\\n'
      else
        printf '{"id":"%s","kind":"missing"}\\n' "$id"
      fi
    done
    """

  /// A planned sweep of two cells in its own folder, and a driver of it.
  private struct Planned {
    let folder = NSTemporaryDirectory() + "fedsim-driver-\(UUID().uuidString)"
    let driver: SweepDriver
    var cells: [String] { driver.manifest.cells.map(\.id) }

    init(
      _ script: String = SweepDriverTests.script,
      _ change: (inout SweepDriver.Options) -> Void = { _ in }
    ) throws {
      let plan = try SweepPlan(
        Variants.sweep("sweep: {grid: {server.trigger.threshold: [1, 2]}}\n"), build: "",
        store: folder + "/store", options: RunOptions())
      try SweepFolder(folder).write(plan)
      var options = SweepDriver.Options()
      (options.jobs, options.timeout, options.retries) = (2, 2, 0)
      options.program = "/bin/sh"
      options.arguments = ["-c", script, folder, plan.manifest.cells[0].id]
      change(&options)
      driver = try SweepDriver(SweepFolder(folder), options)
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }
  }

  @Test("a cell whose worker was killed behind its result is finished, and never given up as well")
  func killedBehindResult() throws {
    let planned = try Planned()
    defer { planned.remove() }
    var news: [String: [SweepDriver.News]] = [:]
    let end = try planned.driver.run { news[$0.cell.id, default: []].append($0) }
    #expect(end == .complete)
    #expect(planned.driver.failedCount == 1)
    #expect(news[planned.cells[0]]?.map(\.kind) == [.played])
    #expect(news[planned.cells[1]]?.map(\.kind) == [.failed])
    #expect(news[planned.cells[1]]?.map(\.reason) == ["the time limit of 2 s was exceeded"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: planned.folder + "/failures")
        == ["\(planned.cells[1]).json"])
  }

  @Test("a failure that cannot be kept ends the sweep with its reason, as no bad input")
  func unkeptFailure() throws {
    let planned = try Planned()
    defer { planned.remove() }
    // A folder in the place of the file.
    let id = planned.cells[1]
    try FileManager.default.createDirectory(
      atPath: "\(planned.folder)/failures/\(id).json/full", withIntermediateDirectories: true)
    let failure = try #require(throws: RunFailure.self) { try planned.driver.run() }
    #expect(!failure.isBadInput)
    #expect(failure.description.contains("failures/\(id).json"))
    #expect(failure.description.contains("the cell failed: the time limit of 2 s was exceeded"))
  }

  @Test(
    "a result that ends its reader ends the sweep, which names it", .timeLimit(.minutes(1)))
  func deadlyResult() throws {
    let planned = try Planned("while read -r order id; do kill -KILL $$; done") {
      ($0.onlyLooks, $0.retries, $0.jobs) = (true, 1, 1)
    }
    defer { planned.remove() }
    let failure = try #require(throws: RunFailure.self) { try planned.driver.run() }
    #expect(!failure.isBadInput)
    #expect(
      failure.description
        == "\(planned.folder)/store/\(planned.cells[0]).h5: the worker was ended by signal 9 "
        + "while it was read; remove the file, and the cell is played again")
  }

  @Test("an answer that is no answer ends the sweep", .timeLimit(.minutes(1)))
  func noAnswer() throws {
    let planned = try Planned("while read -r order id; do echo '{\"id\":}'; done")
    defer { planned.remove() }
    let failure = try #require(throws: RunFailure.self) { try planned.driver.run() }
    #expect(failure.description == "a worker's answer is not understood: {\"id\":}")
  }
}
