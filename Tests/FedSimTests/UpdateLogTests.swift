import FedSim
import Foundation
import Learning
import Schema
import Testing

/// Every update is a version. The model says class 1 with 3/4 whatever it sees: a sample of class 1
/// costs −ln 3/4, one of class 0 −ln 1/4. Its two clients have 4 samples, classes 0 1 0 1, and 3 of
/// classes 0 1 1; to validate they have 0 0, and 0 1. One batch has all samples of a client, and
/// steps are so small that the model stays as it is.
private func scene(_ fleet: FleetGroupSettings...) -> Scene {
  let task = LearningTask.tiny(
    samples: [4, 3], batchSize: 4, rate: 1e-9, initial: [0, 0, 0, 0, 0, Float(log(3.0))],
    validation: 2)
  var scene = Scene(task, fleet: fleet)
  scene.threshold(1)
  scene.inputs.record.updates = true
  return scene
}

private func phone(
  _ name: String, from begin: Int64, _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> FleetGroupSettings {
  .group(name, windows: [[begin, begin + 30_000, begin + 31_000]]) {
    $0.participation.retrain = .newVersions
    $0.outbox.capacity = 5
    change(&$0)
  }
}

@Suite("What is recorded of each update")
struct UpdateLogTests {
  private func rows(_ scene: Scene) throws -> [UpdateLog.Row] {
    Array(try #require(scene.play().simulation.updateLog).rows)
  }

  /// Whole numbers of a row: device, base, samples, processed, round, version, staleness, bytes.
  private func numbers(_ row: UpdateLog.Row) -> [Int] {
    [
      row.device, row.base, row.samples, row.samplesProcessed, row.round, row.version,
      row.staleness,
    ].map { Int($0) } + [Int(row.bytesUp)]
  }

  @Test("Two updates that become versions: when, of what, and what they lost")
  func aggregated() throws {
    // The first phone's batch ends at 5.340, its 1,300 bytes are there at 6.650 and make version 1
    // in round 1. The second began 2 s later, with version 0 too: it is one version behind.
    let rows = try rows(scene(phone("first", from: 0), phone("second", from: 2_000)))
    try #require(rows.count == 2)
    #expect(numbers(rows[0]) == [0, 0, 4, 4, 1, 1, 0, 1300])
    #expect(numbers(rows[1]) == [1, 0, 3, 3, 2, 2, 1, 1300])
    #expect(rows.map(\.createdAt) == [ms(5_340), ms(7_340)])
    #expect(rows.map(\.receivedAt) == [ms(6_650), ms(8_650)])
    #expect(rows.map(\.outcome) == [.aggregated, .aggregated])
    // (2 · 0.287682 + 2 · 1.386294) / 4 and (2 · 0.287682 + 1.386294) / 3.
    #expect(abs(rows[0].trainingLoss - 0.836_988) < 1e-5)
    #expect(abs(rows[1].trainingLoss - 0.653_886) < 1e-5)
    #expect(rows[0].validated == (2, 0))
    #expect(rows[1].validated == (2, 1))
  }

  @Test("An update that is refused has a staleness and no version, and was never computed")
  func refused() throws {
    var scene = scene(phone("first", from: 0), phone("second", from: 2_000))
    scene.inputs.server.maximumStaleness = 0
    let row = try #require(try rows(scene).last)
    #expect(numbers(row) == [1, 0, 3, 3, -1, -1, 1, 1300])
    #expect(row.receivedAt == ms(8_650))
    #expect(row.outcome == .rejectedStale)
    #expect(row.trainingLoss.isNaN && row.validated == (0, 0))
    // It is the same where trainings are computed as they are described.
    scene.inputs.compute = .eager
    #expect(try rows(scene).last?.trainingLoss.isNaN == true)
  }

  @Test("Bytes of tries that failed count, and an update that nobody gets has none")
  func tries() throws {
    // The first phone's link goes away at 5.840, after 500 of 1,300 bytes, and is back at 6.840:
    // all is sent again until 8.140. The second's is gone before its update is made.
    let rows = try rows(
      scene(
        phone("cut", from: 0) {
          $0.link = .states("offline", in: [5_840...6_840], otherwise: "wifi")
        },
        phone("offline", from: 0) {
          $0.link = .states("offline", in: [5_000...100_000_000], otherwise: "wifi")
        }))
    try #require(rows.count == 2)
    #expect(numbers(rows[0]) == [0, 0, 4, 4, 1, 1, 0, 1800])
    #expect(rows[0].receivedAt == ms(8_150))
    #expect(numbers(rows[1]) == [1, 0, 3, 3, -1, -1, -1, 0])
    #expect(rows[1].receivedAt == .never)
    #expect(rows[1].outcome == .unfinishedAtEnd)
  }

  @Test("Nothing is kept unless it is asked for, and the events are the same")
  func off() {
    var scene = scene(phone("first", from: 0))
    let digest = scene.play().simulation.eventDigest
    scene.inputs.record.updates = nil
    let simulation = scene.play().simulation
    #expect(simulation.updateLog == nil)
    #expect(simulation.eventDigest == digest)
  }
}
