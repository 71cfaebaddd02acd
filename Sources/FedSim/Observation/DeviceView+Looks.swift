extension DeviceView {
  static func work(of device: Int, _ devices: Devices, _ cx: Context) -> DeviceView.Work {
    let state = devices[device]
    // Without a session, it is an upload that the system continues with.
    guard let session = state.session else {
      return cx.network[device].isBusy ? .uploading : .none
    }
    if state.run != nil { return .training }
    if let transfer = cx.network[transferOf: device] {
      switch transfer.purpose {
      case .upload, .reply: return transfer.wait != nil ? .waiting : .uploading
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
    return cx.network[device].isConnected ? .none : .offline
  }
}
