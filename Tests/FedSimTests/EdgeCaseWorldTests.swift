import FedSim
import Learning
import Schema
import Testing

private let joule: Int64 = 1_000_000_000

/// A battery of this many joules from which nothing flows unless set.
private func battery(
  _ joules: Int64, level: Double = 0.5, _ change: (inout BatterySettings) -> Void
) -> BatterySettings {
  var battery = BatterySettings()
  battery.capacity = Energy(nanojoules: joules * joule)
  battery.initialLevel = level
  for part in [\BatterySettings.idle, \.screen, \.training, \.wifi, \.cellular] {
    battery[keyPath: part] = Power(milliwatts: 0)
  }
  battery.lowPowerAcceptance = 0
  change(&battery)
  return battery
}

/// One phone with these windows, which trains on new versions only.
private func phone(
  _ windows: [[Int64]] = [[0, 100_000, 105_000]], task: LearningTask = .tiny(),
  _ change: (inout FleetGroupSettings) -> Void
) -> Scene {
  Scene(
    task,
    fleet: [
      .group(windows: windows) {
        $0.participation.retrain = .newVersions
        change(&$0)
      }
    ])
}

@Suite("Edge cases of the world and of transfers")
struct EdgeCaseWorldTests {
  @Test("E8: A battery that is full is not charging for SwiftSyft: at the start, never later")
  func e8() {
    func played(_ level: Double, chargingOnly: Bool?) -> [String] {
      phone {
        // 210 J at 8 W: 63 J in 7.875 s, then 10.5 J each in 1.5, 2.1, 3.5 and 10.5 s.
        $0.battery = battery(210, level: level) { $0.charger = Power(milliwatts: 8000) }
        $0.participation.externalPower = true
        $0.participation.chargingOnly = chargingOnly
        $0.compute.perBatch = .seconds(10)
      }.play().story(of: 0, only: "is", "makes", "ends")
    }
    #expect(played(1, chargingOnly: true) == ["0 ends ineligible"])
    #expect(
      played(0.5, chargingOnly: true) == [
        "25475 is full", "44340 makes 0 of v0 4b 4s", "46660 ends completed",
      ])
    // EdgeML counts a full battery as charging.
    #expect(
      played(1, chargingOnly: nil) == ["44340 makes 0 of v0 4b 4s", "46660 ends completed"])
  }

  @Test("E9: Wi-Fi becomes cellular: sent again; given up where an unmetered link is needed")
  func e9() {
    func story(
      from: Int64, _ change: (inout FleetGroupSettings) -> Void
    ) -> [String] {
      phone {
        $0.link = .states("cellular", in: [from...500_000], otherwise: "wifi")
        change(&$0)
      }.play().story(of: 0, only: "uploads", "fails", "arrives", "attempt", "ends")
    }
    // SwiftSyft looks at the start only, but keeps no report: its connection is gone with Wi-Fi.
    #expect(
      story(from: 8_840) {
        $0.participation.network = .wifi
        $0.outbox.capacity = 0
      } == [
        "8340 attempt finished 4", "8340 uploads 0", "8840 fails 0 linkLost",
        "8840 ends completed",
      ])
    // EdgeML looks at the start only, too, and tries no lost upload again in its session.
    #expect(
      story(from: 8_840) {
        $0.participation.network = .unmetered
        $0.outbox.retriesLost = false
      } == [
        "8340 attempt finished 4", "8340 uploads 0", "8840 fails 0 linkLost",
        "8840 ends unreachable",
      ])
    // Another app sends its update again: 1,300 bytes in 2.6 s, 20 ms; the receipt.
    #expect(
      story(from: 8_840) { _ in } == [
        "8340 attempt finished 4", "8340 uploads 0", "8840 fails 0 linkLost", "8840 uploads 0",
        "11460 arrives 0", "13480 ends completed",
      ])
    // Over QUIC it is re-planned: 500 bytes in 0.5 s, 800 in 1.6 s, 20 ms; the receipt.
    #expect(
      story(from: 8_840) {
        $0.participation.network = .wifi
        $0.network.handover = .survives
      } == [
        "8340 attempt finished 4", "8340 uploads 0", "10460 arrives 0", "12480 ends completed",
      ])
    // Gboard aborts, in the upload or in the training.
    func gboard(_ group: inout FleetGroupSettings) {
      group.participation.network = .unmetered
      group.interruption.onConditionsLost = .abort
    }
    #expect(
      story(from: 8_840, gboard) == [
        "8340 attempt finished 4", "8340 uploads 0", "8840 fails 0 linkLost",
        "8840 ends conditionsLost",
      ])
    #expect(
      story(from: 6_000, gboard) == ["6000 attempt conditionsLost 1", "6000 ends conditionsLost"])
    // KotlinSyft looks at the start and before it reports.
    #expect(
      story(from: 6_000) {
        $0.participation.network = .unmetered
        $0.participation.checksBeforeReport = true
      } == ["8340 attempt finished 4", "8340 ends conditionsLost"])
    // A cellular link that costs nothing is as good as Wi-Fi.
    #expect(
      story(from: 6_000) {
        gboard(&$0)
        $0.network.cellular.metered = false
      }.first == "8340 attempt finished 4")
  }

  /// Two phones train at 0, a third at 100 s; the first one's link drops from 9.655 to 19.655,
  /// after its update has arrived at 9.650 and before the answer, which would be there at 9.660.
  private func ambiguous(_ duplicates: Duplicates) -> Played {
    func group(_ name: String, _ first: Int, _ window: [Int64]) -> FleetGroupSettings {
      .group(name, windows: [window]) {
        $0.firstClient = first
        $0.participation.retrain = .newVersions
      }
    }
    var scene = Scene(fleet: [
      group("a", 0, [0, 60_000, 65_000]), group("b", 1, [0, 60_000, 65_000]),
      group("c", 2, [100_000, 160_000, 165_000]),
    ])
    scene.threshold(3)
    scene.inputs.server.duplicates = duplicates
    scene.inject(.dropLink, "a/0", at: 9_655, lasting: .seconds(10))
    return scene.play()
  }

  @Test("E11: A link lost between arrival and answer", arguments: Duplicates.allCases)
  func e11(duplicates: Duplicates) {
    let played = ambiguous(duplicates)
    // Sent again from 19.655 on: 1.3 s and 10 ms.
    #expect(
      played.story(of: 0, only: "fails", "arrives") == [
        "9650 arrives 0", "9655 fails 0 unacknowledged", "20965 arrives 0",
      ])
    #expect(played.simulation.books.tallies.repeatedDeliveries == 1)
    let task = LearningTask.tiny()
    let zeros: [Float] = [0, 0, 0, 0, 0, 0]
    let weights = zip(["a", "b", "c"], 0...).map {
      directTraining(task, 0..<4, from: zeros, group: $0, client: $1)
    }
    // Each update has 4 samples. Under append the third to come is the first one again; else the
    // third is that of the third phone.
    let counts: [Float] = duplicates == .append ? [2, 1, 0] : [1, 1, 1]
    #expect(played.version(1).publishedAt == ms(duplicates == .append ? 20_965 : 109_650))
    for (place, value) in played.model(1).enumerated() {
      let expected =
        (counts[0] * weights[0][place] + counts[1] * weights[1][place]
          + counts[2] * weights[2][place]) / 3
      #expect(abs(value - expected) < 1e-6)
    }
  }

  @Test("E32: Low-power mode in a training: slower for EdgeML, which then starts no other; Gboard…")
  func e32() {
    func story(_ lost: InterruptionSettings.OnConditionsLost) -> [String] {
      phone([[0, 50_000, 55_000], [60_000, 80_000, 85_000]]) {
        // 205 J: 200.66 at 4.340; 0.66 J at 4 W in 0.165 s: low-power mode a microsecond later.
        // The 3.834999 s of work left take 6.391665 s at 60 %.
        $0.battery = battery(1000, level: 0.205) {
          $0.idle = Power(milliwatts: 1000)
          $0.training = Power(milliwatts: 3000)
          $0.lowPowerAcceptance = 1
        }
        $0.power = .always("unplugged")
        $0.participation.avoidsLowPower = true
        $0.interruption.onConditionsLost = lost
      }.play().story(of: 0, only: "is lowPowerOn", "attempt", "ends")
    }
    #expect(
      story(.ignore) == [
        "4505.001 is lowPowerOn", "10896.666 attempt finished 4", "13216.666 ends completed",
        "60000 ends ineligible",
      ])
    #expect(
      story(.abort).prefix(3) == [
        "4505.001 is lowPowerOn", "4505.001 attempt conditionsLost 0",
        "4505.001 ends conditionsLost",
      ])
  }

  @Test("E33: Below 20 % and unplugged no task starts; one that runs continues")
  func e33() {
    // 250 J less 0.1 W for 104.340 s; at 15.1 W below 200 J within 3 s, in the training, which
    // continues. At 900 s there are some 100 J: nothing starts until the charger comes.
    var scene = Phone.scene {
      $0.system.onBattery = 1
      $0.group.power = .states("plugged", in: [1_000_000...2_000_000], otherwise: "unplugged")
      $0.group.battery = battery(1000, level: 0.25) {
        $0.idle = Power(milliwatts: 100)
        $0.training = Power(milliwatts: 15_000)
      }
      $0.stop = .seconds(1500)
    }
    scene.threshold(1)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "begins", "makes").prefix(3) == [
        "100000 begins task", "108340 makes 0 of v0 4b 4s", "1000000 begins task",
      ])
  }

  @Test("E39: Trained twice on one version while the first waits: one update is sent")
  func e39() {
    // The first upload, arriving at 9.650, finds a closed door and is given up at 69.640; so is its
    // second try, from 100 to 161.300. The check then finds the server: accepted at 163.320, four
    // batches on the version held. That update takes the place of the first.
    var scene = phone([
      [0, 90_000, 95_000], [100_000, 240_000, 245_000], [300_000, 301_000, 400_000],
    ]) {
      $0.participation.retrain = .always
      $0.outbox.supersedes = true
    }
    scene.inputs.server.reachable = .states(
      "down", in: [8_500...161_400, 165_000...250_000], otherwise: "up")
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "makes", "uploads", "arrives") == [
        "8340 makes 0 of v0 4b 4s", "8340 uploads 0", "100000 uploads 0",
        "167320 makes 1 of v0 4b 4s", "167320 uploads 1", "300000 uploads 1", "301310 arrives 1",
      ])
    #expect(played.simulation.books.ledgers.updates[.replaced] == 1)
  }

  @Test("E41: Serious heat: half speed until nominal, and EdgeML starts nothing")
  func e41() {
    // 4 W of training, 2 W shed until it is hot at 10 s, nothing then. Serious from 6.340 on, half
    // speed to 18.340: the heat stays, and the next window finds it.
    let task = LearningTask.tiny(samples: [8])
    let story = phone([[0, 50_000, 55_000], [60_000, 80_000, 85_000]], task: task) {
      $0.power = .always("unplugged")
      $0.battery = battery(100_000) { $0.training = Power(milliwatts: 4000) }
      var thermal = ThermalSettings()
      thermal.hotCooling = Power(milliwatts: 0)
      thermal.fair = Energy(nanojoules: 2 * joule)
      thermal.serious = Energy(nanojoules: 4 * joule)
      thermal.critical = Energy(nanojoules: 1000 * joule)
      thermal.ambient = .states("hot", in: [10_000...100_000], otherwise: "mild")
      $0.thermal = thermal
      $0.participation.avoidsHeat = true
    }.play().story(of: 0, only: "is", "attempt", "ends")
    #expect(
      story.prefix(5) == [
        "5340 is fair", "6340 is serious", "18340 attempt finished 8", "20660 ends completed",
        "60000 ends ineligible",
      ])
  }
}
