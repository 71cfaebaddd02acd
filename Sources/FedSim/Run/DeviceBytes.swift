/// What a device at rest needs of memory: one that does not run the app, with a battery, the rules
/// of its system, and the series of a phone.
package enum DeviceBytes {
  /// The parts, in bytes of one device.
  package static let parts: [(name: String, bytes: Int)] = [
    ("state, requests to the system, model and updates", MemoryLayout<Device>.stride),
    ("battery and heat", MemoryLayout<Body>.stride),
    ("what system and app remember", MemoryLayout<AppRegion?>.stride),
    ("network", MemoryLayout<Line>.stride),
    ("six events to come", EventLists.bytesOfActor),
    ("time of the next event", MemoryLayout<FiledMark>.stride),
    ("series of link and use (`markov`)", 2 * MemoryLayout<MarkovChain.Place>.stride),
    ("series of the charger (`diurnal`)", MemoryLayout<DailyTimelines.Day>.stride),
    ("counts of what it did", MemoryLayout<DeviceActivity>.stride),
    (
      "its work and energy",
      MemoryLayout<DeviceEffort>.stride + MemoryLayout<DeviceEnergy>.stride
    ),
    ("client, samples, waiting updates", 3 * MemoryLayout<Int32>.stride),
  ]

  /// The sum of the parts.
  package static var total: Int { parts.reduce(0) { $0 + $1.bytes } }
}

extension Simulation {
  /// The bytes of a device's row; 0 in a fleet without rows.
  package var bytesOfRow: Int { devices.rows?.stride ?? 0 }
}
