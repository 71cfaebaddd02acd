extension Heartbeat {
  /// The app has just been registered, or a refresh task begins: it sends a heartbeat now.
  static func owe(
    _ device: Int, after moment: KeyPath<HeartbeatSettings, Bool?>, _ devices: inout Devices,
    _ cx: borrowing Context
  ) {
    guard let settings = cx.inputs.fleet[Int(devices[device].group)].heartbeats,
      settings[keyPath: moment] == true
    else { return }
    devices.identities.devices[device].beats.isOwed = true
  }

  /// The heartbeat that is owed is the next one; those that follow come at their interval after it.
  static func pay(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices.identities.devices[device].beats.isOwed = false
    let beats = devices.identities.devices[device].beats
    // One that waits for a token or a number is sent as soon as it has it.
    guard beats.conditions.period > 0, !beats.isWaiting else { return }
    devices.identities.devices[device].beats.next = cx.now
  }
}
