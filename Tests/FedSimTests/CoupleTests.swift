import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Data that go with devices")
struct CoupleTests {
  /// Client c has c + 1 samples, all of label c / 3.
  private static func task(clients: Int) -> LearningTask {
    let sizes = (0..<clients).map { $0 + 1 }
    let labels = sizes.flatMap { size in [UInt16](repeating: UInt16((size - 1) / 3), count: size) }
    var first: Int32 = 0
    let shards = sizes.map { size -> [Int32] in
      defer { first += Int32(size) }
      return (0..<Int32(size)).map { first + $0 }
    }
    let classes = (clients + 2) / 3
    let data = Dataset(
      features: .floats([Float](repeating: 0, count: labels.count)), sampleShape: [1],
      labels: labels.map { .init($0) }, classCount: classes)
    return LearningTask(
      network: .softmaxRegression(inputCount: 1, classCount: classes),
      initial: ParameterBuffer([Float](repeating: 0, count: 2 * classes)), train: data, test: data,
      partition: Partition(shards: shards, validation: sizes.map { _ in [] }),
      plan: TrainingPlan(epochs: 1, batchSize: 1, learningRate: 0.1))
  }

  private func devices(_ fleet: [FleetGroupSettings], clients: Int = 30) -> [DeviceRecord] {
    var scene = Scene(Self.task(clients: clients), fleet: fleet)
    scene.inputs.stop.after = .days(2)
    var simulation = Simulation(scene.inputs)
    simulation.run()
    return Array(simulation.deviceRecords)
  }

  private func rule(_ by: CoupleSettings.Rule.By, _ strength: Double = 1) -> CoupleSettings.Rule {
    var rule = CoupleSettings.Rule()
    (rule.by, rule.strength) = (by, strength)
    return rule
  }

  private func couple(
    labels: CoupleSettings.Rule? = nil, quantity: CoupleSettings.Rule? = nil
  ) -> CoupleSettings {
    var settings = CoupleSettings()
    (settings.labels, settings.quantity) = (labels, quantity)
    return settings
  }

  @Test("labels by time zone: each of three zones has a third of the clients, in order")
  func labels() {
    let fleet = zip(["west", "middle", "east"], [-8, 0, 8] as [Int64]).map { name, hours in
      FleetGroupSettings.group(name, count: 200) {
        $0.utcOffset = .hours(hours)
        $0.couple = couple(labels: rule(.timeZone))
      }
    }
    for (place, group) in [fleet[0], fleet[1], fleet[2]].enumerated() {
      let clients = devices(fleet).filter { $0.group == place }.map(\.client)
      #expect(clients.allSatisfy { $0 / 10 == place }, "\(group.name)")
      // Each of ten clients is missed by 200 devices with probability 0.9²⁰⁰ = 7e-10.
      #expect(Set(clients).count == 10)
    }
  }

  /// Spearman's rank correlation; equal values have the mean of their ranks.
  private func spearman(_ a: [Double], _ b: [Double]) -> Double {
    func ranks(_ values: [Double]) -> [Double] {
      let sorted = values.sorted()
      return values.map { value in
        let first = sorted.firstIndex(of: value)!
        let last = sorted.lastIndex(of: value)!
        return Double(first + last) / 2
      }
    }
    let (x, y) = (ranks(a), ranks(b))
    let mean = Double(a.count - 1) / 2
    let products = zip(x, y).reduce(0) { $0 + ($1.0 - mean) * ($1.1 - mean) }
    func square(_ values: [Double]) -> Double {
      values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }.squareRoot()
    }
    return products / (square(x) * square(y))
  }

  private func fast(_ strength: Double, count: Int = 2000) -> [DeviceRecord] {
    let hardware = HardwareSettings.lab([
      Lab.choice { $0.speed = 1 }, Lab.choice { ($0.speed, $0.share) = (2, 3) },
    ]) { $0.speeds = [QuantilePoint(at: 0, 1), QuantilePoint(at: 1, 1.5)] }
    return devices(
      [
        .group(count: count) {
          $0.hardware = hardware
          $0.couple = couple(quantity: rule(.speed, strength))
        }
      ], clients: 100)
  }

  @Test("quantity by speed: the rank correlation is the strength")
  func quantity() {
    for strength in [0, 0.6, 1] {
      let devices = fast(strength)
      let found = spearman(
        devices.map { $0.hardware!.speedRank }, devices.map { Double($0.samples) })
      // A hundred clients are ties: at strength 1 the correlation is within 1e-4 of 1. The standard
      // error of 2,000 devices is at most 1/√2000 = 0.0224.
      #expect(abs(found - strength) < (strength == 1 ? 1e-3 : 0.08), "\(strength): \(found)")
    }
  }

  @Test("another device changes nobody's data")
  func independence() {
    let clients = fast(0.6, count: 500).map(\.client)
    #expect(fast(0.6, count: 501).map(\.client).prefix(500) == clients[...])
  }

  @Test("quantity by availability: never, half of the time, always")
  func availability() {
    // Of two days: a day of Wi-Fi.
    let hours: [(String, Int64)] = [("never", 0), ("half", 24), ("always", 48)]
    let fleet = hours.map { name, hours in
      FleetGroupSettings.group(name) {
        $0.link =
          hours == 0
          ? .always("offline")
          : .states("wifi", in: [0...hours * 3_600_000], otherwise: "offline")
        $0.couple = couple(quantity: rule(.availability))
      }
    }
    #expect(devices(fleet).map(\.client) == [0, 15, 29])
  }

  @Test("both: of the clients near the one by label, the one by quantity")
  func both() {
    // Of 30 clients the five around number 15 of the middle zone's draw, which end where it is
    // always available: at the largest, two above the middle.
    let fleet = [
      FleetGroupSettings.group("only", count: 300) {
        $0.couple = couple(labels: rule(.timeZone), quantity: rule(.availability))
      }
    ]
    let clients = Set(devices(fleet).map(\.client))
    // The first of five is at most 25 and at least 0: the largest is from 4 to 29.
    #expect(clients.min() == 4 && clients.max() == 29)
  }
}
