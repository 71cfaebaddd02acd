import Numerics

/// What a change of link does to a request under way and to an open stream.
extension Requesting {
  /// The outcome of a connection with its link.
  enum Standing {
    /// There was none, or it continues.
    case unharmed
    /// It waits for its link.
    case waits
    /// It has failed.
    case broken
  }

  /// The link has changed from `before`, whose rates were these.
  ///
  /// A lost link is waited for. If it returns in time, not a bit is lost. If another link comes,
  /// the connection breaks, unless it survives a handover: then the byte under way begins again.
  static func linkChanged(
    _ device: Int, from rates: Link, _ before: UInt8, _ devices: inout Devices, _ cx: inout Context
  ) -> Standing {
    guard
      devices[device].hasSession || cx.network[device].isBusy
        || cx.network[device].awaitedLink != 0
    else { return .unharmed }
    let place = Int(devices[device].group)
    let after = cx.network[device].link
    guard after != 0 else {
      let patience = cx.inputs.fleet[place].network.patience
      if awaitLink(device, from: rates, before, patience, &devices, &cx) { return .waits }
      breakOff(device, from: rates, before, &devices, &cx)
      return .broken
    }
    let awaited = cx.network[device].awaitedLink
    if before == 0, awaited == 0 { return .unharmed }
    if awaited == after {
      cx.network[device].awaitedLink = 0
      resume(device, &devices, &cx)
      return .unharmed
    }
    guard cx.network[device].isBusy || Streams.isOpen(device, devices, cx) else {
      cx.network[device].awaitedLink = 0
      return .unharmed
    }
    guard cx.inputs.fleet[place].network.handover == .survives else {
      handOver(device, from: rates, before, &devices, &cx)
      return .broken
    }
    if let phase = cx.network[transferOf: device]?.phase, phase != .awaiting {
      countProgress(device, rates, before, &cx)
      cx.network[transferOf: device]!.fraction = 0
    }
    cx.network[device].awaitedLink = 0
    resume(device, &devices, &cx)
    return .unharmed
  }

  /// The rates of the link have changed: not a bit is lost.
  static func ratesChanged(_ device: Int, from rates: Link, _ cx: inout Context) {
    guard let phase = cx.network[transferOf: device]?.phase, phase != .awaiting,
      cx.network[device].isConnected
    else { return }
    countProgress(device, rates, cx.network[device].link, &cx)
    planTransfer(device, &cx)
  }

  /// The connection is gone: the request under way fails, after what has passed over a link of this
  /// state.
  static func breakOff(
    _ device: Int, from rates: Link, _ link: UInt8, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard let phase = cx.network[transferOf: device]?.phase else { return }
    if phase != .awaiting { countProgress(device, rates, link, &cx) }
    failTransfer(device, phase == .awaiting ? .unacknowledged : .linkLost, &devices, &cx)
  }

  /// The link is gone: what needs it waits; false where nothing does, or not for a moment.
  private static func awaitLink(
    _ device: Int, from rates: Link, _ link: UInt8, _ patience: SimDuration,
    _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    guard patience > .zero else { return false }
    let isWaiting = cx.network[transferOf: device]?.wait != nil
    let hasStream = isWaiting || Streams.isOpen(device, devices, cx)
    guard cx.network[device].isBusy || hasStream else { return false }
    if let phase = cx.network[transferOf: device]?.phase, phase != .awaiting {
      countProgress(device, rates, link, &cx)
    }
    cx.network[device].awaitedLink = link
    // Nothing takes a number before the link is back: this one tells whether it is still this gap.
    cx.network[device].generation += 1
    let gap = cx.network[device].generation
    if cx.network[device].isBusy { cx.network[transferOf: device]!.plan = gap }
    let limit = hasStream ? min(patience, Streams.keepalive(device, devices, cx)) : patience
    cx.schedule(
      .deviceTimer(.patience, device: Int32(device), generation: gap), .deviceTimer,
      at: cx.now + limit, by: device)
    return true
  }

  /// There is a link for the request under way: its bytes pass, an answer that came meanwhile is
  /// there.
  private static func resume(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let phase = cx.network[transferOf: device]?.phase else { return }
    if phase != .awaiting {
      planTransfer(device, &cx)
    } else if let response = cx.network[transferOf: device]!.response {
      cx.network[transferOf: device]!.response = nil
      answered(device, response, &devices, &cx)
    }
  }

  /// The link has not returned in time; false where it has.
  static func patienceRang(
    _ device: Int, _ generation: UInt32, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    guard cx.network[device].awaitedLink != 0, cx.network[device].generation == generation else {
      return false
    }
    lose(device, &devices, &cx)
    return true
  }

  /// Another link has come for the one that is gone, and the connection is gone with that.
  ///
  /// The device does what it does when a link is lost and the next one is there at once: what
  /// looks for a link meanwhile finds none. The files of a collector are separate requests: the
  /// next one finds the new link.
  private static func handOver(
    _ device: Int, from rates: Link, _ link: UInt8, _ devices: inout Devices, _ cx: inout Context
  ) {
    if let phase = cx.network[transferOf: device]?.phase, phase != .awaiting {
      countProgress(device, rates, link, &cx)
    }
    var isFile = false
    if case .central? = cx.network[transferOf: device]?.purpose { isFile = true }
    if !isFile { cx.network[device].isDropped = true }
    lose(device, &devices, &cx)
    cx.network[device].isDropped = false
  }

  /// What waited for a link, or was on it, is lost.
  private static func lose(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    cx.network[device].awaitedLink = 0
    if let phase = cx.network[transferOf: device]?.phase {
      failTransfer(device, phase == .awaiting ? .unacknowledged : .linkLost, &devices, &cx)
    }
    cx.dialect(of: devices[device].group)?
      .onLink(device, isConnected: false, &devices, &cx)
  }
}
