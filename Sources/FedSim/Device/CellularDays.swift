/// Bytes of the day over cellular networks, and what is left of the limit.
enum CellularDays {
  /// Counts bytes of a device that passed while its link had this state, where its group limits
  /// them.
  ///
  /// They belong to the day on which they are booked: as a phase of a request ends or the link
  /// changes, and for heartbeats as what decides about them changes.
  static func count(
    _ device: Int, link: UInt8, _ bytes: Int64, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard link == 1, bytes > 0,
      devices.groupConditions[Int(devices[device].group)].cellularBytes != nil
    else { return }
    if devices.fleetTables.cellularDays == nil {
      devices.fleetTables.cellularDays = Array(
        repeating: FleetTables.CellularDay(), count: devices.count)
    }
    let today = today(device, devices, cx)
    if devices.fleetTables.cellularDays![device].day != today {
      devices.fleetTables.cellularDays![device] = FleetTables.CellularDay(day: today)
    }
    devices.fleetTables.cellularDays![device].bytes += bytes
  }

  /// When a device may start without Wi-Fi again: the start, where it is below the limit; else the
  /// next local midnight, or never, where nothing is allowed.
  static func opens(
    _ device: Int, from limit: Int64, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> SimTime {
    guard limit > 0 else { return .never }
    guard let days = devices.fleetTables.cellularDays, days[device].bytes >= limit,
      days[device].day == today(device, devices, cx)
    else { return .start }
    return App.nextMidnight(device, devices, cx)
  }

  /// The local day at a device.
  private static func today(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> Int64 {
    let offset = cx.inputs.fleet[Int(devices[device].group)].utcOffset
    let local = cx.inputs.civilStart * 1_000_000 + offset.microseconds + cx.now.microseconds
    return local.floored(by: 86_400_000_000)
  }
}
