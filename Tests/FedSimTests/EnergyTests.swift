import FedSim
import Learning
import Schema
import Testing

/// A battery of this many joules, half full, that nothing drains or fills unless set.
private func battery(
  _ joules: Int64, idle: Int64 = 0, _ change: (inout BatterySettings) -> Void = { _ in }
) -> BatterySettings {
  var battery = BatterySettings()
  battery.capacity = Energy(nanojoules: joules * 1_000_000_000)
  battery.initialLevel = 0.5
  battery.idle = Power(milliwatts: idle)
  battery.screen = Power(milliwatts: 0)
  battery.wifi = Power(milliwatts: 0)
  battery.cellular = Power(milliwatts: 0)
  battery.training = Power(milliwatts: 0)
  battery.lowPowerAcceptance = 0
  change(&battery)
  return battery
}

private func scene(
  _ battery: BatterySettings, seconds: Int64 = 1000, task: LearningTask = .tiny(),
  _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  var scene = Scene(
    task,
    fleet: [
      .group(windows: [[0, 500_000, 505_000]]) {
        $0.participation.retrain = .newVersions
        $0.battery = battery
        $0.power = .always("unplugged")
        change(&$0)
      }
    ])
  scene.inputs.stop.after = .seconds(seconds)
  return scene
}

private let joule: Int64 = 1_000_000_000

@Suite("Energy")
struct EnergyTests {
  @Test("The contributors' sum is the change of the battery, to the nanojoule")
  func contributors() {
    // 100 s of 1 W idling. Sent and received, at 2 W: the check 1 s each way, the request for the
    // model 1 s, the model 1.3 s, the update 1.3 s, the receipt 1 s: 6.6 s, 13.2 J. Trained, at
    // 4 W: 4 s, 16 J. The screen, at 3 W, from 20 s to 30 s: 30 J. 159.2 J of 500 J.
    let played = scene(
      battery(1000, idle: 1000) {
        $0.wifi = Power(milliwatts: 2000)
        $0.training = Power(milliwatts: 4000)
        $0.screen = Power(milliwatts: 3000)
      }, seconds: 100
    ) { $0.usage = .states("active", in: [20_000...30_000], otherwise: "locked") }.play()
    let energy = played.simulation.deviceRecords[0].energy!
    #expect(energy.initial == 500 * joule)
    #expect(energy.flows.charged == 0)
    #expect(energy.flows.idle == 100 * joule)
    #expect(energy.flows.radio == 13_200_000_000)
    #expect(energy.flows.training == 16 * joule)
    #expect(energy.flows.screen == 30 * joule)
    #expect(energy.final == 340_800_000_000)
  }

  @Test("A run that ends with a version has drawn energy until then, and not until stop.after")
  func earlyEnd() {
    // The first update arrives at 9.65 s and makes the first version: 1 W was drawn for this long,
    // 9.65 J of 1,000 J, whatever stop.after says.
    for seconds in [100, 1000] as [Int64] {
      var scene = scene(battery(2000, idle: 1000), seconds: seconds)
      scene.threshold(1)
      scene.inputs.stop.versions = 1
      let played = scene.play()
      #expect(played.simulation.now.microseconds == 9_650_000)
      let energy = played.simulation.deviceRecords[0].energy!
      #expect(energy.flows.idle == 9_650_000_000)
      #expect(energy.final == 990_350_000_000)
    }
  }

  @Test("A charger fills in full to 80 %, then 7/8, 5/8, 3/8 and 1/8 of it, 5 % each")
  func taper() {
    // 1,050 J to 1,680 J at 8 W: 78.75 s. Then 105 J each at 7, 5, 3 and 1 W: 15, 21, 35, 105 s.
    let played = scene(battery(2100) { $0.charger = Power(milliwatts: 8000) }) {
      $0.power = .always("plugged")
    }.play()
    #expect(played.story(of: 0, only: "is") == ["254750 is full"])
    #expect(played.simulation.deviceRecords[0].energy!.flows.charged == 1050 * joule)
  }

  @Test("A full battery on the charger gives nothing while the charger serves the load")
  func trickle() {
    // Half of 20 J at 10 W, 1 W of them for idling, less near the end: full at 6/9 s, then
    // 1 J each at 8.75, 6.25, 3.75 and 1.25 W. Whatever the device draws later is charged too.
    let played = scene(
      battery(20, idle: 1000) {
        $0.charger = Power(milliwatts: 10_000)
        $0.training = Power(milliwatts: 3000)
      }, seconds: 100
    ) { $0.power = .always("plugged") }.play()
    let energy = played.simulation.deviceRecords[0].energy!
    #expect(energy.final == 20 * joule)
    #expect(energy.flows.idle == 100 * joule)
    #expect(energy.flows.training == 12 * joule)
    #expect(energy.flows.charged == 122 * joule)
  }

