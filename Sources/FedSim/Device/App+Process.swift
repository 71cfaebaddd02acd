import Numerics

/// How long the app's process lives: in a person's hand, suspended, and until the system needs its
/// memory.
extension App {
  /// A person opens the app, for as long as is drawn.
  ///
  /// Draws: one `normal` at slot = the time of opening in microseconds (purpose `app-time`).
  static func takeUp(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let settings = settings(device, &devices, &cx), devices.apps[device] != nil else {
      return
    }
    wake(device, &devices)
    // A script may open the app of a locked device: it runs for its session alone.
    devices.apps[device]!.isOpen = devices[device].isActive
    devices.apps[device]!.opening += 1
    guard let time = settings.openFor else { return }
    var stream = Scheduler.schedulerKey(device, "app-time", &devices, &cx).stream(
      slot: UInt64(cx.now.microseconds))
    cx.schedule(
      .deviceTimer(
        .leaving, device: Int32(device), generation: devices.apps[device]!.opening),
      .deviceTimer, at: cx.now + time.drawn(from: &stream), by: device)
  }

  /// A person leaves the app and keeps using the device.
  static func leave(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if devices[device].sessionKind?.endsOnLock == true {
      Session.endSession(device, .locked, &devices, &cx)
    }
    Installation.setOpen(device, false, &devices)
    putAway(device, &devices, &cx)
    Scheduler.considerTask(device, &devices, &cx)
  }

  /// The app is no longer in a person's hand.
  static func putAway(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !devices.apps.isEmpty, devices.apps[device]?.isOpen == true else { return }
    devices.apps[device]!.isOpen = false
    devices.apps[device]!.opening += 1
    suspend(device, &devices, &cx)
  }

  /// The app has nothing to run for: it is suspended, and stays in memory for as long as is drawn.
  ///
  /// Draws: one `normal` at slot = the time of suspension in microseconds (purpose `eviction`).
  static func suspend(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !devices.apps.isEmpty, devices.apps[device] != nil, devices[device].session == nil,
      !devices.apps[device]!.isOpen,
      let time = settings(device, &devices, &cx)?.evictedAfter
    else { return }
    devices.apps[device]!.suspension += 1
    var stream = Scheduler.schedulerKey(device, "eviction", &devices, &cx).stream(
      slot: UInt64(cx.now.microseconds))
    cx.schedule(
      .deviceTimer(
        .eviction, device: Int32(device), generation: devices.apps[device]!.suspension),
      .kill, at: cx.now + time.drawn(from: &stream), by: device)
  }

  /// The app runs again before the system has needed its memory.
  static func wake(_ device: Int, _ devices: inout Devices) {
    if !devices.apps.isEmpty { devices.apps[device]?.suspension += 1 }
  }

  /// The system removes the suspended app from memory.
  static func evict(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    cx.books.tallies.bySystem.evictions += 1
    cx.note(device, .condition(.unloaded))
    endIdleProcess(device, &devices, &cx)
  }

  /// The device is locked: from some time on the system will find it idle.
  static func lock(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices[device].lockedSince = cx.now
    drawIdleSlop(device, &devices, &cx)
  }

  /// Draws how much later the system finds the device idle.
  ///
  /// Draws: one `uniform` at slot = the time of locking in microseconds (purpose `idle-slop`).
  static func drawIdleSlop(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard !devices.apps.isEmpty, devices.apps[device] != nil,
      let slop = devices.systemFigures[Int(devices[device].group)]?.idleSlop
    else { return }
    var stream = Scheduler.schedulerKey(device, "idle-slop", &devices, &cx).stream(
      slot: UInt64(cx.now.microseconds))
    devices.apps[device]!.idleSlop = slop.scaled(by: stream.uniform())
  }

  /// A process ends that runs for nothing now: what it held in memory is gone.
  static func endIdleProcess(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    endProcess(device, &devices, &cx)
    Outbox.loseUnstored(device, &devices, &cx)
  }
}
