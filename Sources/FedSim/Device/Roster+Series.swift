import Learning
import Numerics

extension Roster {
  /// The settings of a device's group.
  @inline(__always)
  static func group(of device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> FleetGroupSettings
  { cx.inputs.fleet[Int(devices[device].group)] }

  /// The state of a device's series now.
  static func worldState(
    _ series: Series, _ device: Int, _ devices: inout Devices, _ cx: inout Context
  ) -> UInt8 {
    cx.world.state(
      series, group: Int(devices[device].group), ordinal: Int(devices[device].ordinal), at: cx.now)
  }

  /// The next change of a device's series.
  static func worldNext(
    _ series: Series, _ device: Int, after time: SimTime, _ devices: inout Devices,
    _ cx: inout Context
  ) -> (time: SimTime, state: UInt8)? {
    cx.world.next(
      series, group: Int(devices[device].group), ordinal: Int(devices[device].ordinal),
      after: time)
  }

  /// Schedules a device's next change of a series.
  static func scheduleNext(
    _ series: Series, _ device: Int, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard let next = worldNext(series, device, after: cx.now, &devices, &cx) else { return }
    cx.schedule(
      .world(series, device: Int32(device), state: next.state), .world, at: next.time, by: device)
  }

  /// Schedules the server's next change of a series.
  static func scheduleNext(_ series: ServerSeries, _ cx: inout Context) {
    guard let next = cx.world.next(series, after: cx.now) else {
      if series == .internet { cx.network.server.isFinal = true }
      return
    }
    cx.schedule(.server(series, state: next.state), .world, at: next.time, by: nil)
  }
}
