extension DeviceView {
  static func energy(
    of device: Int, _ body: Body?, _ group: FleetGroupSettings, _ devices: Devices, _ cx: Context
  ) -> DeviceView.Energy {
    guard let body, let battery = group.battery else { return .normal }
    if body.isOff { return .off }
    if body.isLowPower { return .lowPower }
    let isLow =
      !devices[device].isPlugged
      && body.energy(at: cx.now) < body.threshold(battery.essentialBelow)
    return isLow ? .low : .normal
  }

  static func work(of device: Int, _ devices: Devices) -> DeviceView.Work {
    let state = devices[device]
    guard let session = state.session else { return .none }
    if state.run != nil { return .training }
    if let transfer = state.transfer {
      switch transfer.purpose {
      case .upload, .reply: return .uploading
      case .central(.model): return .downloading
      case .central: return .uploading
      case .download: return .downloading
      case .identity: return .identifying
      case .enrolment: return .checking
      case .check:
        return transfer.isHeld && transfer.phase == .awaiting ? .waiting : .checking
      }
    }
    if session.isStuck { return .stuck }
    if session.isPausing { return .pausing }
    return state.isConnected ? .none : .offline
  }
}
