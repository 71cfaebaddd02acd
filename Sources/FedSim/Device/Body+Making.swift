import Numerics

extension Body {
  /// Gives a battery and heat to the devices whose groups have them.
  static func makeBodies(_ devices: inout Devices, _ cx: inout Context) {
    guard cx.inputs.fleet.contains(where: { $0.battery != nil }) else { return }
    devices.batteryFigures = cx.inputs.fleet.map { $0.battery ?? BatterySettings() }
    var figures = cx.inputs.fleet.map { group in
      group.battery.map { BodyFigures($0, group.thermal) } ?? BodyFigures()
    }
    // First whose figures each device has, for the list may move while it grows.
    var places = devices.indices.map { Int32(devices[$0].group) }
    for device in devices.indices {
      let group = Int(devices[device].group)
      guard figures[group].isThere, let made = Roster.hardware(of: device, devices) else {
        continue
      }
      var battery = devices.batteryFigures[group]
      battery.capacity = made.hardware.battery
      let own = BodyFigures(battery, cx.inputs.fleet[group].thermal)
      if let place = figures.firstIndex(of: own) {
        places[device] = Int32(place)
      } else {
        places[device] = Int32(figures.count)
        figures.append(own)
      }
    }
    for own in figures { devices.bodyFigures.append(own) }
    devices.bodies.reserveCapacity(devices.count)
    for place in places { devices.bodies.append(Body(devices.bodyFigures.address(Int(place)))) }
  }
}
