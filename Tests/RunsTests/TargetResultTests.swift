import DataSets
import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios
import Schema

/// Runs that learn numbers, and tokens, from the files to the result.
@Suite("Numbers and tokens as targets in a result file")
struct TargetResultTests {
  private struct Stop: Error {}

  /// A regression, or tokens.
  enum Kind: CaseIterable { case numbers, tokens }

  /// A result of a regression with all that is recorded of it.
  static func everything() throws -> ResultDocument {
    let tests = TargetResultTests()
    return try tests.ownSamples(try tests.regression())
  }

  private func ownSamples(_ folder: Folder) throws -> ResultDocument {
    let rows = (0..<8).map { "\($0),\(3 * $0)\n" }.joined()
    try folder.write("x,y\n" + rows, to: "train.csv")
    return try play(
      folder,
      [
        "task.data.partition={iid: {clients: 2}}", "task.data.validationFraction=0.5",
        "fleet.phones.count=2", "server.trigger={threshold: 2}", "record.federatedEvaluation=1",
        "record.updates=true",
      ])
  }

  /// A folder with a regression: y = 2x + 1 from (1, 3) and (2, 5); tested on (1, 3) and (2, 4).
  private func regression() throws -> Folder {
    let folder = try Folder()
    try folder.write("x,y\n1,3\n2,5\n", to: "train.csv")
    try folder.write("x,y\n1,3\n2,4\n", to: "test.csv")
    try folder.writeBytes(
      NPZ.bytes(of: [
        ("dense1.weight", NPYArray(shape: [1, 1], floats: [0])),
        ("dense1.bias", NPYArray(shape: [1], floats: [0])),
      ]), as: "start.npz")
    try folder.write(
      """
      name: line
      stop: {versions: 1, after: 8 d}
      task:
        data:
          source: {csv: {train: train.csv, test: test.csv, targets: [y]}}
          partition: {iid: {clients: 1}}
        model: softmax
        initialWeights: start.npz
        training: {loss: mean-squared-error, batchSize: 2, optimizer: {sgd: 0.1}}
      fleet:
        - name: phones
          count: 1
          background: {processing: {earliestBegin: 2 h, budgetMedian: 4 min}}
      server: {trigger: {threshold: 1}}
      record: {evaluateEvery: {versions: 1}}
      expect:
        - {at: {version: 0}, centralRMSE: {atLeast: 3.535, atMost: 3.536}}
        - {centralRMSE: {atMost: 0.765}}

      """, to: "s.yaml")
    return folder
  }

  private func play(_ folder: Folder, _ overrides: [String] = []) throws -> ResultDocument {
    let scenario = try Scenario(contentsOf: folder("s.yaml"), overrides: overrides)
    var simulation = try scenario.makeSimulation()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    return recorder.document(simulation, of: scenario)
  }

  @Test("a step of a regression is the one worked out by hand, and so is its RMSE")
  func regressionByHand() throws {
    let document = try play(try regression())
    // From w = b = 0: errors −3 and −5, so the loss is 17, ∂w = (−3·1 − 5·2) = −13 and ∂b = −8.
    // At a rate of 0.1 w = 1.3 and b = 0.8: 2.1 for 3, and 3.4 for 4.
    let errors = try #require(document.numbers("versions/centralRMSE"))
    try #require(errors.count == 2)
    #expect(abs(errors[0] - 12.5.squareRoot()) < 1e-6)
    #expect(abs(errors[1] - 0.585.squareRoot()) < 1e-6)
    let losses = try #require(document.numbers("versions/trainingLoss"))
    #expect(abs(losses[1] - 17) < 1e-5)
    #expect(abs(try #require(document.numbers("versions/centralLoss"))[1] - 0.585) < 1e-6)
    for name in [
      "versions/centralAccuracy", "versions/centralValidationAccuracy",
      "versions/validationAccuracy", "versions/heldAccuracy", "devices/heldAccuracy",
      "partition/label", "partition/labelHistogram", "versions/labelShare",
    ] {
      #expect(document.variable(name) == nil, "\(name)")
    }
    #expect(document.integers("partition/samples") == [2])
    let held = try #require(document.numbers("devices/heldRMSE"))
    #expect(errors.contains(held[0]))
  }

  @Test("devices' own samples have an RMSE, too")
  func ownSamples() throws {
    let document = try ownSamples(try regression())
    let all = try #require(document.numbers("versions/centralValidationRMSE"))
    try #require(all.count == 2)
    let bySamples = try #require(document.numbers("versions/federatedRMSEBySamples"))
    #expect(abs(all[0] - bySamples[0]) < 1e-9 && abs(all[1] - bySamples[1]) < 1e-9)
    let own = try #require(document.numbers("devices/federatedRMSE"))
    #expect(own.count == 2)
    let worst = try #require(document.numbers("versions/federatedRMSEWorstTenth"))
    let best = try #require(document.numbers("versions/federatedRMSEBestTenth"))
    #expect(worst[1] == own.max() && best[1] == own.min())
    #expect(try #require(document.numbers("versions/validationRMSE"))[1].isFinite)
    #expect(document.variable("versions/federatedAccuracy") == nil)
    #expect(document.variable("updates/validationAccuracy") == nil)
  }

