import FedSim
import Learning
import Schema
import Testing

/// Moments at which something is under way that an archive has to hold. Each scene is saved at the
/// first turn of its moment; the times are those of `Scene`.
@Suite("A run that is saved while something is under way")
struct ArchiveMomentTests {
  /// Plays a scene in one piece and in two, cut at the first moment that is as asked for.
  private func cut(
    _ scene: Scene, at from: Int64, _ location: SourceLocation = #_sourceLocation,
    where holds: (borrowing Simulation) -> Bool = { _ in true }
  ) throws -> Stretches {
    let whole = try Stretches(scene.inputs, stops: [])
    let parts = try Stretches(scene.inputs) { stops, run in
      stops == 0 && run.now >= ms(from) && holds(run)
    }
    #expect(parts.archives.count == 1, "the moment comes", sourceLocation: location)
    Stretches.expectSame(whole.found, parts.found, "", location)
    return parts
  }

  private func phone(
    _ windows: [[Int64]], _ change: (inout FleetGroupSettings) -> Void = { _ in }
  ) -> FleetGroupSettings {
    .group("phones", windows: windows) {
      $0.participation.retrain = .newVersions
      change(&$0)
    }
  }

  @Test("An update on its way to the server")
  func inFlight() throws {
    var scene = Scene(fleet: [phone([[0, 600_000, 605_000]])])
    scene.threshold(1)
    // It is sent from 8.340 to 9.640 and arrives at 9.650.
    let parts = try cut(scene, at: 8_340) {
      DeviceView(0, in: $0).work == .uploading && $0.now < ms(9_650)
    }
    #expect(parts.simulation.version == 1)
    // Two open links: the update with its training, and the transfer.
    #expect(parts.simulation.books.ledgers.updates[.aggregated] == 1)
  }

  @Test("A request that waits for its link, and an answer that came meanwhile")
  func gap() throws {
    // Sent by 9.640; the link is gone from 9.000, or from 9.645, on, for 2 s.
    for start in [9_000, 9_645] as [Int64] {
      var scene = Scene(
        fleet: [
          phone([[0, 600_000, 605_000]]) {
            $0.network.patience = .seconds(5)
            $0.link = .states("offline", in: [start...start + 2_000], otherwise: "wifi")
          },
          // Another phone, so that there are turns meanwhile.
          .group("others", count: 3, windows: [[0, 600_000, 605_000]]),
        ])
      scene.threshold(1)
      scene.inputs.shortcuts.playsAhead = false
      let parts = try cut(scene, at: start + 50) {
        DeviceView(0, in: $0).work == .uploading && $0.now < ms(start + 2_000)
      }
      #expect(parts.simulation.books.ledgers.transmissions[.linkLost] == 0)
      #expect(parts.simulation.books.ledgers.transmissions[.unacknowledged] == 0)
    }
  }

  @Test("An upload that the system continues with")
  func handedOver() throws {
    // The session ends at 9.000; the link is gone from 9.200 to 20.000, then it is sent again.
    var scene = Scene(
      fleet: [
        phone([[0, 9_000, 10_000]]) {
          $0.background.transfers = true
          $0.link = .states("offline", in: [9_200...20_000], otherwise: "wifi")
        },
        .group("others", count: 3, windows: [[0, 600_000, 605_000]]),
      ])
    scene.threshold(4)
    for start in [9_010, 9_210] as [Int64] {
      let parts = try cut(scene, at: start) {
        DeviceView(0, in: $0).app == nil && $0.now < ms(20_000)
      }
      // The phone's is the last of four, at 21.310.
      #expect(parts.simulation.version == 1)
    }
  }

