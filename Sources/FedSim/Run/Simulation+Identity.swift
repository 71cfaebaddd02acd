import Numerics

extension Simulation {
  /// Whether any device has its own identity.
  public var hasIdentities: Bool { !devices.identities.isEmpty }

  /// How often what happened to identities; nil where no device has one.
  public var identityCounts: IdentityCounts? {
    devices.identities.isEmpty ? nil : cx.books.identities
  }

  /// Device-time in microseconds by what the server believed and what was true, over the devices
  /// that send heartbeats. Shapes: [belief][truth].
  public var presence: [[Int64]] {
    var sums = [[Int64]](repeating: [0, 0, 0], count: 3)
    for (device, identity) in zip(devices.all, devices.identities.devices)
    where cx.inputs.fleet[Int(device.group)].heartbeats != nil {
      for (place, time) in identity.beats.belief.times.enumerated() {
        sums[place / 3][place % 3] += time
      }
    }
    return sums
  }

  /// The same by the link that the last heartbeat reported and the true one, over the devices whose
  /// group says what heartbeats tell; nil where none does. Shapes: [belief][truth].
  public var linkBelief: [[Int64]]? {
    guard cx.inputs.fleet.contains(where: { $0.heartbeats?.reportedLink != nil }) else {
      return nil
    }
    var sums = [[Int64]](repeating: [0, 0, 0], count: 3)
    for (device, identity) in zip(devices.all, devices.identities.devices)
    where cx.inputs.fleet[Int(device.group)].heartbeats?.reportedLink != nil {
      for (place, time) in identity.beats.belief.linkTimes.enumerated() {
        sums[place / 3][place % 3] += time
      }
    }
    return sums
  }
}
