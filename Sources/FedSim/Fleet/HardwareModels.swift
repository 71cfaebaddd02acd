import Schema

// iPhones: the reference is chosen so that the 585,958-parameter CNN of Flower's iOS example takes
// 260 µs a sample in batches of 128 at a relative speed of 1.9, between A13 and A14; batteries are
// published figures, everything else is an assumption.

extension Hardware {
  fileprivate static func iPhone(
    speed: Double, battery: Int64, gigabytes: Int64, osVersion: Double, neuralEngine: Double,
    free: Int64
  ) -> Hardware {
    var hardware = Hardware()
    hardware.speed = speed
    hardware.battery = .milliwattHours(battery)
    hardware.memory = gigabytes * 1_000_000_000
    hardware.osVersion = osVersion
    hardware.neuralEngine = neuralEngine
    hardware.freeStorage = free * 1_000_000_000
    return hardware
  }

  /// The figures are those of the fit to one phone of each of FLASH's classes.
  fileprivate static func android(
    overhead: Int64, gigaflops: Double, perParameter: Double, perValue: Double, power: Int64,
    gigabytes: Int64, battery: Int64, osVersion: Double, free: Int64
  ) -> Hardware {
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
    return hardware
  }
}

enum IPhone8: HardwareModel {
  static let name = "iphone-8"
  static let summary = "iPhone 8 (A11), whose Neural Engine is not open to apps"
  static let hardware = Hardware.iPhone(
    speed: 1, battery: 6_960, gigabytes: 2, osVersion: 16.7, neuralEngine: 0, free: 10)
}

enum IPhoneXR: HardwareModel {
  static let name = "iphone-xr"
  static let summary = "iPhone XR (A12)"
  static let hardware = Hardware.iPhone(
    speed: 1.3, battery: 11_160, gigabytes: 3, osVersion: 18.7, neuralEngine: 3, free: 10)
}

enum IPhone11: HardwareModel {
  static let name = "iphone-11"
  static let summary = "iPhone 11 (A13)"
  static let hardware = Hardware.iPhone(
    speed: 1.7, battery: 11_910, gigabytes: 4, osVersion: 26, neuralEngine: 3, free: 10)
}

enum IPhoneSE2: HardwareModel {
  static let name = "iphone-se2"
  static let summary = "iPhone SE of 2020 (A13)"
  static let hardware = Hardware.iPhone(
    speed: 1.7, battery: 6_960, gigabytes: 3, osVersion: 26, neuralEngine: 3, free: 10)
}

enum IPhone12: HardwareModel {
  static let name = "iphone-12"
  static let summary = "iPhone 12 (A14)"
  static let hardware = Hardware.iPhone(
    speed: 2.1, battery: 10_780, gigabytes: 4, osVersion: 26, neuralEngine: 3, free: 10)
}

enum IPhone13: HardwareModel {
  static let name = "iphone-13"
  static let summary = "iPhone 13 (A15)"
  static let hardware = Hardware.iPhone(
    speed: 2.5, battery: 12_410, gigabytes: 4, osVersion: 26, neuralEngine: 3, free: 20)
}

enum IPhoneSE3: HardwareModel {
  static let name = "iphone-se3"
  static let summary = "iPhone SE of 2022 (A15)"
  static let hardware = Hardware.iPhone(
    speed: 2.5, battery: 7_820, gigabytes: 4, osVersion: 26, neuralEngine: 3, free: 10)
}

enum IPhone14: HardwareModel {
  static let name = "iphone-14"
  static let summary = "iPhone 14 (A15)"
  static let hardware = Hardware.iPhone(
    speed: 2.5, battery: 12_680, gigabytes: 6, osVersion: 26, neuralEngine: 3, free: 20)
}

enum IPhone14Pro: HardwareModel {
  static let name = "iphone-14-pro"
  static let summary = "iPhone 14 Pro (A16)"
  static let hardware = Hardware.iPhone(
    speed: 2.7, battery: 12_380, gigabytes: 6, osVersion: 26, neuralEngine: 3, free: 20)
}

enum IPhone15: HardwareModel {
  static let name = "iphone-15"
  static let summary = "iPhone 15 (A16)"
  static let hardware = Hardware.iPhone(
    speed: 2.7, battery: 12_980, gigabytes: 6, osVersion: 26, neuralEngine: 3, free: 20)
}

enum IPhone15Pro: HardwareModel {
  static let name = "iphone-15-pro"
  static let summary = "iPhone 15 Pro (A17 Pro)"
  static let hardware = Hardware.iPhone(
    speed: 3, battery: 12_700, gigabytes: 8, osVersion: 26, neuralEngine: 3, free: 20)
}

enum IPhone16: HardwareModel {
  static let name = "iphone-16"
  static let summary = "iPhone 16 (A18)"
  static let hardware = Hardware.iPhone(
    speed: 3.3, battery: 13_830, gigabytes: 8, osVersion: 26, neuralEngine: 3, free: 20)
}

enum IPhone16Pro: HardwareModel {
  static let name = "iphone-16-pro"
  static let summary = "iPhone 16 Pro (A18 Pro)"
  static let hardware = Hardware.iPhone(
    speed: 3.3, battery: 13_940, gigabytes: 8, osVersion: 26, neuralEngine: 3, free: 20)
}

enum AndroidSlow: HardwareModel {
  static let name = "android-slow"
  static let summary = "A slow Android phone, the Nexus 6 as measured for FLASH"
  static let hardware = Hardware.android(
    overhead: 70, gigaflops: 4.02, perParameter: 37, perValue: 206, power: 3_600,
    gigabytes: 3, battery: 12_240, osVersion: 7, free: 2)
}

enum AndroidMiddle: HardwareModel {
  static let name = "android-middle"
  static let summary = "A mid-range Android phone, the Redmi Note 8 as measured for FLASH"
  static let hardware = Hardware.android(
    overhead: 52, gigaflops: 16.3, perParameter: 32, perValue: 134, power: 4_500,
    gigabytes: 4, battery: 15_400, osVersion: 11, free: 8)
}

enum AndroidFast: HardwareModel {
  static let name = "android-fast"
  static let summary = "A fast Android phone, the Note 10 as measured for FLASH"
  static let hardware = Hardware.android(
    overhead: 31, gigaflops: 35.9, perParameter: 9.1, perValue: 35, power: 5_600,
    gigabytes: 8, battery: 13_480, osVersion: 12, free: 20)
}

/// A device whose figures are all given.
enum AnyHardware: HardwareModel {
  static let name = "hardware"
  static let summary = "A device with figures that you give; the defaults are those of an A11"
  static let hardware = Hardware()
}

extension Catalog {
  /// Adds the classes of hardware that come with the simulator.
  public mutating func addHardware() {
    func add<Model: HardwareModel>(_ model: Model.Type) {
      self.add(NamedHardware<Model>.self, to: .hardwareClass) { $0 }
    }
    add(IPhone8.self)
    add(IPhoneXR.self)
    add(IPhone11.self)
    add(IPhoneSE2.self)
    add(IPhone12.self)
    add(IPhone13.self)
    add(IPhoneSE3.self)
    add(IPhone14.self)
    add(IPhone14Pro.self)
    add(IPhone15.self)
    add(IPhone15Pro.self)
    add(IPhone16.self)
    add(IPhone16Pro.self)
    add(AndroidSlow.self)
    add(AndroidMiddle.self)
    add(AndroidFast.self)
    add(AnyHardware.self)
  }
}
