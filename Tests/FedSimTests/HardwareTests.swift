import FedSim
import Learning
import Numerics
import Schema
import Testing

/// A class of hardware as another package would write one.
struct Lab: Part, HardwareClass {
  static let name = "lab"
  static let summary = "A class for the tests alone."
  struct Settings: PartSettings {
    var hardware = Hardware()
    static var fields: [Field<Settings>] { [] }
  }
  let hardware: Hardware
  init(_ settings: Settings) { hardware = settings.hardware }

  /// 4 s a batch at speed 1, whatever is in it, and nothing else that takes time.
  static func choice(_ change: (inout Hardware) -> Void = { _ in }) -> Choice<any HardwareClass> {
    var settings = Settings()
    settings.hardware.overhead = .seconds(4)
    settings.hardware.gigaflops = 1e30
    settings.hardware.nanosecondsPerParameter = 0
    settings.hardware.nanosecondsPerValue = 0
    change(&settings.hardware)
    return Choice(Lab.self, settings) { $0 }
  }
}

extension HardwareSettings {
  static func lab(
    _ classes: [Choice<any HardwareClass>] = [Lab.choice()],
    _ change: (inout HardwareSettings) -> Void = { _ in }
  ) -> HardwareSettings {
    var settings = HardwareSettings()
    settings.classes = classes
    change(&settings)
    return settings
  }
}

@Suite("Hardware")
struct HardwareTests {
  private func phone(
    _ hardware: HardwareSettings, _ change: (inout FleetGroupSettings) -> Void = { _ in }
  ) -> Scene {
    Scene(
      fleet: [
        .group(windows: [[0, 100_000, 105_000]]) {
          $0.hardware = hardware
          $0.participation.retrain = .newVersions
          change(&$0)
        }
      ])
  }

  @Test("a device on which a batch takes longer than any run is cut off before the first")
  func endless() {
    let played = phone(.lab([Lab.choice { $0.speed = 1e-300 }])).play()
    #expect(played.simulation.books.ledgers.attempts[.finished] == 0)
    #expect(played.simulation.books.ledgers.attempts.opened == 1)
  }

