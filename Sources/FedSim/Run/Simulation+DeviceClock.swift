import Schema

extension Simulation {
  /// What a device's own clock shows at a time, in its own time zone (written as if it were UTC).
  public func localTime(of device: Int, at time: SimTime) -> CivilTime {
    CivilTime(secondsSince1970: DeviceClock.localSeconds(device, at: time, devices, cx))
  }

  /// The name that a device gives to a file of data at a time: user, local time, kind.
  ///
  /// Source: SwiftyForesight, `LibraData`: `<userID>_<yyyyMMddHHmmss>_data.csv`.
  public func fileName(of device: Int, at time: SimTime) -> String {
    Roster.path(of: device, devices, cx).replacing("/", with: "-") + "_"
      + DeviceClock.digits(ofSecond: DeviceClock.localSeconds(device, at: time, devices, cx))
      + "_data.csv"
  }
}
