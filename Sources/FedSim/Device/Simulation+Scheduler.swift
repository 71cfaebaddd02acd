import Numerics

extension Simulation {
  /// The app asks the operating system for a processing task; a pending request is replaced.
  ///
  /// The system starts at most one task of an app in each quarter of an hour, its scan period.
  mutating func submitTaskRequest(_ device: Int) {
    guard let processing = group(of: device).background.processing else { return }
    devices[device].scheduler.isPending = true
    let begin = max(now + processing.earliestBegin, devices[device].scheduler.nextScan)
    devices[device].scheduler.earliestBegin = begin
    devices[device].scheduler.isStarting = false
    devices[device].scheduler.generation += 1
    if begin > now {
      schedule(
        .deviceTimer(.earliestBegin, device: Int32(device), generation: 0), .deviceTimer,
        at: begin, by: device)
    }
    if !devices[device].isActive, devices[device].lockedSince + processing.idleDwell > now {
      schedule(
        .deviceTimer(.idle, device: Int32(device), generation: 0), .deviceTimer,
        at: devices[device].lockedSince + processing.idleDwell, by: device)
    }
    considerTask(device)
  }

  /// Looks whether the pending request may start, and draws when.
  ///
  /// Draws: one `uniform` at slot = the quarter of an hour (purpose `task-start`).
  mutating func considerTask(_ device: Int) {
    guard devices[device].scheduler.isPending, !devices[device].scheduler.isStarting,
      let processing = group(of: device).background.processing, mayStart(device, processing)
    else { return }
    devices[device].scheduler.isStarting = true
    devices[device].scheduler.generation += 1
    var stream = schedulerKey(device, "task-start").stream(slot: quarter(now))
    let delay = processing.startDelay.scaled(by: stream.uniform())
    schedule(
      .taskStart(device: Int32(device), generation: devices[device].scheduler.generation), .scan,
      at: now + delay, by: device)
  }

  private func mayStart(_ device: Int, _ processing: ProcessingSettings) -> Bool {
    if let session = devices[device].session, session.kind != .activation { return false }
    if !bodies.isEmpty, isSparing(device) { return false }
    return now >= devices[device].scheduler.earliestBegin && !devices[device].isActive
      && now >= devices[device].lockedSince + processing.idleDwell
      && (devices[device].isPlugged || !processing.requiresExternalPower)
      && (devices[device].isConnected || !processing.requiresNetworkConnectivity)
  }

  /// The drawn start has come: the conditions are looked at again.
  ///
  /// Draws: one `normal` at slot = the quarter of an hour (purpose `task-budget`).
  mutating func startTask(_ device: Int) {
    devices[device].scheduler.isStarting = false
    guard let processing = group(of: device).background.processing, mayStart(device, processing)
    else { return }
    devices[device].scheduler.isPending = false
    devices[device].scheduler.nextScan = SimTime(
      microseconds: Int64(quarter(now) + 1) * 900_000_000)
    var stream = schedulerKey(device, "task-budget").stream(slot: quarter(now))
    let drawn = SimDuration(
      roundingUp: stream.logNormal(
        median: processing.budgetMedian.seconds, sigma: processing.budgetSpread))
    let budget = min(max(drawn, processing.budgetMinimum), processing.budgetMaximum)
    takeOver(device)
    if processing.resubmit == .atStart { submitTaskRequest(device) }
    beginSession(device, .task, soft: now + (budget - processing.grace), hard: now + budget)
  }

  /// The number of the quarter of an hour since the start.
  func quarter(_ time: SimTime) -> UInt64 { UInt64(time.microseconds / 900_000_000) }

  /// The key of what the operating system and the person draw.
  func schedulerKey(_ device: Int, _ purpose: Purpose) -> StreamKey {
    StreamKey(
      seed: inputs.seeds.world, purpose: purpose, group: group(of: device).name,
      ordinal: UInt32(devices[device].ordinal))
  }
}
