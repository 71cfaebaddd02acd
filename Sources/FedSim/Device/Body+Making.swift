import Numerics

extension Body {
  /// Gives a battery and heat to the devices whose groups have them.
  static func makeBodies(_ devices: inout Devices, _ cx: inout Context) {
    guard cx.inputs.fleet.contains(where: { $0.battery != nil }) else { return }
    devices.batteryFigures = cx.inputs.fleet.map { $0.battery ?? BatterySettings() }
    let usual = cx.inputs.fleet.map { group in
      group.battery.map { Body($0, group.thermal) } ?? Body()
    }
    devices.bodies.reserveCapacity(devices.count)
    for place in devices.indices {
      let group = Int(devices[place].group)
      guard usual[group].isThere, let made = Roster.hardware(of: place, devices) else {
        devices.bodies.append(usual[group])
        continue
      }
      var battery = devices.batteryFigures[group]
      battery.capacity = made.hardware.battery
      devices.bodies.append(Body(battery, cx.inputs.fleet[group].thermal))
    }
  }
}
