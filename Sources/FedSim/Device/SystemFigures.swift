/// What the operating system's rules ask at every look, by group: figures alone, so that reading
/// them copies nothing else.
struct SystemFigures {
  let useLimit: SimDuration
  let attemptWithin: SimDuration
  let onBattery: Double
  let dailyRunTime: SimDuration?
  let allowsNights: Bool
  let likelihood: Double
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
    allowsNights = system.forceQuitPolicy == .nightOnly
    namesPermitted = system.permitted != nil
    refreshLimit = system.refreshLimit
    processingLimit = system.processingLimit
    likelihood = background.refresh?.likelihood ?? 0
  }
}
