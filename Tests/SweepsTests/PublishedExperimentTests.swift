import Foundation
import Runs
import Sweeps
import Testing

/// A folder with published figures and a sweep's table; removed by nobody: the system's own.
private func made(published: String, table: String, ours: String? = nil) throws -> String {
  let path = NSTemporaryDirectory() + "published-\(UUID().uuidString)"
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  try published.write(toFile: path + "/published.csv", atomically: true, encoding: .utf8)
  try table.write(toFile: path + "/table.csv", atomically: true, encoding: .utf8)
  try ours?.write(toFile: path + "/ours.csv", atomically: true, encoding: .utf8)
  return path
}

@Suite("Published experiments")
struct PublishedExperimentTests {
  private let table = """
    cell,variant,seed,server,alpha,accuracy
    a,0,5,"{""policy"":""x"",""y"":1}",1,0.5
    b,0,6,"{""policy"":""x"",""y"":1}",1,0.7
    c,1,6,z,2,0.35
    d,1,5,z,2,0.25
    e,2,6,z,3,0.1
    f,2,5,z,3,

    """

  @Test("Rows take the cells of their condition, quotients go seed by seed; verdicts by hand")
  func taken() throws {
    let path = try made(
      published: """
        row,where,metric,published,deviation,source
        "first, close",variant=0;alpha=1,accuracy,0.8,0.1,paper
        second,variant=1,accuracy,0.6,,paper
        quotient,variant=0 over variant=1,accuracy,,,
        one seed,variant=0 over variant=2,accuracy,,,

        """, table: table)
    var found = try PublishedExperiment(path)
    #expect(found.rows.map(\.verdict) == Array(repeating: "not played", count: 4))
    try found.take(from: SweepFolder(path))
    #expect(found.rows.map(\.ours) == [[0.5, 0.7], [0.35, 0.25], [2, 0.7 / 0.35], [0.7 / 0.1]])
    // Mean 0.6, deviation √0.02 = 0.1414; with 0.1: 0.1732, and 0.2 is 1.2 of these.
    #expect(found.rows[0].verdict == "agrees")
    // Mean 0.3, deviation 0.0707: 0.3 is 4.2 of these.
    #expect(found.rows[1].verdict == "differs by 4.2 deviations")
    #expect(found.rows[2].verdict == "no published figure")
    #expect(
      found.table.contains("| first, close | accuracy | 0.8000 ± 0.1000 | 0.6000 ± 0.1414 | 2 |"))
    try found.store()
    #expect(try PublishedExperiment(path).rows == found.rows)
  }

  @Test("A folder with a README.md alone has title and verdict, and no rows")
  func described() throws {
    let folder = NSTemporaryDirectory() + "published-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: folder + "/paper", withIntermediateDirectories: true)
    try "# A paper\n\nSource.\n\n## Verdict\n\nIt agrees.\nTwice.\n\n## More\n\nNo.\n".write(
      toFile: folder + "/paper/README.md", atomically: true, encoding: .utf8)
    let all = try PublishedExperiment.all(in: folder)
    #expect(all.map(\.name) == ["paper"])
    #expect(all[0].rows.isEmpty && !all[0].isPlayed)
    #expect(all[0].title == "A paper")
    #expect(all[0].verdict == "It agrees.\nTwice.")
    // With a sweep, the figures must be there.
    try "name: paper\n".write(
      toFile: folder + "/paper/sweep.yaml", atomically: true, encoding: .utf8)
    #expect(throws: RunFailure.self) { try PublishedExperiment.all(in: folder) }
  }

  @Test("A column, a number and a condition that are none are faults")
  func faults() throws {
    let head = "row,where,metric,published,deviation,source\n"
    let numbers = try made(published: head + "a,,accuracy,high,,\n", table: table)
    #expect(throws: RunFailure.self) { try PublishedExperiment(numbers) }
    for row in ["a,alfa=1,accuracy,,,\n", "a,alpha,accuracy,,,\n", "a,,acuracy,,,\n"] {
      let path = try made(published: head + row, table: table)
      var found = try PublishedExperiment(path)
      #expect(throws: RunFailure.self) { try found.take(from: SweepFolder(path)) }
    }
  }
}
