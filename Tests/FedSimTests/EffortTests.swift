import FedSim
import Learning
import Schema
import Testing

private let eight = LearningTask.tiny(samples: [8, 8])
private let joule: Int64 = 1_000_000_000

/// One device whose every update is a version; a batch ends each second.
private func scene(
  _ task: LearningTask = eight, windows: [[Int64]],
  _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    task,
    fleet: [
      .group(windows: windows) {
        $0.participation.retrain = .newVersions
        change(&$0)
      }
    ])
  scene.threshold(1)
  return scene
}

@Suite("Work and its outcome")
struct EffortTests {
  @Test("An update counts all its stretches, and what a kill took of them is lost")
  func stretches() {
    // Trains from 4.340; 2 of 8 batches are saved at the soft expiry, 6.5; the third would end at
    // 7.340, the process dies at 7.2: 0.7 s and no whole batch are lost. It continues at 22.020 and
    // makes the other 6 by 28.020: 2.16 + 6 = 8.16 s. The update is a version at 29.330.
    let played = scene(windows: [[0, 6_500, 7_200], [20_000, 40_000, 45_000]]) {
      $0.interruption.onExpiry = .checkpoint
    }.play()
    let effort = played.simulation.books.effort
    let lost = effort[.lostSinceCheckpoint]
    #expect((lost.attempts, lost.batches, lost.samples) == (0, 0, 0))
    #expect(lost.microseconds == 700_000)
    let used = effort[.update(.aggregated)]
    #expect((used.attempts, used.batches, used.samples) == (1, 8, 8))
    #expect(used.microseconds == 8_160_000)
    #expect(effort.total.microseconds == 8_860_000)
    #expect(played.simulation.books.deviceEfforts[0].aggregated == 8_160_000)
    #expect(played.simulation.books.deviceEfforts[0].wasted == 700_000)
    #expect(played.simulation.books.deviceEfforts[0].samplesAggregated == 8)
  }

  @Test("What a version had cost when it was published")
  func progress() {
    // The same run. Sent until 29.330: two checks and a request for the model of 1,000 bytes each,
    // and an update of 1,300. Received: two answers of 1,000, and the model of 1,300; the receipt
    // comes later. Both stretches have ended.
    let played = scene(windows: [[0, 6_500, 7_200], [20_000, 40_000, 45_000]]) {
      $0.interruption.onExpiry = .checkpoint
    }.play()
    #expect(milliseconds(played.version(1).publishedAt) == "29330")
    let progress = played.version(1).progress
    #expect((progress.bytesUp, progress.bytesDown) == (4_300, 3_300))
    #expect(progress.microseconds == 8_860_000)
    #expect(progress.nanojoules == 0)
    #expect(played.version(0).progress.bytesUp == 0)
    #expect(played.simulation.books.ledgers.bytesDown == 4_300)
  }

  @Test("A training whose work is lost is booked by its end")
  func wasted() {
    // Discarded as batch 3, under way at 6.5, ends at 7.340: 3 s of 3 batches. In the second window
    // training begins at 22.020 and the run ends at 25.000: 2 batches, 2.98 s.
    var scene = scene(windows: [[0, 6_500, 9_000], [20_000, 40_000, 45_000]]) {
      $0.interruption.onExpiry = .discard
    }
    scene.inputs.stop.after = .seconds(25)
    let effort = scene.play().simulation.books.effort
    let discarded = effort[.attempt(.discardedAtExpiry)]
    #expect((discarded.attempts, discarded.batches, discarded.samples) == (1, 3, 3))
    #expect(discarded.microseconds == 3_000_000)
    let open = effort[.attempt(.unfinishedAtEnd)]
    #expect((open.attempts, open.batches, open.microseconds) == (1, 2, 2_980_000))
    #expect(effort.total.microseconds == 5_980_000)
  }

