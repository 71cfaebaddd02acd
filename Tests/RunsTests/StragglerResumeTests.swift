import Foundation
import Results
import Runs
import Scenarios
import Testing

/// FedProx's rule for partial work in a run that is interrupted and resumed.
@Suite("Stragglers in a resumed run")
struct StragglerResumeTests {
  /// Rounds of six of ten phones, of which half do one to three of four epochs.
  private static let text = """
    name: stragglers
    seed: 3
    stop: {rounds: 12}
    task:
      data:
        source: {blobs: {classes: 3, features: 5, train: 200, test: 60, spread: 1}}
        partition: {iid: {clients: 10}}
      model: softmax
      training: {epochs: 4, batchSize: 5, optimizer: {sgd: 0.1}, algorithm: {fedprox: 0.1}}
    fleet:
      - name: phones
        count: 10
        background: {windows: {fixed: open}}
        participation: {repeats: true, pause: 1 s}
        outbox: {capacity: 0}
        compute: {perBatch: 1 s, spread: 0.5}
    server:
      policy: synchronous-fedavg
      selector: {uniform: {cohort: 6, minimumWaiting: 10}}
      trigger: {cohort-complete: {}}
      stragglers: {share: 0.5, epochs: 3}

    """

  private func run(
    _ folder: Folder, _ overrides: [String], _ calls: FileCalls = .system
  ) throws -> Run {
    let scenario = try Scenario(text: Self.text, file: "stragglers.yaml", overrides: overrides)
    var run = Run(scenario, output: folder("r.h5"))
    run.safety.checkpoints = .rounds(1)
    run.safety.calls = calls
    return run
  }

  private func bytes(_ folder: Folder) throws -> Data {
    try Data(contentsOf: URL(filePath: folder("r.h5")))
  }

  @Test(
    "Interrupted anywhere and resumed, it has the same bytes",
    arguments: [false, true])
  func resumed(drop: Bool) throws {
    let overrides = ["server.stragglers.drop=\(drop)"]
    let (folder, counting) = (try Folder(), FailingCalls())
    _ = try run(folder, overrides, counting.calls).perform()
    let whole = try bytes(folder)
    for share in [0.3, 0.5, 0.7, 0.9] {
      let folder = try FailingCalls.interrupt(at: share, of: counting.count) {
        try run($0, overrides, $1)
      }
      #expect(!folder.names.contains("r.h5"))
      _ = try Run.resuming(folder("r.h5")).perform()
      #expect(try bytes(folder) == whole, "at \(share) of the calls")
    }
    // The rule changes what is learned: the comparison is not of runs without stragglers.
    let other = try Folder()
    _ = try run(other, ["server.stragglers.share=0"]).perform()
    let losses = try [folder, other].map {
      try #require(ResultFile.read($0("r.h5")).numbers("versions/centralLoss"))
    }
    #expect(losses[0].count == 13 && losses[0] != losses[1])
  }
}
