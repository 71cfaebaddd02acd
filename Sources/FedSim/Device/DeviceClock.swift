import Schema

/// Clocks of devices and local time.
enum DeviceClock {
  /// What a device's own clock shows at a time, in UTC, counted as the true time is.
  static func ownTime(_ device: Int, at time: SimTime, _ devices: inout Devices) -> SimTime {
    SimTime(microseconds: Self.own(time.microseconds, devices.identities.devices[device]))
  }

  /// Order: skew first, then drift rounded down; a later time never shows less.
  private static func own(_ time: Int64, _ identity: Identity) -> Int64 {
    guard identity.drift != 0 else { return time + identity.skew }
    let (high, low) = time.multipliedFullWidth(by: identity.drift)
    var (quotient, rest) = Int64(1_000_000_000).dividingFullWidth((high, low))
    if rest < 0 { (quotient, rest) = (quotient - 1, 0) }
    return time + identity.skew + quotient
  }

  /// The first time from the start on at which a device's own clock shows as much.
  static func trueTime(_ device: Int, showing own: SimTime, _ devices: inout Devices) -> SimTime {
    // Longer than any run by far.
    guard own < SimTime(microseconds: .max / 4) else { return .never }
    let identity = devices.identities.devices[device]
    if identity.drift == 0 {
      return SimTime(microseconds: max(0, own.microseconds - identity.skew))
    }
    // The clock goes at nine tenths of the right pace at least.
    var low: Int64 = 0
    var high = max(0, own.microseconds - identity.skew) / 9 * 10 + 10
    while low < high {
      let middle = (low + high) / 2
      if Self.own(middle, identity) >= own.microseconds { high = middle } else { low = middle + 1 }
    }
    return SimTime(microseconds: low)
  }

  /// Local civil time in seconds since 1970 by a device's own clock, rounded down.
  static func localSeconds(
    _ device: Int, at time: SimTime, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> Int64 {
    let group = cx.inputs.fleet[Int(devices[device].group)]
    var own = time.microseconds
    if !devices.identities.isEmpty { own = Self.own(own, devices.identities.devices[device]) }
    let seconds = cx.inputs.civilStart + own.floored(by: 1_000_000)
    var offset = group.utcOffset
    // The zone's table goes by the true time: a wrong clock does not move the change.
    let civil = cx.inputs.civilStart + time.microseconds.floored(by: 1_000_000)
    for zone in group.clock?.zones ?? [] where zone.from.secondsSince1970 <= civil {
      offset = zone.utcOffset
    }
    return seconds + offset.microseconds.floored(by: 1_000_000)
  }

  /// A second since 1970 as `yyyyMMddHHmmss`.
  static func digits(ofSecond second: Int64) -> String {
    // A clock that is wrong by millennia shows the last second that has a name.
    let named = min(max(second, -62_135_596_800), 253_402_300_799)
    return CivilTime(secondsSince1970: named).text.filter(\.isNumber)
  }

  /// The hour of the day in which the app is used, by the device's own clock.
  static func usageHour(
    _ device: Int, _ time: SimTime, _ devices: inout Devices, _ cx: inout Context
  ) -> Int {
    if devices.identities.isEmpty { return App.localHour(device, time, devices, cx) }
    let seconds = localSeconds(device, at: time, devices, cx)
    return Int((seconds - seconds.floored(by: 86_400) * 86_400) / 3_600)
  }
}