  @Test("Energy goes with the work: trainings, and sending their updates")
  func energy() {
    // Trained 4 s at 4 W: 16 J. Radio at 2 W: the update 1.3 s and its receipt 1 s, 4.6 J; check
    // and model 1 + 1 + 1 + 1.3 s, 8.6 J. As version 1 is published, at 9.650, the upload has not
    // ended: 16 + 8.6 J.
    var scene = scene(.tiny(), windows: [[0, 500_000, 505_000]]) {
      var battery = BatterySettings()
      battery.capacity = Energy(nanojoules: 1000 * joule)
      battery.idle = Power(milliwatts: 700)
      battery.screen = Power(milliwatts: 0)
      battery.wifi = Power(milliwatts: 2000)
      battery.training = Power(milliwatts: 4000)
      battery.lowPowerAcceptance = 0
      $0.battery = battery
    }
    scene.inputs.stop.after = .seconds(100)
    let played = scene.play()
    let used = played.simulation.books.effort[.update(.aggregated)]
    #expect((used.training, used.radio) == (16 * joule, 4_600_000_000))
    #expect(played.simulation.books.effort.otherRadio == 8_600_000_000)
    #expect(milliseconds(played.version(1).publishedAt) == "9650")
    #expect(played.version(1).progress.nanojoules == 24_600_000_000)
    #expect(played.simulation.books.deviceEnergies[0].aggregated == 20_600_000_000)
    #expect(played.simulation.books.deviceEnergies[0].wasted == 0)
  }

  @Test("Bytes count for the link that carried them")
  func links() {
    // On Wi-Fi until 0.5 s: half of the check's 1,000 bytes. The rest of 3,300 sent, and 3,300
    // received, take the cellular network.
    let traffic = scene(.tiny(), windows: [[0, 60_000, 65_000]]) {
      $0.link = .states("wifi", in: [0...500], otherwise: "cellular")
      $0.network.handover = .survives
    }.play().simulation.books.traffic
    #expect(traffic.up(.wifi, .delivered) == 500)
    #expect(traffic.up(.cellular, .delivered) == 2_800)
    #expect(traffic.down(.wifi, .delivered) == 0)
    #expect(traffic.down(.cellular, .delivered) == 3_300)
  }

  @Test("Bytes of a transmission that fails count by its end")
  func failed() {
    // The link goes at 0.5 s, with half of the check sent, and is back at 10 s.
    let traffic = scene(.tiny(), windows: [[0, 60_000, 65_000]]) {
      $0.link = .states("offline", in: [500...10_000], otherwise: "wifi")
    }.play().simulation.books.traffic
    #expect(traffic.up(.wifi, .linkLost) == 500)
    #expect(traffic.up(.wifi, .delivered) == 3_300)
    #expect(traffic.down(.wifi, .linkLost) == 0)
  }

  @Test("In random worlds every end of work and of bytes comes up that can")
  func ends() {
    var seen: Set<String> = []
    for seed in UInt64(1)...60 {
      var world = RandomWorld(seed: seed)
      let inputs = world.scene().inputs
      var simulation = Simulation(inputs)
      simulation.run()
      #expect(simulation.audit() == [], "seed \(seed)")
      for end in EffortEnd.all where simulation.books.effort[end].microseconds > 0 {
        seen.insert(end.name)
      }
    }
    for name in [
      "aggregated", "updateDropped", "updateUnfinishedAtEnd", "trainingKilled",
      "trainingDiscardedAtExpiry", "trainingUnfinishedAtEnd", "lostSinceCheckpoint",
    ] {
      #expect(seen.contains(name), "\(name) in \(seen.sorted())")
    }
  }

  @Test("The ends of work have distinct names")
  func names() {
    let names = EffortEnd.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.first == "aggregated")
    #expect(names.last == "lostSinceCheckpoint")
    #expect(
      names.count == UpdateOutcome.allCases.count + AttemptOutcome.allCases.count - 2 + 1)
  }
}
