import FedSim
import Learning
import Schema
import Testing

/// A phone that runs in some windows, and keeps what it has done at their ends.
private func phone(
  _ name: String, _ windows: [[Int64]], _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> FleetGroupSettings {
  .group(name, windows: windows) {
    $0.interruption.onExpiry = .checkpoint
    $0.participation.retrain = .newVersions
    change(&$0)
  }
}

private func offline(from begin: Int64) -> Choice<any TimelineSource> {
  .states("offline", in: [begin...100_000_000], otherwise: "wifi")
}

/// Eight phones, each with its own fate; two updates make a version.
private func fates() -> Scene {
  var scene = Scene(fleet: [
    // Cut off after two of four batches; it continues in the second hour, from 3,702.020 on.
    phone("cut", [[0, 6_340, 9_000], [3_700_000, 3_730_000, 3_731_000]]),
    // Its check is still being sent.
    phone("early", [[0, 500, 1_500]]),
    phone("offline", [[0, 10_000, 11_000]]) { $0.link = offline(from: 0) },
    // It is accepted at 2.020; its link is gone before its download is asked for, at 3.020.
    phone("lost", [[0, 10_000, 11_000]]) { $0.link = offline(from: 2_500) },
    phone("discarding", [[0, 6_340, 9_000]]) { $0.interruption.onExpiry = .discard },
    // Its update is made at 8.340 and never sent.
    phone("waiting", [[0, 30_000, 31_000]]) {
      $0.link = offline(from: 8_000)
      $0.outbox.capacity = 5
    },
    phone("dropping", [[0, 30_000, 31_000]]) {
      $0.link = offline(from: 8_000)
      $0.outbox.capacity = 0
    },
    phone("whole", [[0, 30_000, 31_000]]),
  ])
  scene.threshold(2)
  return scene
}

@Suite("What the funnel loses")
struct FunnelLossTests {
  /// A line for each stage that some did not reach, and each reason.
  private func losses(_ simulation: Simulation) -> [String] {
    let losses = simulation.participations.losses
    return zip(Stage.allCases, Stage.allCases.dropFirst()).flatMap { stage, next in
      FunnelLoss.names.indices.filter { losses[stage, $0] > 0 }
        .map { "\(next) \(FunnelLoss.names[$0]) \(losses[stage, $0])" }
    }
  }

  @Test("Each participation that comes no further is lost for one reason")
  func reasons() {
    let simulation = fates().play().simulation
    // Nine sessions. Two never reach the server, one has no model, two are cut off, one update is
    // dropped and one is never sent.
    #expect(
      Stage.allCases.map { stage in
        simulation.participations.hours.reduce(0) { $0 + $1[stage] }
      } == [9, 7, 7, 6, 4, 2, 2, 2])
    #expect(
      losses(simulation) == [
        "checkedIn expired 2", "started unreachable 1", "trained checkpointed 1",
        "trained expired 1", "delivered unfinishedAtEnd 1", "delivered dropped 1",
      ])
  }

  @Test("A run that ends in the middle says what is in progress")
  func middle() {
    // At 5 s five phones train, one has lost its link, one waits for a link, and one is gone.
    var scene = fates()
    scene.inputs.stop.after = .seconds(5)
    #expect(
      losses(scene.play().simulation) == [
        "checkedIn unfinishedAtEnd 1", "checkedIn expired 1", "started unreachable 1",
        "trained unfinishedAtEnd 5",
      ])
  }

  @Test("A session that asks again after it was accepted loses its participation")
  func askedAgain() {
    // The phone trains once, reads its receipt at 10.660, and asks again a minute later, at 70.660,
    // which is its second participation. It is accepted at 72.680 and finds no new version; its
    // window ends before it would ask a third time, at 132.680.
    var scene = Scene(fleet: [
      phone("phones", [[0, 100_000, 101_000]]) {
        $0.participation.repeats = true
        $0.participation.pause = .minutes(1)
      }
    ])
    scene.threshold(2)
    let simulation = scene.play().simulation
    #expect(simulation.participations.hours[0][.eligible] == 2)
    #expect(losses(simulation) == ["started nothingNew 1", "aggregated unfinishedAtEnd 1"])
  }

  @Test("Interruptions are counted by hour and group")
  func hours() {
    let hours = fates().play().simulation.books.hours
    func counts(_ count: FleetHours.Count) -> [[Int]] {
      (0..<2).map { hour in (0..<8).map { hours[hour, $0, count] } }
    }
    let nobody = [0, 0, 0, 0, 0, 0, 0, 0]
    // Cut off: the first phone and the fifth, which saves nothing.
    #expect(counts(.expiredTrainings) == [[1, 0, 0, 0, 1, 0, 0, 0], nobody])
    #expect(counts(.checkpoints) == [[1, 0, 0, 0, 0, 0, 0, 0], nobody])
    #expect(counts(.resumed) == [nobody, [1, 0, 0, 0, 0, 0, 0, 0]])
    // What is dropped at once has not waited.
    #expect(counts(.waitedOffline) == [[0, 0, 0, 0, 0, 1, 0, 0], nobody])
    #expect(hours.total(.expiredTrainings) == 2)
  }
}
