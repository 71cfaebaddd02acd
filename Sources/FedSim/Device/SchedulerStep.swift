/// What the system's scheduler does with a pending request.
package enum SchedulerStep: Equatable, Sendable {
  /// Starts its task, after the delay that is drawn for it.
  case start
  /// Starts its task by chance: in which quarter of an hour is drawn.
  case draw
  /// Looks again at this time, or when something changes; never: then alone.
  case wait(until: SimTime)

  /// The step that follows from these facts.
  @inline(__always)
  package init(_ facts: SchedulerFacts, at now: SimTime) {
    // Its own timer rings at the earliest begin, and what is held up ends with an event.
    if facts.isHeldUp || now < facts.earliestBegin {
      self = .wait(until: .never)
    } else if let unmet = facts.asked.firstUnmet(facts.view, at: now) {
      self = .wait(until: unmet.opens(facts.view))
    } else {
      self = facts.isByChance ? .draw : .start
    }
  }
}

/// What the scheduler knows when it looks at a request.
package struct SchedulerFacts: Sendable {
  /// Whether the app runs in a session that such a task does not take the place of, or the device
  /// is not in the fleet.
  package var isHeldUp = false
  /// The earliest begin that the request itself names.
  package var earliestBegin = SimTime.start
  /// The conditions of the system for such a task.
  package var asked: Conditions = []
  /// The device; not read where the request is held up or too early.
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
    earliestBegin = request.earliestBegin
    let isBusy = devices[device].sessionKind.map { isRefresh || !$0.endsOnLock } ?? false
    isHeldUp = isBusy ? true : Membership.isAway(device, devices)
    guard !isHeldUp, earliestBegin <= cx.now else { return }
    let place = Int(devices[device].group)
    let asker: Condition.Asker = isRefresh ? .refresh : .processing
    asked =
      isRefresh ? devices.groupConditions[place].refresh : devices.groupConditions[place].processing
    view = ConditionView(
      device, for: asker, link: cx.network[device].link,
      isUnmetered: cx.network[device].isUnmetered, devices, cx)
    view.requestFrom = max(earliestBegin, devices[device].scheduler.next(request.kind))
    let isRuled = devices.systemFigures.isEmpty ? false : devices.systemFigures[place] != nil
    isByChance = isRuled && (isRefresh || !view.isPlugged)
  }
}