  @Test("A device prompts below 20 %, dies at 0, and boots on the charger at its boot level")
  func death() {
    // 250 J at 1 W: at 200 J after 50 s, below them a microsecond later; empty after 250 s. Plugged
    // in from 300 s, off, at 10 W: 30 J at 303 s, booted at 363 s with 630 J.
    let played = scene(
      battery(1000, idle: 1000) {
        $0.initialLevel = 0.25
        $0.charger = Power(milliwatts: 10_000)
        $0.lowPowerAcceptance = 1
      }, seconds: 364
    ) { $0.power = .states("plugged", in: [300_000...900_000], otherwise: "unplugged") }.play()
    #expect(
      played.story(of: 0, only: "is") == [
        "50000.001 is lowPowerOn", "250000 is shutDown", "363000 is booted",
      ])
    // One more second on, 9 W into the battery.
    #expect(played.simulation.deviceRecords[0].energy!.final == 639 * joule)
  }

  @Test("An empty battery ends the training, and what no checkpoint holds is lost")
  func deathWhileTraining() {
    // 20 J: 4.34 s at 1 W, and 15.66 J at 4 W in 3.915 s: empty at 8.255 s, in batch 4. A device
    // that is off has no link and opens no window.
    let played = scene(
      battery(40, idle: 1000) { $0.training = Power(milliwatts: 3000) }
    ) {
      $0.background.windows = .fixed([
        (from: 0, soft: 50_000, to: 55_000, state: nil),
        (from: 60_000, soft: 70_000, to: 75_000, state: nil),
      ])
    }.play()
    #expect(
      played.story(of: 0, only: "attempt", "killed", "ends", "is", "begins") == [
        "0 begins window", "8255 killed", "8255 attempt killed 3", "8255 ends killed",
        "8255 is shutDown",
      ])
    #expect(played.simulation.deviceRecords[0].energy!.final == 0)
    #expect(played.simulation.deviceRecords.connectedCount == 0)
  }

  @Test("In low-power mode a running training slows down, to the microsecond")
  func lowPowerSpeed() {
    // 25 J: 20.66 J when training begins at 4.340; at 4 W 0.66 J last 0.165 s, and a microsecond
    // later low-power mode begins. 3.834999 s of work are left and take, at 60 %, 6.391665 s.
    let played = scene(
      battery(100, idle: 1000) {
        $0.initialLevel = 0.25
        $0.training = Power(milliwatts: 3000)
        $0.lowPowerAcceptance = 1
      }
    ).play()
    #expect(played.story(of: 0, only: "is").first == "4505.001 is lowPowerOn")
    #expect(played.story(of: 0, only: "makes") == ["10896.666 makes 0 of v0 4b 4s"])
  }

  @Test("A soft expiry finds the batch that really runs after a change of speed")
  func expiryWhenSlow() {
    // As before: at 4.505001 0.165001 s of batch 1 are done; the rest ends 1.391665 s later, at
    // 5.896666. Batch 2 takes 1 s / 0.6, rounded up: it ends at 7.563333 (1.834999 s / 0.6 =
    // 3.058331.67 µs). A soft expiry in between leaves batch 2 to end.
    for (soft, batches) in [(Int64(5_896), 1), (5_897, 2)] {
      let played = scene(
        battery(100, idle: 1000) {
          $0.initialLevel = 0.25
          $0.training = Power(milliwatts: 3000)
          $0.lowPowerAcceptance = 1
        }
      ) {
        $0.background.windows = .fixed([(from: 0, soft: soft, to: 60_000, state: nil)])
        $0.interruption.onExpiry = .submitPartial
      }.play()
      #expect(
        played.story(of: 0, only: "makes") == [
          "\(batches == 1 ? "5896.666" : "7563.333") makes 0 of v0 \(batches)b \(batches)s"
        ])
    }
  }

  @Test("Heat slows a training from serious until nominal")
  func heat() {
    // 8 batches from 4.340 on at 4 W, 2 W of them shed. Fair at 2 J: 5.340; serious at 4 J: 6.340.
    // At half speed 2 W are made and shed: 6 s of work take 12 s, to 18.340. Then 2 W less: below
    // 4 J after a microsecond, below 2 J a second later.
    let task = LearningTask.tiny(samples: [8])
    let played = scene(battery(10_000) { $0.training = Power(milliwatts: 4000) }, task: task) {
      var thermal = ThermalSettings()
      thermal.cooling = Power(milliwatts: 2000)
      thermal.fair = Energy(nanojoules: 2 * joule)
      thermal.serious = Energy(nanojoules: 4 * joule)
      thermal.critical = Energy(nanojoules: 9 * joule)
      $0.thermal = thermal
    }.play()
    #expect(
      played.story(of: 0, only: "is", "makes") == [
        "5340 is fair", "6340 is serious", "18340 makes 0 of v0 8b 8s", "18340.001 is fair",
        "19340.001 is nominal",
      ])
  }

  @Test("A throttled training stays slow while it cools")
  func staysSlow() {
    // 4 W made from 4.340 on and 3 W shed: fair at 2 J, 6.340; serious at 3.65 J, 7.990. At half
    // speed a microsecond is enough to be below it. The run ends at 8 s.
    let eight = LearningTask.tiny(samples: [8])
    let hot = battery(10_000) { $0.training = Power(milliwatts: 4000) }
    let played = scene(hot, seconds: 8, task: eight) {
      var thermal = ThermalSettings()
      thermal.cooling = Power(milliwatts: 3000)
      thermal.fair = Energy(nanojoules: 2 * joule)
      thermal.serious = Energy(nanojoules: 3_650_000_000)
      $0.thermal = thermal
    }.play()
    #expect(
      played.story(of: 0, only: "is") == ["6340 is fair", "7990 is serious", "7990.001 is fair"])
  }

  @Test("A share of what is charged is heat")
  func chargingLoss() {
    // Half full, it takes all of 10 W from 10 s to 14 s: 2 W of heat, 1 W shed. Fair at 2 J, 12 s;
    // 4 J at 14 s, then 1 W less: below 2 J at 16 s and a microsecond.
    let played = scene(battery(10_000) { $0.charger = Power(milliwatts: 10_000) }) {
      var thermal = ThermalSettings()
      (thermal.cooling, thermal.chargingLoss) = (Power(milliwatts: 1000), 20)
      thermal.fair = Energy(nanojoules: 2 * joule)
      $0.thermal = thermal
      $0.power = .states("plugged", in: [10_000...14_000], otherwise: "unplugged")
    }.play()
    #expect(played.story(of: 0, only: "is") == ["12000 is fair", "16000.001 is nominal"])
  }

  @Test("A device that died hot has cooled when it is first used after it was switched on")
  func coolAgain() {
    // As above, with 12 J: 8 J until it is serious, at 6.340, and 4 J at 2 W, to 8.340. What was
    // warm is cold two seconds later. Plugged in from 100 s at 10 W: 30 J at 103 s, booted at 163 s
    // with 630 J; used from 170 s, when 80 % are still 10 s away.
    let task = LearningTask.tiny(samples: [8])
    let played = scene(
      battery(1000) {
        $0.initialLevel = 0.012
        $0.training = Power(milliwatts: 4000)
        $0.charger = Power(milliwatts: 10_000)
      }, seconds: 175, task: task
    ) {
      var thermal = ThermalSettings()
      thermal.cooling = Power(milliwatts: 2000)
      thermal.chargingLoss = 0
      thermal.fair = Energy(nanojoules: 2 * joule)
      thermal.serious = Energy(nanojoules: 4 * joule)
      thermal.critical = Energy(nanojoules: 9 * joule)
      $0.thermal = thermal
      $0.power = .states("plugged", in: [100_000...900_000], otherwise: "unplugged")
      $0.usage = .states("active", in: [170_000...172_000], otherwise: "locked")
    }.play()
    #expect(
      played.story(of: 0, only: "is") == [
        "5340 is fair", "6340 is serious", "8340 is shutDown", "163000 is booted",
        "170000 is nominal",
      ])
  }

  @Test("Where it is hot less heat is shed")
  func ambient() {
    // 1 W is made by idling; 2 W shed where it is mild, nothing where it is hot, from 10 s to 14 s:
    // fair at 2 J, 12 s; 4 J at 14 s; then 1 W less: below 2 J at 16 s and a microsecond.
    let played = scene(battery(10_000, idle: 1000)) {
      var thermal = ThermalSettings()
      thermal.hotCooling = Power(milliwatts: 0)
      thermal.fair = Energy(nanojoules: 2 * joule)
      thermal.serious = Energy(nanojoules: 5 * joule)
      thermal.ambient = .states("hot", in: [10_000...14_000], otherwise: "mild")
      $0.thermal = thermal
    }.play()
    #expect(
      played.story(of: 0, only: "is") == ["12000 is fair", "16000.001 is nominal"])
  }

  @Test("A limit that is reached as it becomes mild is reached")
  func ambientAtOnce() {
    // 1 W is made and nothing shed until 14 s: fair at 4 J, at 14 s. From then on 2 W are shed:
    // below 4 J a microsecond later.
    let played = scene(battery(10_000, idle: 1000)) {
      var thermal = ThermalSettings()
      thermal.hotCooling = Power(milliwatts: 0)
      thermal.fair = Energy(nanojoules: 4 * joule)
      thermal.serious = Energy(nanojoules: 5 * joule)
      thermal.ambient = .states("hot", in: [10_000...14_000], otherwise: "mild")
      $0.thermal = thermal
    }.play()
    #expect(played.story(of: 0, only: "is") == ["14000 is fair", "14000.001 is nominal"])
  }

  @Test("A version has the mean battery level of its updates, each as full as it is")
  func meanLevel() {
    // Nothing drains. 20 %, 50 % and 95 % are 165 % in all, 55 % in the mean; a fourth device has
    // no battery and does not count.
    let window: [[Int64]] = [[0, 20_000, 21_000]]
    var scene = Scene(
      fleet: [0.2, 0.5, 0.95].enumerated().map { place, level in
        .group("full\(place)", windows: window) {
          $0.battery = battery(1000) { $0.initialLevel = level }
          $0.power = .always("unplugged")
        }
      } + [.group("mains", windows: window)])
    scene.threshold(4)
    let played = scene.play()
    #expect(played.tape.versions.map(\.updates) == [0, 4])
    #expect(played.version(0).batteryLevel.isNaN)
    #expect(played.version(1).batteryLevel == 0.55)
  }

  @Test("A version has no mean battery level where no update is from a battery")
  func noLevel() {
    var scene = Scene(
      fleet: [
        .group("asleep") { $0.battery = battery(1000) },
        .group("mains", windows: [[0, 20_000, 21_000]]),
      ])
    scene.threshold(1)
    let played = scene.play()
    #expect(played.tape.versions.map(\.updates) == [0, 1])
    #expect(played.version(1).batteryLevel.isNaN)
  }

  @Test("A battery level is the one at the end of the training, to the nanojoule")
  func levelAsTrainingEnds() {
    // Until 8.34 s: idle at 1 W, 8.34 J; the radio at 2 W for 4.3 s, 8.6 J; training at 4 W for
    // 4 s, 16 J. 467.06 of 1,000 J are left. (487.06 J as it begins, 463.15 J as the update
    // arrives.)
    var scene = scene(
      battery(1000, idle: 1000) {
        $0.wifi = Power(milliwatts: 2000)
        $0.training = Power(milliwatts: 4000)
      })
    scene.threshold(1)
    scene.inputs.stop.versions = 1
    #expect(scene.play().version(1).batteryLevel == 0.46706)
  }

  @Test("A battery level does not change while the update waits at the server")
  func levelWhileWaiting() {
    // Both idle at 1 W from 500 J on. Trainings end at 8.34 s and at 108.34 s: 491.66 J and
    // 391.66 J. (As the version is published, at 109.65 s, both have 390.35 J.)
    let idle = battery(1000, idle: 1000)
    var scene = Scene(
      fleet: [Int64(0), 100_000].map { start in
        .group("from\(start)", windows: [[start, start + 20_000, start + 21_000]]) {
          $0.battery = idle
          $0.power = .always("unplugged")
        }
      })
    scene.threshold(2)
    scene.inputs.stop.versions = 1
    let played = scene.play()
    #expect(played.simulation.now == ms(109_650))
    #expect(played.version(1).batteryLevel == 0.44166)
  }

  @Test("In random worlds with batteries every audit finds nothing, and the sums are exact")
  func randomWorlds() {
    var dead = 0
    var slowed = 0
    for seed in UInt64(1)...20 {
      var random = RandomWorld(seed: seed)
      var scene = random.scene()
      for group in scene.inputs.fleet.indices {
        var battery = BatterySettings()
        battery.capacity = Energy(nanojoules: 300 * joule + Int64(seed))
        battery.initialLevel = 0.5
        scene.inputs.fleet[group].battery = battery
        var thermal = ThermalSettings()
        (thermal.fair, thermal.serious) = (
          Energy(nanojoules: 5 * joule), Energy(nanojoules: 9 * joule)
        )
        scene.inputs.fleet[group].thermal = thermal
      }
      let played = scene.play()
      let invariants = Invariants()
      var simulation = Simulation(scene.inputs)
      simulation.run(observers: [invariants])
      #expect(invariants.broken == [], "seed \(seed)")
      dead += played.tape.observed.count { $0.kind == .condition(.shutDown) }
      slowed += played.tape.observed.count { $0.kind == .condition(.lowPowerOn) }
      for record in played.simulation.deviceRecords {
        let energy = record.energy!
        #expect(energy.final - energy.initial == energy.flows.change)
      }
    }
    #expect(dead > 10)
    #expect(slowed > 10)
  }
}
