import Schema

// iPhones: the reference is chosen so that the 585,958-parameter CNN of Flower's iOS example takes
// 260 µs a sample in batches of 128 at a relative speed of 1.9, between A13 and A14; batteries are
// published figures, everything else is an assumption.

/// A class of hardware by its name and figures.
private struct HardwareModel: Sendable {
  let name: String
  let summary: String
  let hardware: Hardware

  static func iPhone(
    _ name: String, _ summary: String, speed: Double, battery: Int64, gigabytes: Int64,
    osVersion: Double, neuralEngine: Double = 3, free: Int64
  ) -> HardwareModel {
    var hardware = Hardware()
    hardware.speed = speed
    hardware.battery = .milliwattHours(battery)
    hardware.memory = gigabytes * 1_000_000_000
    hardware.osVersion = osVersion
    hardware.neuralEngine = neuralEngine
    hardware.freeStorage = free * 1_000_000_000
    return HardwareModel(name: name, summary: summary, hardware: hardware)
  }

  /// The figures are those of the fit to one phone of each of FLASH's classes.
  static func android(
    _ name: String, _ summary: String, overhead: Int64, gigaflops: Double, perParameter: Double,
    perValue: Double, power: Int64, gigabytes: Int64, battery: Int64, osVersion: Double,
    free: Int64
  ) -> HardwareModel {
    var hardware = Hardware()
    hardware.overhead = .milliseconds(overhead)
    hardware.gigaflops = gigaflops
    hardware.nanosecondsPerParameter = perParameter
    hardware.nanosecondsPerValue = perValue
    hardware.power = Power(milliwatts: power)
    hardware.memory = gigabytes * 1_000_000_000
    hardware.battery = .milliwattHours(battery)
    hardware.osVersion = osVersion
    hardware.freeStorage = free * 1_000_000_000
    return HardwareModel(name: name, summary: summary, hardware: hardware)
  }

  static let all: [HardwareModel] = [
    .iPhone(
      "iphone-8", "iPhone 8 (A11), whose Neural Engine is not open to apps",
      speed: 1, battery: 6_960, gigabytes: 2, osVersion: 16.7, neuralEngine: 0, free: 10),
    .iPhone(
      "iphone-xr", "iPhone XR (A12)",
      speed: 1.3, battery: 11_160, gigabytes: 3, osVersion: 18.7, free: 10),
    .iPhone(
      "iphone-11", "iPhone 11 (A13)",
      speed: 1.7, battery: 11_910, gigabytes: 4, osVersion: 26, free: 10),
    .iPhone(
      "iphone-se2", "iPhone SE of 2020 (A13)",
      speed: 1.7, battery: 6_960, gigabytes: 3, osVersion: 26, free: 10),
    .iPhone(
      "iphone-12", "iPhone 12 (A14)",
      speed: 2.1, battery: 10_780, gigabytes: 4, osVersion: 26, free: 10),
    .iPhone(
      "iphone-13", "iPhone 13 (A15)",
      speed: 2.5, battery: 12_410, gigabytes: 4, osVersion: 26, free: 20),
    .iPhone(
      "iphone-se3", "iPhone SE of 2022 (A15)",
      speed: 2.5, battery: 7_820, gigabytes: 4, osVersion: 26, free: 10),
    .iPhone(
      "iphone-14", "iPhone 14 (A15)",
      speed: 2.5, battery: 12_680, gigabytes: 6, osVersion: 26, free: 20),
    .iPhone(
      "iphone-14-pro", "iPhone 14 Pro (A16)",
      speed: 2.7, battery: 12_380, gigabytes: 6, osVersion: 26, free: 20),
    .iPhone(
      "iphone-15", "iPhone 15 (A16)",
      speed: 2.7, battery: 12_980, gigabytes: 6, osVersion: 26, free: 20),
    .iPhone(
      "iphone-15-pro", "iPhone 15 Pro (A17 Pro)",
      speed: 3, battery: 12_700, gigabytes: 8, osVersion: 26, free: 20),
    .iPhone(
      "iphone-16", "iPhone 16 (A18)",
      speed: 3.3, battery: 13_830, gigabytes: 8, osVersion: 26, free: 20),
    .iPhone(
      "iphone-16-pro", "iPhone 16 Pro (A18 Pro)",
      speed: 3.3, battery: 13_940, gigabytes: 8, osVersion: 26, free: 20),
    .android(
      "android-slow", "A slow Android phone, the Nexus 6 as measured for FLASH",
      overhead: 70, gigaflops: 4.02, perParameter: 37, perValue: 206, power: 3_600,
      gigabytes: 3, battery: 12_240, osVersion: 7, free: 2),
    .android(
      "android-middle", "A mid-range Android phone, the Redmi Note 8 as measured for FLASH",
      overhead: 52, gigaflops: 16.3, perParameter: 32, perValue: 134, power: 4_500,
      gigabytes: 4, battery: 15_400, osVersion: 11, free: 8),
    .android(
      "android-fast", "A fast Android phone, the Note 10 as measured for FLASH",
      overhead: 31, gigaflops: 35.9, perParameter: 9.1, perValue: 35, power: 5_600,
      gigabytes: 8, battery: 13_480, osVersion: 12, free: 20),
    HardwareModel(
      name: "hardware",
      summary: "A device with figures that you give; the defaults are those of an A11",
      hardware: Hardware()),
  ]
}

extension Catalog {
  /// Adds the classes of hardware that come with the simulator.
  public mutating func addHardware() {
    for model in HardwareModel.all {
      let figures = HardwareFigures(hardware: model.hardware)
      add(model.name, model.summary, figures, to: .hardwareClass) {
        NamedHardware(hardware: $0.hardware)
      }
    }
  }
}
