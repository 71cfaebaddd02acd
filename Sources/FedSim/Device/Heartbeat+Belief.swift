/// How full a battery was by a heartbeat, which is known by when it arrives.
struct BatteryReport: Codable {
  let arrival: SimTime
  /// In billionths.
  let level: Int32
}

extension Heartbeat {
  /// Heartbeats that were due before now and are not counted yet, under the conditions that still
  /// hold: when the first of those that are taken arrives, how many of them there are, and how many
  /// of these have arrived.
  private static func uncounted(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> (first: SimTime, period: Int64, count: Int, arrived: Int, way: SimDuration)? {
    let held = devices.identities.devices[device].beats.conditions
    let next = devices.identities.devices[device].beats.next
    guard held.period > 0, held.link != 0, held.isReachable, !held.isWithheld, next < cx.now,
      !devices.identities.devices[device].beats.isWaiting
    else { return nil }
    let way = beatSpans(held, cx).arrives
    let first = next + way
    let due = Int(((cx.now - next).microseconds - 1) / held.period) + 1
    let count = goodBeats(held, due, from: first)
    guard count > 0 else { return nil }
    let arrived =
      first > cx.now ? 0 : min(count, Int((cx.now - first).microseconds / held.period) + 1)
    return (first, held.period, count, arrived, way)
  }

  /// When the last heartbeat arrived at the server that it took; nil: none did.
  private static func lastHeard(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> SimTime? {
    if let beats = uncounted(device, devices, cx), beats.arrived > 0 {
      return beats.first + SimDuration(microseconds: Int64(beats.arrived - 1) * beats.period)
    }
    return devices.identities.devices[device].beats.belief.lastHeard(by: cx.now)
  }

  /// What the server believes of a device now, and how full its battery was by the last heartbeat;
  /// nil: none came, or it has no battery. It changes nothing.
  ///
  /// Complexity: O(heartbeats under way).
  static func belief(
    of device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> (presence: Presence, battery: Double?) {
    guard !devices.identities.isEmpty,
      cx.inputs.fleet[cx.members.group(of: device)].heartbeats != nil,
      let heard = lastHeard(device, devices, cx)
    else { return (.offline, nil) }
    let settings = devices.identities.presence
    let silence = cx.now - heard
    let presence: Presence =
      silence < settings.onlineFor
      ? .online : silence < settings.offlineAfter ? .idle : .offline
    let level = level(arriving: heard, of: device, devices, cx)
    return (presence, level.map { Double($0) / 1e9 })
  }

  /// How full a battery was as the heartbeat was due that arrives at a time; nil: nobody knows.
  private static func level(
    arriving time: SimTime, of device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> Int32? {
    let reports = devices.identities.devices[device].beats.reports
    if let report = reports.last(where: { $0.arrival == time }) { return report.level }
    guard let beats = uncounted(device, devices, cx), time >= beats.first,
      Body.hasBody(device, devices)
    else { return nil }
    let due = SimTime(microseconds: time.microseconds - beats.way.microseconds)
    return Body.batteryLevel(of: device, devices, at: due)
  }

  /// Keeps what heartbeats tell of a battery, before its flows or their conditions change: the last
  /// one that has arrived, and those under way.
  static func keepReports(_ device: Int, _ devices: inout Devices, _ cx: borrowing Context) {
    guard cx.features.readsBatteries,
      cx.inputs.fleet[cx.members.group(of: device)].heartbeats != nil,
      let beats = uncounted(device, devices, cx)
    else { return }
    var kept: [BatteryReport] = []
    for number in max(0, beats.arrived - 1)..<beats.count {
      let arrival = beats.first + SimDuration(microseconds: Int64(number) * beats.period)
      guard let level = level(arriving: arrival, of: device, devices, cx) else { continue }
      kept.append(BatteryReport(arrival: arrival, level: level))
    }
    guard !kept.isEmpty else { return }
    let heard = lastHeard(device, devices, cx) ?? .start
    var reports = devices.identities.devices[device].beats.reports.filter { old in
      old.arrival >= heard && !kept.contains { $0.arrival == old.arrival }
    }
    reports += kept
    devices.identities.devices[device].beats.reports = reports
  }
}
