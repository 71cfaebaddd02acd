/// What a device has sent and received over a cellular network on its local day.
struct CellularDay: Codable {
  /// The day, counted from 1970 on.
  var day = Int64.min
  var bytes: Int64 = 0
}

/// Bytes of the day over cellular networks, and what is left of the limit.
enum CellularDays {
  /// Counts bytes of a device that passed while its link had this state, where its group limits
  /// them.
  ///
  /// They belong to the day on which they are booked: as a phase of a request ends or the link
  /// changes, and for heartbeats as what decides about them changes.
  static func count(
    _ device: Int, link: UInt8, _ bytes: Int64, _ cx: inout Context
  ) {
    guard link == 1, bytes > 0, cx.features.limitsCellularBytes else { return }
    if cx.network.cellularDays.isEmpty {
      cx.network.cellularDays = Array(repeating: CellularDay(), count: cx.members.count)
    }
    let today = today(device, cx)
    if cx.network.cellularDays[device].day != today {
      cx.network.cellularDays[device] = CellularDay(day: today)
    }
    cx.network.cellularDays[device].bytes += bytes
  }

  /// When a device may start without Wi-Fi again: the start, where it is below the limit; else the
  /// next local midnight, or never, where nothing is allowed.
  static func opens(
    _ device: Int, from limit: Int64, _ cx: borrowing Context
  ) -> SimTime {
    guard limit > 0 else { return .never }
    guard !cx.network.cellularDays.isEmpty, cx.network.cellularDays[device].bytes >= limit,
      cx.network.cellularDays[device].day == today(device, cx)
    else { return .start }
    let day: Int64 = 86_400_000_000
    return cx.now + SimDuration(microseconds: day - (local(device, cx) - today(device, cx) * day))
  }

  /// The local day at a device, counted from 1970 on.
  private static func today(_ device: Int, _ cx: borrowing Context) -> Int64 {
    local(device, cx).floored(by: 86_400_000_000)
  }

  /// The local time at a device, in microseconds from 1970 on.
  private static func local(_ device: Int, _ cx: borrowing Context) -> Int64 {
    let offset = cx.inputs.fleet[cx.members.group(of: device)].utcOffset
    return cx.inputs.civilStart * 1_000_000 + offset.microseconds + cx.now.microseconds
  }
}
