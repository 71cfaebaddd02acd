import Schema

extension FleetGroupSettings {
  /// Whether system and app remember something of a device.
  var needsApps: Bool {
    background.system != nil || app != nil || background.continued?.strategy != nil
  }
}

/// The field of a table of start delays.
func startDelaysField<Owner>(
  _ path: WritableKeyPath<Owner, [QuantilePoint<SimDuration>]?> & Sendable
) -> Field<Owner> {
  Field(
    "startDelays", path, feature: .list(of: .settings()), assumption: true,
    "Quantiles of the wait from being eligible to the start; absent: uniform up to `startDelay`")
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

extension Simulation {
  /// Whether the system lets a continued task of the app run now.
  private mutating func mayContinue(_ device: Int) -> Bool {
    devices[device].session?.kind.isTask != true && !isOff(device) && !isSparing(device)
  }

  /// The person starts a training in the app, perhaps: at once, later or never.
  mutating func openContinued(_ device: Int, _ strategy: ContinuedSettings.Strategy) {
    let isWanted = startsContinued(device)
    if isWanted, !mayContinue(device) {
      let error: SubmitError? = strategy == .fail ? .immediateRunIneligible : nil
      cx.note(device, .submitted(task: "continued", error))
      if error != nil {
        cx.books.tallies.refusedRequests += 1
      } else {
        devices.apps[device]!.isQueued = true
      }
    } else if isWanted {
      takeOver(device)
      if devices[device].session == nil { return beginContinued(device) }
    }
    if devices[device].session == nil {
      beginSession(device, .activation, soft: .never, hard: .never)
    }
  }

  /// A continued task that waits begins once nothing stands in its way.
  mutating func startQueued(_ device: Int) {
    guard devices.apps[device]?.isQueued == true, mayContinue(device) else { return }
    takeOver(device)
    guard devices[device].session == nil else { return }
    devices.apps[device]!.isQueued = false
    beginContinued(device)
  }

  private mutating func beginContinued(_ device: Int) {
    beginSession(device, .continued, soft: .never, hard: .never)
    if devices[device].session != nil, !devices[device].isConnected { awaitLink(device) }
  }

  /// Critical heat ends the running background task, where the settings say so.
  mutating func stopAtCritical(_ device: Int) {
    let group = cx.inputs.fleet[Int(devices[device].group)]
    guard group.thermal?.criticalStops == true, let kind = devices[device].session?.kind,
      kind.isTask
    else { return }
    let background = group.background
    switch kind {
    case .refresh: expireNow(device, grace: background.refresh!.grace)
    case .continued: expireNow(device, grace: background.continued!.grace)
    default: expireNow(device, grace: background.processing?.grace ?? .seconds(5))
    }
  }
}
