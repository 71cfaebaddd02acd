/// Enrolment and speed tests as in SwiftSyft.
enum Workers {
  /// What comes before a request for work: a device enrols as a new worker, and measures its link
  /// where the server wants that.
  ///
  /// Source: SwiftSyft's `SyftClient.start`.
  static func enrol(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> BeforeCheck {
    guard !devices.clients.isEmpty, devices[device].session?.kind.isPoll == false,
      let settings = cx.inputs.fleet[Int(devices[device].group)].protocol?.worker
    else { return .check }
    let message = cx.inputs.server.messageBytes
    switch devices.clients[device].enrolment {
    case .ready:
      // A further request for work is one of a further worker.
      devices.clients[device].enrolment = .authenticate
      return .check
    case .authenticate:
      cx.network.speeds[device] = MeasuredSpeeds()
      Requesting.startRequest(device, .enrolment, .enrol, bytes: message, &devices, &cx)
    case .upload:
      Requesting.startRequest(
        device, .enrolment, .probe(isUpload: true), bytes: message.adding(settings.probeBytes),
        &devices, &cx)
    case .download:
      Requesting.startRequest(
        device, .enrolment, .probe(isUpload: false), bytes: message, &devices, &cx)
    }
    guard case .probe = cx.network[transferOf: device]!.request else { return .begun }
    devices.clients[device].probeSince = cx.now
    cx.schedule(
      .deviceTimer(
        .probe, device: Int32(device), generation: cx.network[transferOf: device]!.id),
      .deviceTimer,
      at: cx.now + settings.probeTimeout, by: device)
    return .begun
  }

  /// A probe has taken too long; false where it is through.
  static func probeRang(
    _ device: Int, _ generation: UInt32, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    guard let transfer = cx.network[transferOf: device], transfer.id == generation else {
      return false
    }
    if transfer.phase != .awaiting {
      Requesting.countProgress(device, cx.network[device].rates, cx.network[device].link, &cx)
    }
    Requesting.failTransfer(device, .timedOut, &devices, &cx)
    return true
  }

  /// A device was enrolled.
  static func enrolled(
    _ device: Int, needsSpeedTest: Bool, _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.note(device, .exchange(.enrolled))
    devices.clients[device].enrolment = needsSpeedTest ? .upload : .ready
    Session.proceed(device, &devices, &cx)
  }

  /// All bytes of a probe are sent: what the link carries to the server.
  static func uploadMeasured(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    cx.network.speeds[device].upload = measured(device, devices, cx)
  }

  /// A probe was answered in full.
  static func probed(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard devices.clients[device].enrolment == .download else {
      devices.clients[device].enrolment = .download
      return Session.proceed(device, &devices, &cx)
    }
    cx.network.speeds[device].download = measured(device, devices, cx)
    devices.clients[device].enrolment = .ready
    cx.books.instructions.speedTests += 1
    cx.note(device, .exchange(.speedTested))
    Session.proceed(device, &devices, &cx)
  }

  /// The size of a probe with its message.
  static func probeBytes(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Int64
  {
    let settings = cx.inputs.fleet[Int(devices[device].group)].protocol?.worker
    return cx.inputs.server.messageBytes.adding(settings?.probeBytes ?? 0)
  }

  private static func measured(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> BitRate
  {
    BitRate(of: probeBytes(device, devices, cx), in: cx.now - devices.clients[device].probeSince)
  }

  /// Whether the server wants to know how fast a device's link is.
  ///
  /// Source: PyGrid's `requires_speed_test`.
  static func wantsSpeedTest(_ cx: borrowing Context) -> Bool {
    guard let cycle = cx.features.admission?.cycle else { return false }
    return cycle.minimumUpload != nil || cycle.minimumDownload != nil
  }

  /// Whether a plan belongs to the model that has come, and is asked for too.
  static func wantsPlan(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  {
    guard cx.features.givesKeys, cx.features.admission?.cycle.planBytes != nil else { return false }
    return devices[device].session?.kind.isPoll == false
  }
}

extension BitRate {
  /// The mean rate of this many bytes in a duration, rounded down, at least 1 bit/s.
  init(of bytes: Int64, in duration: SimDuration) {
    let microseconds = max(1, duration.microseconds)
    let (high, low) = bytes.multipliedFullWidth(by: 8_000_000)
    guard high < microseconds / 2 else {
      self.init(bitsPerSecond: .max)
      return
    }
    self.init(bitsPerSecond: max(1, microseconds.dividingFullWidth((high, low)).quotient))
  }
}
