/// What the system's scheduler does with a pending request.
package enum SchedulerStep: Equatable, Sendable {
  /// Starts its task, after the delay that is drawn for it.
  case start
  /// Starts its task by chance: in which quarter of an hour is drawn.
  case draw
  /// Looks again at this time, or when something changes; never: then alone.
  case wait(until: SimTime)

  /// The step that follows before the device is read; nil: its conditions decide.
  ///
  /// The device has a timer at the earliest begin, and an event ends what blocks the request.
  @inline(__always)
  package static func beforehand(
    isHeldUp: Bool, earliestBegin: SimTime, at now: SimTime
  ) -> SchedulerStep? {
    isHeldUp || now < earliestBegin ? .wait(until: .never) : nil
  }

  /// The step that follows from these facts.
  @inline(__always)
  package init(_ facts: SchedulerFacts, at now: SimTime) {
    if let unmet = facts.asked.firstUnmet(facts.view, at: now) {
      self = .wait(until: unmet.opens(facts.view))
    } else {
      self = facts.isByChance ? .draw : .start
    }
  }
}

/// What the scheduler knows when it looks at a device for a request.
package struct SchedulerFacts: Sendable {
  /// The conditions of the system for such a task.
  package var asked: Conditions = []
  /// The device, as far as it was read.
  package var view = ConditionView()
  /// Whether such a task starts in some quarters of an hour only, once all conditions hold.
  package var isByChance = false

  /// A request that may start.
  package init() {}
}

extension SchedulerFacts {
  @inline(__always)
  init(
    _ device: Int, _ request: TaskRequest, _ devices: borrowing Devices, _ cx: inout Context
  ) {
    let isRefresh = request.kind == .refresh
    let place = Int(devices[device].group)
    let asker: Condition.Asker = isRefresh ? .refresh : .processing
    let conditions = devices.groupConditions[place]
    asked = isRefresh ? conditions.refresh : conditions.processing
    view = ConditionView(
      device, for: asker, link: cx.network[device].link,
      isUnmetered: cx.network[device].isUnmetered,
      deciding: isRefresh ? conditions.refreshFirst : conditions.processingFirst, devices, cx)
    view.requestFrom = max(request.earliestBegin, devices[device].scheduler.next(request.kind))
    let isRuled = devices.systemFigures.isEmpty ? false : devices.systemFigures[place] != nil
    isByChance = isRuled && (isRefresh || !view.isPlugged)
  }

  /// Whether the app runs in a session that a task of a kind does not take the place of, or the
  /// device is not in the fleet.
  @inline(__always)
  static func isHeldUp(_ device: Int, _ kind: TaskKind, _ devices: borrowing Devices) -> Bool {
    if let running = devices[device].sessionKind, kind == .refresh || !running.endsOnLock {
      return true
    }
    return Membership.isAway(device, devices)
  }
}
