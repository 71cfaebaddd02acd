import Foundation
import Testing

import Results
import Runs
import Scenarios

@Suite("Trainings of cohorts that are known beforehand")
struct KnownCohortTests {
  private static let cohorts = (0..<24).map { round in
    "        - [" + (0..<8).map { "\((7 * round + 3 * $0) % 20)" }.joined(separator: ", ") + "]"
  }.joined(separator: "\n")

  /// Rounds of eight of twenty phones that go offline, stop half way and come too late: some of
  /// what is predicted does not come.
  private static let text = """
    seed: 5
    stop: {versions: 8, after: 1 d}
    task:
      data:
        source: {blobs: {classes: 5, features: 40, train: 3000, test: 300, spread: 4}}
        partition: {dirichlet-by-device: {clients: 20, alpha: 0.5}}
        validationFraction: 0.1
      model: {mlp: {hidden: [64]}}
      training: {epochs: 3, batchSize: 5, optimizer: {sgd: 0.1}}
    fleet:
      - name: phones
        count: 20
        link: {markov: [{state: wifi, mean: 2 h}, {state: offline, mean: 5 min}]}
        background:
          windows: {markov: [{state: open, mean: 40 min}, {state: closed, mean: 20 min}]}
        participation: {repeats: true, pause: 1 min}
        compute: {perBatch: 5 s, spread: 0.8}
    server:
      policy: synchronous-fedavg
      selector:
        scripted:
          cohorts:
    \(cohorts)
      trigger: {cohort-complete: {}, deadline: 30 min}

    """

  @Test(
    "files are equal whatever the threads, and computed eagerly",
    arguments: [
      [],
      ["task.training.optimizer={sgd: {learningRate: 0.1, momentum: 0.9}}"],
      ["fleet.phones.interruption={onExpiry: checkpoint, onModelMoved: rebase}"],
      ["fleet.phones.interruption={onExpiry: submitPartial}"],
      ["task.training.algorithm={personal-layers: [dense2]}"],
      ["server.transforms={clip-norm: 1, gaussian-noise: 0.01}", "server.payload=delta"],
      ["fleet.phones.adversary={share: 0.2, from: 10 min, attack: label-flip}"],
      ["task.model={layers: [{dense: 64}, relu, {dropout: 0.5}, {dense: 5}]}"],
      [
        "server.clientConfig=[{fromRound: 1, epochs: 1}, {fromRound: 4, epochs: 2, "
          + "learningRate: 0.02}]"
      ],
      ["server.aggregator=median"],
    ])
  func sameBytes(_ overrides: [String]) throws {
    let folder = try Folder()
    let scenario = try Scenario(text: Self.text, file: "s.yaml", overrides: overrides)
    func bytes(_ name: String, threads: Int, isEager: Bool = false) throws -> Data {
      var options = RunOptions()
      options.threads = threads
      if isEager { options.compute = .eager }
      let summary = try Run(scenario, output: folder(name), options: options).perform()
      #expect(summary.ledgers.allSatisfy { $0.balances })
      return try Data(contentsOf: URL(fileURLWithPath: folder(name)))
    }
    let reference = try bytes("one.h5", threads: 1)
    let document = try ResultFile.read(folder("one.h5"))
    let attempts = try #require(document.integers("ledger/attemptsOpened"))[0]
    let aggregated = try #require(document.integers("ledger/updates"))[0]
    #expect(aggregated > 10 && attempts > aggregated, "\(aggregated) of \(attempts)")
    for threads in [2, 3] {
      #expect(try bytes("threads\(threads).h5", threads: threads) == reference)
    }
    #expect(try bytes("eager.h5", threads: 2, isEager: true) == reference)
  }
}