  @Test("claims, the summary and a comparison tell of the RMSE")
  func told() throws {
    let folder = try regression()
    let scenario = try Scenario(contentsOf: folder("s.yaml"))
    let summary = try Run(scenario, output: folder("r.h5")).perform()
    #expect(summary.accuracy == nil && summary.bestAccuracy == nil && summary.bestVersion == 1)
    #expect(abs(try #require(summary.rmse) - 0.585.squareRoot()) < 1e-6)
    let claims = try #require(summary.claims)
    #expect(claims.count == 2 && claims.allSatisfy(\.holds), "\(claims)")
  }

  // MARK: Tokens

  /// Tokens of which 0 is padding and 3 is out of vocabulary; all logits are 0 but token 2's.
  private func language() throws -> Folder {
    let folder = try Folder()
    let train = NPYArray(shape: [2, 4], values: .int32([1, 2, 1, 2, 2, 1, 0, 0]))
    let test = NPYArray(shape: [2, 4], values: .int32([1, 2, 3, 0, 2, 2, 1, 0]))
    try folder.writeBytes(NPZ.bytes(of: [("x_train", train), ("x_test", test)]), as: "text.npz")
    try folder.writeBytes(
      NPZ.bytes(of: [
        ("embedding1.weight", NPYArray(shape: [4, 2], floats: Array(repeating: 0, count: 8))),
        ("dense1.weight", NPYArray(shape: [2, 4], floats: Array(repeating: 0, count: 8))),
        ("dense1.bias", NPYArray(shape: [4], floats: [0, 0, Float(1.0986122886681098), 0])),
      ]), as: "start.npz")
    try folder.write(
      """
      name: words
      stop: {versions: 3, after: 8 d}
      task:
        data:
          source:
            npz:
              path: text.npz
              targets: {kind: next-token, padding: 0, outOfVocabulary: 3}
          partition: {iid: {clients: 1}}
        model:
          layers: [{embedding: {count: 4, width: 2}}, {dense: {units: 4, eachPlace: true}}]
        initialWeights: start.npz
        training: {batchSize: 2, optimizer: {sgd: 0.5}}
      fleet:
        - name: phones
          count: 1
          background: {processing: {earliestBegin: 2 h, budgetMedian: 4 min}}
      server: {trigger: {threshold: 1}}
      record: {evaluateEvery: {versions: 1}}

      """, to: "s.yaml")
    return folder
  }

  @Test("accuracy without padding and without out-of-vocabulary tokens is the one by hand")
  func tokensByHand() throws {
    let document = try play(try language())
    // Labels are 2 3 – and 2 1 –: of 2, 2 and 1 two are right. The shares are 1/2 for token 2 and
    // 1/6 for others: (ln 2 + ln 6 + ln 2 + ln 6)/4.
    let accuracies = try #require(document.numbers("versions/centralAccuracy"))
    try #require(accuracies.count == 4)
    #expect(accuracies[0] == 2.0 / 3)
    let losses = try #require(document.numbers("versions/centralLoss"))
    #expect(abs(losses[0] - 1.2424533248940002) < 1e-6)
    // Trained on 2 1 2 and 1 – –: (2 ln 2 + 2 ln 6)/4 as well.
    let trained = try #require(document.numbers("versions/trainingLoss"))
    #expect(abs(trained[1] - 1.2424533248940002) < 1e-6)
    #expect(document.variable("versions/centralRMSE") == nil)
    #expect(document.variable("partition/labelHistogram") == nil)
    #expect(try #require(document.numbers("versions/heldAccuracy")).contains(2.0 / 3))
  }

  @Test("a run that is saved and resumed gives the same result", arguments: Kind.allCases)
  func resumed(kind: Kind) throws {
    let folder = kind == .numbers ? try regression() : try language()
    let more = ["stop={versions: 4, after: 8 d}", "record.federatedEvaluation=2"]
    let scenario = try Scenario(contentsOf: folder("s.yaml"), overrides: more)
    let whole = try play(folder, more)
    var first = try scenario.makeSimulation()
    let recorder = RunRecorder()
    var saved: (run: [UInt8], recorder: [UInt8])?
    do {
      try first.run(observers: [recorder], every: 1) { run in
        guard run.version == 2 else { return }
        saved = (try run.archive(), try recorder.archive())
        throw Stop()
      }
    } catch is Stop {}
    let kept = try #require(saved)
    let next = RunRecorder()
    var rest = try Simulation(scenario.makeSimulation().inputs, archive: kept.run)
    try next.restore(kept.recorder)
    rest.run(observers: [next])
    #expect(next.document(rest, of: scenario).contentDigest == whole.contentDigest)
  }
}

extension Folder {
  fileprivate func writeBytes(_ bytes: [UInt8], as name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: self(name)))
  }
}
