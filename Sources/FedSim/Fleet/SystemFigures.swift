import Schema

/// What the operating system's rules ask at every look, by group: figures alone, so that reading
/// them copies nothing else.
struct SystemFigures {
  let useLimit: SimDuration
  let attemptWithin: SimDuration
  let onBattery: Double
  let dailyRunTime: SimDuration?
  /// Processing tasks that start in a stretch of time at most; nil: not limited.
  let processingStarts: Int32?
  let allowsNights: Bool
  let likelihood: Double
  let idleSlop: SimDuration?
  let cpuLimit: SimDuration
  let cpuWindow: SimDuration
  let namesPermitted: Bool
  let refreshLimit: Int
  let processingLimit: Int

  /// The figures of a group; nil: it has no `system`.
  init?(_ background: BackgroundSettings) {
    guard let system = background.system else { return nil }
    useLimit = system.useLimit
    attemptWithin = system.attemptWithin
    onBattery = system.onBattery
    dailyRunTime = system.dailyRunTime
    processingStarts = system.processingStarts.map { Int32($0.atMost) }
    idleSlop = system.idleSlop
    cpuLimit = system.cpuLimit
    cpuWindow = system.cpuWindow
    allowsNights = system.forceQuitPolicy == .nightOnly
    namesPermitted = system.permitted != nil
    refreshLimit = system.refreshLimit
    processingLimit = system.processingLimit
    likelihood = background.refresh?.likelihood ?? 0
  }
}

extension FleetGroupSettings {
  /// Whether system and app remember something of a device.
  var needsApps: Bool {
    background.system != nil || app != nil || background.continued?.strategy != nil
  }
}

extension ProcessingSettings {
  /// The wait before the start, at a share.
  func delay(at share: Double) -> SimDuration {
    startDelays.map { SimDuration(roundingUp: Quantiles.value($0, at: share)) }
      ?? startDelay.scaled(by: share)
  }
}

extension RefreshSettings {
  /// The wait before the start, at a share.
  func delay(at share: Double) -> SimDuration {
    startDelays.map { SimDuration(roundingUp: Quantiles.value($0, at: share)) }
      ?? startDelay.scaled(by: share)
  }
}
