import FedSim
import Learning
import Schema
import Testing

/// Remembers each published model without keeping it.
private final class Models: Observer {
  private struct Weak {
    weak var model: ParameterBuffer?
  }
  private var models: [Weak] = []
  /// The most that lived at a publication, the one just published included.
  private(set) var most = 0

  /// The versions that live now.
  var living: [Int] { models.indices.filter { models[$0].model != nil } }

  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    models.append(Weak(model: simulation.model))
    most = max(most, living.count)
  }
}

/// Twelve devices, each of which trains on another version and is then offline until its next
/// window, ten minutes and more later; a thirteenth publishes a version after each of them.
///
/// Device n runs at 100 + 100n s: it checks, downloads, trains (4 batches, until 8.34 s after its
/// start) and is offline from the fifth second on, so that its update waits. The publisher runs at
/// 50 + 100n s.
private func scene(_ change: (inout Scene) -> Void = { _ in }) -> Scene {
  var fleet = (0..<12).map { place -> FleetGroupSettings in
    let start = 100_000 + 100_000 * Int64(place)
    return .group("p\(place)", windows: [[start, start + 20_000, start + 25_000]]) {
      $0.link = .states("offline", in: [start + 5_000...9_000_000], otherwise: "wifi")
      $0.outbox.capacity = 3
    }
  }
  fleet.append(
    .group(
      "publisher",
      windows: (0..<13).map { turn -> [Int64] in
        let start = 50_000 + 100_000 * Int64(turn)
        return [start, start + 40_000, start + 45_000]
      }))
  var scene = Scene(.tiny(samples: Array(repeating: 4, count: 13)), fleet: fleet)
  scene.inputs.server.payload = .weights
  scene.threshold(1)
  scene.inputs.stop.after = .seconds(2_000)
  change(&scene)
  return scene
}

private func play(_ scene: Scene) -> (simulation: Simulation, models: Models) {
  let models = Models()
  var simulation = Simulation(scene.inputs)
  simulation.run(observers: [models])
  #expect(simulation.audit() == [])
  #expect(simulation.version == 13)
  return (simulation, models)
}

@Suite("What a run holds on to")
struct MemoryTests {
  @Test("Updates that wait on devices hold on to old versions no further than the budget")
  func bases() {
    // 24 bytes a model; every device has an update of another version.
    for (bytes, most) in [(24, 1), (3 * 24, 3), (8 * 24, 8), (1 << 20, 12)] {
      let (simulation, models) = play(scene { $0.inputs.retainedBytes = bytes })
      #expect(simulation.books.tallies.waitedOffline == 12)
      // The current version, the one before it on its way, and the budget's.
      #expect(models.most <= most + 2, "\(bytes) bytes: \(models.most) versions")
      if most == 12 { #expect(models.most >= 12, "nothing is computed before it must be") }
    }
  }

  @Test("The version that a device holds goes with its session, and comes back with its next check")
  func held() {
    // Discarded trainings: nothing but the devices' own copies could hold on to a version.
    let lost = scene {
      for group in 0..<12 { $0.inputs.fleet[group].outbox.capacity = 0 }
    }
    #expect(play(lost).models.most <= 3)
    // A server that may believe itself offline has devices train what they hold: they keep it.
    var offline = lost
    offline.inputs.server.internet = .states("down", in: [1_900_000...1_950_000], otherwise: "up")
    #expect(play(offline).models.most >= 12)
  }

  @Test("A device without a copy trains the version it holds, the same bits as with one")
  func lent() {
    // One device, two windows, no version between them: it trains version 0 twice.
    func trace(_ hasOffline: Bool) -> [[Float]] {
      var scene = Scene(
        .tiny(samples: [4]),
        fleet: [.group(windows: [[0, 30_000, 31_000], [100_000, 130_000, 131_000]])])
      scene.threshold(2)
      scene.inputs.server.duplicates = .append
      if hasOffline {
        scene.inputs.server.internet = .states("down", in: [900_000...910_000], otherwise: "up")
      }
      let played = scene.play()
      #expect(
        played.story(of: 0, only: "downloaded", "trains") == [
          "4340 downloaded v0", "4340 trains v0 0/4", "102020 trains v0 0/4",
        ])
      #expect(played.tape.versions.count == 2)
      return (0...1).map(played.model)
    }
    #expect(trace(false) == trace(true))
  }

  @Test("Updates and sessions that are over leave nothing but sums, and every audit still agrees")
  func settled() {
    var scene = Scene(
      .tiny(samples: [4]),
      fleet: [
        .group(
          windows: (0..<300).map { turn -> [Int64] in
            [30_000 * Int64(turn), 30_000 * Int64(turn) + 25_000, 30_000 * Int64(turn) + 26_000]
          })
      ])
    scene.threshold(1)
    let played = scene.play()
    #expect(played.simulation.version == 300)
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 300)
    #expect(played.simulation.livingRecords == 0)
  }
}
