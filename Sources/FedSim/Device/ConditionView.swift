/// What conditions look at: one device at one moment, as read-only values.
///
/// What a group has no settings for keeps the value here, with which no condition fails.
package struct ConditionView: Equatable, Sendable {
  package var isPlugged = false
  /// 0 offline, 1 cellular, 2 Wi-Fi.
  package var link: UInt8 = 0
  package var isUnmetered = false
  package var isInWindow = false
  /// Since when the device counts as idle, or will; never: it is in use.
  package var idleFrom = SimTime.start
  /// When the pending request may start; never: none is pending.
  package var requestFrom = SimTime.never

  /// When a device that has used up its bytes over a cellular network has some again.
  package var allowanceFrom = SimTime.start

  // Battery and heat.
  package var isOff = false
  package var isLowPower = false
  /// Unplugged and below what the system keeps for the essential.
  package var isLow = false
  /// Plugged in and full.
  package var isFull = false
  /// Unplugged and below what the app asks for.
  package var isBelowMinimum = false
  package var isTooWarm = false

  // What the system knows of the app.
  package var isRefreshOn = true
  /// Until when its app counts as used.
  package var usedUntil = SimTime.never
  /// When an app that was swiped away may have tasks again; never: when it is opened.
  package var swipedUntil = SimTime.start
  /// When there is run time of the day again.
  package var runTimeFrom = SimTime.start
  /// When the system starts another processing task.
  package var startsFrom = SimTime.start

  /// A view with these default values.
  package init() {}

  /// The times at which a condition begins or ceases to hold although nothing changes.
  package var turns: [SimTime] {
    [
      idleFrom, requestFrom, usedUntil + SimDuration(microseconds: 1), runTimeFrom, allowanceFrom,
      startsFrom,
    ]
  }
}

extension ConditionView {
  /// A device now, as one asker sees it. The caller adds the pending request.
  ///
  /// The link is a parameter: to read it through a borrowed context would copy the network. If a
  /// condition in `deciding` does not hold, battery and app are not read.
  @inline(__always)
  init(
    _ device: Int, for asker: Condition.Asker, link: UInt8, isUnmetered: Bool,
    deciding: Conditions = [], _ devices: borrowing Devices, _ cx: borrowing Context
  ) {
    isPlugged = devices[device].isPlugged
    self.link = link
    self.isUnmetered = isUnmetered
    isInWindow = devices[device].windowState != 0
    let place = Int(devices[device].group)
    if devices[device].isActive {
      idleFrom = .never
    } else if asker == .processing {
      idleFrom = devices[device].lockedSince + devices.groupConditions[place].idleDwell
    }
    if let limit = devices.groupConditions[place].cellularBytes {
      allowanceFrom = CellularDays.opens(device, from: limit, cx)
    }
    if !deciding.isEmpty, deciding.firstUnmet(self, at: cx.now) != nil { return }
    if Body.hasBody(device, devices) { lookAtBody(device, for: asker, devices, cx) }
    if !devices.apps.isEmpty { lookAtApp(device, for: asker, devices, cx) }
  }

  @inline(__always)
  private mutating func lookAtBody(
    _ device: Int, for asker: Condition.Asker, _ devices: borrowing Devices,
    _ cx: borrowing Context
  ) {
    let place = Int(devices[device].group)
    isOff = devices.bodies[device].state.isOff
    isLowPower = devices.bodies[device].state.isLowPower
    isFull = devices.bodies[device].state.isFull
    // Refresh tasks wait for nothing but critical heat, and that where settings say so.
    isTooWarm = devices.bodies[device].isSerious
    if asker == .refresh, isTooWarm {
      let isCritical = devices.bodies[device].state.thermal == .critical
      isTooWarm = devices.groupConditions[place].stopsCritical ? isCritical : false
    }
    guard !isPlugged else { return }
    let energy = devices.bodies[device].energy(at: cx.now)
    isLow = energy < devices.bodies[device].threshold(devices.groupConditions[place].essential)
    isBelowMinimum =
      energy < devices.bodies[device].threshold(devices.groupConditions[place].minimum)
  }

  @inline(__always)
  private mutating func lookAtApp(
    _ device: Int, for asker: Condition.Asker, _ devices: borrowing Devices,
    _ cx: borrowing Context
  ) {
    let place = Int(devices[device].group)
    // Field by field: a copy of the figures costs more than what is read of them.
    guard devices.systemFigures[place] != nil, devices.apps[device] != nil else { return }
    isRefreshOn = devices.apps[device]!.isRefreshOn
    usedUntil = devices.apps[device]!.lastUse + devices.systemFigures[place]!.useLimit
    if devices.apps[device]!.isForceQuit {
      let returns = asker == .processing && devices.systemFigures[place]!.allowsNights
      swipedUntil = returns ? App.nextNight(device, devices, cx) : .never
    }
    if asker == .processing, !devices[device].isActive {
      idleFrom = idleFrom + devices.apps[device]!.idleSlop
    }
    if asker == .processing, let limit = devices.systemFigures[place]!.processingStarts {
      startsFrom = devices.apps[device]!.startsFrom(atMost: limit)
    }
    if let daily = devices.systemFigures[place]!.dailyRunTime,
      devices.apps[device]!.runTime <= 0
    {
      let refill = max(1, daily.microseconds / 24)
      let missing = (-devices.apps[device]!.runTime) / refill + 1
      runTimeFrom = SimTime(
        microseconds: (devices.apps[device]!.refilledHour + missing) * 3_600_000_000)
    }
  }
}

/// What each asker checks for a group: plain figures, so that reading one copies nothing else.
struct GroupConditions {
  let processing: Conditions
  let refresh: Conditions
  /// Those of the two that are looked at first.
  let processingFirst: Conditions
  let refreshFirst: Conditions
  let app: Conditions
  let idleDwell: SimDuration
  /// Levels in percent: what the system keeps for the essential, and what the app asks for.
  let essential: Int
  let minimum: Int
  /// From how many bytes over a cellular network a day on a device starts on Wi-Fi only.
  let cellularBytes: Int64?
  /// Whether critical heat keeps even refresh tasks from starting.
  let stopsCritical: Bool

  init(_ group: FleetGroupSettings) {
    processing = Conditions(askedBy: .processing, of: group)
    refresh = Conditions(askedBy: .refresh, of: group)
    processingFirst = processing.intersection(.first)
    refreshFirst = refresh.intersection(.first)
    app = Conditions(askedBy: .app, of: group)
    idleDwell = group.background.processing?.idleDwell ?? .zero
    essential = group.battery?.essentialBelow ?? 0
    minimum = group.participation.minimumBattery ?? 0
    cellularBytes = group.participation.cellularBytesPerDay
    stopsCritical = group.thermal?.criticalStops == true
  }
}
