import FedSim
import Results

/// What the fleet consists of, by device, where its groups say so.
enum FleetColumns {
  /// Columns of the devices' table; −1 and 0 for devices whose groups do not say.
  static func byDevice(_ devices: DeviceRecords) -> [ResultDocument.Variable] {
    hardware(devices) + presence(devices) + arrival(devices) + traces(devices) + own(devices)
  }

  private static func own(_ devices: DeviceRecords) -> [ResultDocument.Variable] {
    guard devices.contains(where: { $0.ownBase != nil }) else { return [] }
    return [
      .count(
        "ownBase", ["device"], devices.map { $0.ownBase ?? -1 },
        "version from which the device's personal model was trained, -1: the app's initial model")
    ]
  }

  private static func hardware(_ devices: DeviceRecords) -> [ResultDocument.Variable] {
    guard devices.contains(where: { $0.hardware != nil }) else { return [] }
    var names = ["none"]
    for case let hardware? in devices.map(\.hardware) where !names.contains(hardware.name) {
      names.append(hardware.name)
    }
    names = ["none"] + names.dropFirst().sorted()
    let reasons = ["none"] + Unfitness.allCases.map(\.rawValue)
    return [
      .init(
        "hardware", ["device"],
        codes: devices.map { device in
          Int8(device.hardware.map { names.firstIndex(of: $0.name)! } ?? 0)
        }, meanings: names, longName: "class of hardware"),
      .init(
        "declines", ["device"],
        codes: devices.map { device in
          Int8(device.hardware?.unfitness.map { reasons.firstIndex(of: $0.rawValue)! } ?? 0)
        }, meanings: reasons, longName: "why the device cannot train the model"),
    ]
  }

  private static func presence(_ devices: DeviceRecords) -> [ResultDocument.Variable] {
    guard devices.contains(where: { $0.presence != nil }) else { return [] }
    return [
      .count(
        "joins", ["device"], devices.map { $0.presence?.joins ?? 0 },
        "number of times that the device joined the fleet after the start"),
      .count(
        "leaves", ["device"], devices.map { $0.presence?.leaves ?? 0 },
        "number of times that the device left the fleet"),
      .seconds(
        "timeInFleet", ["device"], devices.map { $0.presence?.total.seconds ?? -1 },
        "time that the device belonged to the fleet", comment: "-1: always"),
    ]
  }

  private static func traces(_ devices: DeviceRecords) -> [ResultDocument.Variable] {
    guard devices.contains(where: { !$0.traces.isEmpty }) else { return [] }
    let names = ["power", "link", "usage", "window", "share", "presence", "capacity"]
    return names.compactMap { name in
      let numbers = devices.map { $0.traces.first { $0.name == name }?.number ?? -1 }
      guard numbers.contains(where: { $0 >= 0 }) else { return nil }
      return .count(
        name + "Trace", ["device"], numbers,
        "the trace of the device's \(name), by its place in the file, from 0; -1: none")
    }
  }

  private static func arrival(_ devices: DeviceRecords) -> [ResultDocument.Variable] {
    guard devices.contains(where: { $0.arrived != nil }) else { return [] }
    return [
      .count(
        "samplesArrived", ["device"], devices.map { $0.arrived ?? $0.samples },
        "training samples that had arrived by the end")
    ]
  }
}
