import Numerics

/// Uploads that the operating system continues with when the app does not run: it has an update
/// from the moment at which the app begins to send it.
///
/// The update stays in the outbox until its receipt comes. Source: background sessions of Apple's
/// `URLSession`. Differs: a try that fails with a link is the app's again.
enum BackgroundTransfers {
  /// Whether a device hands its uploads to the system.
  static func areOn(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context) -> Bool {
    cx.inputs.fleet[Int(devices[device].group)].background.transfers == true
  }

  /// The update that the system is to send; nil: it has none.
  static func update(of device: Int, _ cx: borrowing Context) -> Int32? {
    guard !cx.network.handedOver.isEmpty, cx.network.handedOver[device] >= 0 else { return nil }
    return cx.network.handedOver[device]
  }

  /// Whether the request under way is an upload that the system has.
  static func isSending(_ device: Int, _ cx: borrowing Context) -> Bool {
    guard let update = update(of: device, cx) else { return false }
    return cx.network[transferOf: device]?.purpose == .upload(update)
  }

  /// The app begins to send an update.
  static func handOver(
    _ device: Int, _ update: Int32, _ devices: borrowing Devices, _ cx: inout Context
  ) {
    guard areOn(device, devices, cx) else { return }
    if cx.network.handedOver.isEmpty {
      cx.network.handedOver = Array(repeating: -1, count: cx.members.count)
    }
    cx.network.handedOver[device] = update
  }

  /// An update is the app's alone, or nobody's: the system does not send it again.
  static func release(_ device: Int, _ update: Int32, _ cx: inout Context) {
    if self.update(of: device, cx) == update { cx.network.handedOver[device] = -1 }
  }

  /// The system stops sending: the device goes off, or its user swipes the app away or removes it.
  static func cancel(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let update = update(of: device, cx) else { return }
    if isSending(device, cx) { Requesting.giveUpTransfer(device, &devices, &cx) }
    release(device, update, &cx)
  }

  /// A session ends: whether its upload continues without it. An app that stops because a condition
  /// is lost stops its upload, too.
  static func continues(
    _ device: Int, after end: SessionEnd, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    guard end != .conditionsLost, end != .erased, end != .left else {
      cancel(device, &devices, &cx)
      return false
    }
    guard isSending(device, cx) else { return false }
    cx.note(device, .condition(.uploadHandedOver))
    return true
  }

  /// There is a link and no app that would use it: the system sends what it has.
  static func proceed(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let update = update(of: device, cx), !devices[device].hasSession,
      cx.network[device].isConnected, !cx.network[device].isBusy
    else { return }
    Outbox.startUpload(device, update, &devices, &cx)
  }

  /// An upload failed: whether that is the system's affair. It tries again when there is a link; a
  /// failure that has another cause is the app's.
  static func keeps(
    _ device: Int, _ update: Int32, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    guard self.update(of: device, cx) == update else { return false }
    if !cx.network[device].isConnected {
      Outbox.markWaiting(update, &cx)
      return true
    }
    return isReturned(device, update, &devices, &cx)
  }

  /// The system is done with an update that it could not deliver: whether no app runs to see to it.
  static func isReturned(
    _ device: Int, _ update: Int32, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    release(device, update, &cx)
    if devices[device].hasSession { return false }
    Outbox.markWaiting(update, &cx)
    if cx.inputs.fleet[Int(devices[device].group)].outbox.capacity == 0 {
      devices[device].takeOut(update)
      cx.leaveDevice(update, .dropped)
    }
    return true
  }

  /// The server refuses an upload: whether no app runs to hear of it.
  static func isRefused(
    _ device: Int, _ update: Int32, _ refusal: Refusal, _ devices: inout Devices,
    _ cx: inout Context
  ) -> Bool {
    guard self.update(of: device, cx) == update else { return false }
    release(device, update, &cx)
    if devices[device].hasSession { return false }
    cx.note(device, .identity(.refused(refusal)))
    cx.note(device, .uploadFailed(update: Int(update), .init(refusal)))
    if refusal == .forbidden {
      devices[device].takeOut(update)
      cx.leaveDevice(update, .forbidden)
      return true
    }
    return isReturned(device, update, &devices, &cx)
  }
}