  @Test("a step takes overhead, operations, parameters and values, divided by the speed")
  func form() {
    let plan = TrainingPlan(epochs: 1, batchSize: 128, learningRate: 0.1)
    let cost = Network.softmaxRegression(inputCount: 100, classCount: 10).trainingCost(plan)
    var hardware = Hardware()
    hardware.overhead = .milliseconds(70)
    hardware.gigaflops = 4.02
    hardware.nanosecondsPerParameter = 37
    hardware.nanosecondsPerValue = 206
    // FLASH's slow phone: 70 ms, 6·1000·128 operations at 4.02e9 a second: 0.191045 ms; 1,010
    // parameters: 0.03737 ms; 10·128 values: 0.26368 ms.
    let milliseconds = 70 + 0.191045 + 0.03737 + 0.26368
    let slow = 1000 * hardware.seconds(cost, samples: 128, on: .cpu)
    #expect(abs(slow - milliseconds) < 1e-5)
    hardware.speed = 2
    #expect(abs(1000 * hardware.seconds(cost, samples: 128, on: .cpu) - milliseconds / 2) < 1e-5)
    // A Neural Engine of 10 times the rate; none: the processor.
    #expect(abs(1000 * hardware.seconds(cost, samples: 128, on: .neuralEngine) - slow / 2) < 1e-5)
    hardware.neuralEngine = 10
    #expect(
      abs(
        1000 * hardware.seconds(cost, samples: 128, on: .neuralEngine)
          - (milliseconds - 0.191045 * 0.9) / 2) < 1e-5)
  }

  @Test("between A13 and A14 the network of Flower's iOS example takes 260 µs a sample")
  func anchor() throws {
    let network = try Network(
      sampleShape: [28, 28, 1],
      layers: [
        .convolution(.init(filters: 32, size: 3, activation: .relu)),
        .maxPooling(size: 2, stride: 2),
        .convolution(.init(filters: 32, size: 2, activation: .relu)),
        .maxPooling(size: 2, stride: 2), .dense(outputs: 500, activation: .relu),
        .dense(outputs: 10, activation: .identity),
      ])
    let cost = network.trainingCost(TrainingPlan(epochs: 1, batchSize: 128, learningRate: 0.1))
    var hardware = Hardware()
    hardware.speed = 1.9
    // 5 + 49.005 + 2.344 + 6.848 ms at A11, over 1.9: 33.262 ms for 128 samples.
    let seconds = hardware.seconds(cost, samples: 128, on: .cpu)
    #expect(abs(seconds * 1000 - 33.262) < 1e-3)
    #expect(abs(seconds / 128 - 260e-6) < 1e-6)
  }

  @Test("a training takes the class's time and energy, from the class's battery")
  func timeAndEnergy() {
    func played(_ engine: HardwareSettings.Engine) -> Played {
      var hardware = HardwareSettings.lab([
        Lab.choice {
          $0.speed = 2
          $0.neuralEngine = 5
          $0.power = Power(milliwatts: 5000)
          $0.neuralEnginePower = Power(milliwatts: 1500)
          $0.battery = .milliwattHours(100)
        }
      ])
      hardware.engine = engine
      return phone(hardware) {
        $0.battery = BatterySettings()
        $0.battery!.initialLevel = 0.5
        $0.power = .always("unplugged")
      }.play()
    }
    // 4 s over speed 2, four batches from 4.340 on.
    let onProcessor = played(.cpu)
    #expect(onProcessor.story(of: 0, only: "makes") == ["12340 makes 0 of v0 4b 4s"])
    let energy = onProcessor.simulation.deviceRecords[0].energy
    #expect(energy?.initial == 180_000_000_000)  // half of 0.1 Wh
    #expect(energy?.flows.training == 40_000_000_000)  // 5 W for 8 s
    #expect(
      played(.neuralEngine).simulation.deviceRecords[0].energy?.flows.training == 12_000_000_000)
  }

  @Test("a device that cannot train says why, once a session, and trains nothing")
  func declines() {
    // 6 parameters and their gradient; a sample's 2 inputs, 2 values and 2 gradients: 18 floats.
    // A model held, a checkpoint and 10 updates of 24 bytes.
    func reason(_ change: (inout Hardware) -> Void) -> Unfitness? {
      let hardware = HardwareSettings.lab([
        Lab.choice {
          $0.memory = 144
          $0.freeStorage = 288
          $0.osVersion = 16
          change(&$0)
        }
      ]) { $0.minimumOSVersion = 16 }
      let played = phone(hardware).play()
      let unfitness = played.simulation.deviceRecords[0].hardware?.unfitness
      let ends = played.story(of: 0, only: "ends")
      #expect(ends == [unfitness == nil ? "22660 ends completed" : "0 ends declined"])
      #expect(played.simulation.books.tallies.declinedSessions == (unfitness == nil ? 0 : 1))
      #expect(played.simulation.books.ledgers.attempts.opened == (unfitness == nil ? 1 : 0))
      #expect(
        played.simulation.participations.hours.reduce(0) { $0 + $1[.eligible] }
          == (unfitness == nil ? 1 : 0))
      return unfitness
    }
    #expect(reason { _ in } == nil)
    #expect(reason { $0.memory = 143 } == .memory)
    #expect(reason { $0.freeStorage = 287 } == .storage)
    #expect(reason { $0.osVersion = 15.9 } == .osVersion)
    // The first that does not suffice is named.
    #expect(
      reason {
        $0.osVersion = 15
        $0.memory = 1
      } == .osVersion)
  }

  @Test("jitter: one factor a training, keyed by its data epoch")
  func jitter() {
    let played = Scene(
      fleet: [
        .group(windows: [[0, 50_000, 55_000], [60_000, 110_000, 115_000]]) {
          $0.compute.jitter = 0.2
        }
      ]
    ).play()
    let key = StreamKey(seed: 1, purpose: "compute-jitter", group: "phones", ordinal: 0)
    func batch(_ epoch: UInt64) -> Int64 {
      var stream = key.stream(slot: epoch)
      return SimDuration(roundingUp: Portable.exp(0.2 * stream.normal())).microseconds
    }
    #expect(batch(0) != batch(1))
    // The first begins at 4.340, the second, which holds the version, at 62.020.
    let ends = [4_340_000 + 4 * batch(0), 62_020_000 + 4 * batch(1)]
    #expect(
      played.story(of: 0, only: "makes")
        == ends.enumerated().map {
          milliseconds(SimTime(microseconds: $1)) + " makes \($0) of v0 4b 4s"
        })
  }

  @Test("a table of quantiles is linear between its rows, and ends with them")
  func quantiles() {
    let table = [
      QuantilePoint(at: 0.1, 1.0), QuantilePoint(at: 0.5, 2.0), QuantilePoint(at: 1, 10.0),
    ]
    #expect(Quantiles.value(table, at: 0) == 1)
    #expect(abs(Quantiles.value(table, at: 0.3) - 1.5) < 1e-12)
    #expect(Quantiles.value(table, at: 0.75) == 6)
    #expect(Quantiles.value(table, at: 1) == 10)
  }

  private func mixed(count: Int) -> [DeviceRecord] {
    let hardware = HardwareSettings.lab([
      Lab.choice { $0.share = 1 }, Lab.choice { ($0.share, $0.osVersion) = (3, 12) },
    ]) {
      $0.minimumOSVersion = 16
      $0.speeds = [QuantilePoint(at: 0, 1), QuantilePoint(at: 1, 4)]
    }
    var scene = Scene(fleet: [.group(count: count) { $0.hardware = hardware }])
    scene.inputs.stop.after = .seconds(1)
    var simulation = Simulation(scene.inputs)
    simulation.run()
    return Array(simulation.deviceRecords)
  }

  @Test("shares: three in four are of the second class; another device changes nobody's hardware")
  func shares() {
    let devices = mixed(count: 4000)
    // 3,000 expected, with a standard deviation of √(4000·3/16) = 27.4.
    let old = devices.count { $0.hardware?.unfitness == .osVersion }
    #expect(abs(old - 3000) < 110)
    let ranks = devices.map { $0.hardware!.speedRank }
    // Uniform ranks: a mean of 0.5 with a standard deviation of 0.2887 / √4000 = 0.0046.
    let mean = ranks.reduce(0, +) / 4000
    #expect(abs(mean - 0.5) < 0.02)
    let more = mixed(count: 4001)
    #expect(zip(devices, more).allSatisfy { $0.hardware! == $1.hardware! })
  }
}
