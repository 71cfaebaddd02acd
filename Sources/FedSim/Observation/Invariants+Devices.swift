extension Invariants {
  /// The device of a scripted event.
  static func scriptedDevice(of event: Event, _ cx: borrowing Context) -> Int? {
    guard case .injection(let index) = event else { return nil }
    return cx.inputs.device(at: cx.inputs.injections[Int(index)].device.path)
  }
}