  @Test("A checkpoint on an old base, with the version that it began from gone")
  func checkpoint() throws {
    let eight = LearningTask.tiny(samples: [8, 8])
    for moved in InterruptionSettings.OnModelMoved.allCases {
      var scene = Scene(
        eight,
        fleet: [
          phone([[0, 6_500, 9_000], [60_000, 90_000, 95_000]]) {
            $0.interruption.onExpiry = .checkpoint
            $0.interruption.onModelMoved = moved
          },
          .group("others", windows: [[0, 40_000, 45_000]]) { $0.firstClient = 1 },
        ])
      scene.threshold(1)
      // Three batches are saved at 7.340; the other phone publishes version 1 at 13.650.
      let parts = try cut(scene, at: 30_000) { $0.version == 1 && DeviceView(0, in: $0).app == nil }
      #expect(
        parts.simulation.books.tallies.checkpoints.resumed
          + parts.simulation.books.tallies.checkpoints.rebased > 0
          || moved == .restart
      )
      #expect(parts.simulation.version >= 2)
    }
  }

  @Test("An outbox without a link")
  func outbox() throws {
    var scene = Scene(
      fleet: [
        phone([[0, 60_000, 65_000], [100_000, 200_000, 205_000]]) {
          $0.outbox.capacity = 2
          $0.link = .states("offline", in: [8_000...99_000], otherwise: "wifi")
        }
      ])
    scene.threshold(1)
    let parts = try cut(scene, at: 50_000) { DeviceView(0, in: $0).outbox == 1 }
    // The one that waited is version 1, on which the phone then trains in the same window.
    #expect(parts.simulation.books.ledgers.updates[.aggregated] == 2)
    #expect(parts.simulation.books.tallies.waitedOffline == 1)
  }

  @Test("A device that waits for its cohort")
  func waiting() throws {
    var selector = UniformSelector.Settings()
    selector.cohort = 2
    var scene = Scene(
      fleet: [
        phone([[0, 600_000, 605_000]]),
        .group("late", windows: [[30_000, 600_000, 605_000]]) { $0.firstClient = 1 },
      ])
    scene.inputs.server.selector = Choice(UniformSelector.self, selector) { $0 }
    scene.inputs.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
    // The first asks at 1.010 and waits for the second, which asks at 31.010.
    let parts = try cut(scene, at: 1_010) {
      DeviceView(0, in: $0).work == .waiting && $0.now < ms(30_000)
    }
    #expect(parts.simulation.version >= 1)
    #expect(parts.simulation.participations.rounds[1][.aggregated] == 2)
  }

  @Test("An evaluation on devices, with one answer there and one to come")
  func evaluation() throws {
    // As in `ClientEvaluationTests`, but b trains 8 batches: version 1 is published at 13.650, and
    // both have instruction and model at 14.960. The answer about 4 samples comes at 19.970, that
    // about 8 at 23.970.
    let scene = evaluating(task: .tiny(samples: [4, 8]))
    let parts = try cut(scene, at: 21_000) { $0.serverRecord.evaluations.isEmpty }
    let record = try #require(parts.simulation.serverRecord.evaluations.first)
    #expect(record.begunAt == ms(13_650))
    #expect(record.endedAt == ms(23_970))
    #expect(record.results == 2)
  }

  @Test("Training that has been computed and training that has not, on one base and its heir")
  func mixed() throws {
    let phones = FleetGroupSettings.group(count: 4, windows: [[0, 600_000, 605_000]]) {
      $0.compute.spread = 0.5
      $0.participation.repeats = true
    }
    for compute in ComputeMode.allCases {
      var scene = Scene(.tiny(validation: 2), fleet: [phones])
      scene.threshold(3)
      scene.inputs.server.payload = .delta
      scene.inputs.compute = compute
      let parts = try cut(scene, at: 8_000) { $0.serverRecord.pendingCount == 2 && $0.version == 1 }
      // The next version is made of what was under way.
      #expect(parts.simulation.version > 1)
    }
  }

  @Test("A base is written once, however many trainings begin from it")
  func shared() throws {
    var scene = Scene(
      .tiny(samples: Array(repeating: 4, count: 40)),
      fleet: [
        .group(count: 40, windows: [[0, 600_000, 605_000]]) { $0.participation.repeats = true }
      ])
    scene.threshold(40)
    scene.inputs.server.payload = .delta
    let parts = try Stretches(scene.inputs) { stops, run in
      stops == 0 && run.version == 1 && run.serverRecord.pendingCount == 20
    }
    let bytes = try #require(parts.archives.first)
    // Twenty updates, forty devices and the server have version 1; it is six floats, 24 bytes.
    let run = try Simulation(scene.inputs, archive: bytes)
    let model = run.model.values.withUnsafeBytes { Array($0) }
    #expect(model.count == 24)
    let places = (0...(bytes.count - 24)).count { bytes[$0..<$0 + 24].elementsEqual(model) }
    #expect(places == 1)
  }

  @Test("An aggregation that a trigger wanted while the server believed itself offline")
  func owed() throws {
    // Three arrive before 126 s; the timer of 1800 s finds no connection, the probe of 2040 s does.
    let fleet = [112_000, 114_000, 116_000].enumerated().map { place, start -> FleetGroupSettings in
      let from = Int64(start)
      return .group("p\(place)", windows: [[from, from + 50_000, from + 55_000]])
    }
    var scene = Scene(fleet: fleet)
    scene.inputs.server.internet = .states("down", in: [100_000...2_000_000], otherwise: "up")
    scene.inputs.server.trigger = [Choice(EveryTrigger.self) { $0 }]
    scene.inputs.stop.after = .seconds(2100)
    let parts = try cut(scene, at: 1_800_000)
    #expect(parts.simulation.version == 1)
  }

  @Test("A task between the removal of the charger and its kill")
  func watched() throws {
    // Unplugged at 160 s it is killed 48 s later. With the charger from 170 s to 190 s the look of
    // then finds 18 s, and it runs until its hard expiry.
    for (again, cut) in [([ClosedRange<Int64>](), Int64(160_000)), ([170_000...190_000], 190_000)] {
      let scene = Phone.scene {
        $0.task = .tiny(samples: [200])
        $0.budget(400, grace: 60)
        $0.processing.requiresExternalPower = true
        $0.group.power = .states("plugged", in: [0...160_000] + again, otherwise: "unplugged")
        $0.app = AppSettings()
        $0.app!.onExpiration = .ignore
        $0.stop = .seconds(800)
      }
      let parts = try self.cut(scene, at: cut) { $0.now < ms(208_000) }
      #expect(parts.simulation.books.tallies.kills == 1)
      #expect(parts.simulation.books.tallies.bySystem.processorKills == (again.isEmpty ? 1 : 0))
    }
  }

  @Test("The initial model, which nobody has sent yet")
  func initial() throws {
    var scene = evaluating()
    scene.inputs.server.initialModel = .client
    _ = try cut(scene, at: 500)
  }

  @Test("A run is saved before it begins, and when it is over")
  func ends() throws {
    var scene = Scene(fleet: [phone([[0, 600_000, 605_000]])])
    scene.threshold(1)
    let whole = try Stretches(scene.inputs, stops: [])
    let outcome = Outcome()
    var run = try Simulation(scene.inputs, archive: Simulation(scene.inputs).archive())
    run.run(observers: [outcome])
    Stretches.expectSame(whole.found, outcome.found(run))
    let over = try Simulation(scene.inputs, archive: whole.simulation.archive())
    #expect(over.isOver && over.eventDigest == run.eventDigest && over.audit() == [])
    #expect(over.model.values == run.model.values)
  }
}
