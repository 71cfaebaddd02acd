/// The loop's part in polls that are foreseen.
extension Simulation {
  /// Takes the next event of all. Who polls and may be let in before it comes first, and who polls
  /// and has something else to do is played again.
  mutating func popNext() -> EventQueue.Entry? {
    guard var entry = cx.agenda.queue.popFirst() else { return nil }
    guard cx.agenda.pollers.isOn else { return entry }
    if cx.agenda.pollers.isStale {
      cx.agenda.pollers.set(
        closedUntil: cx.inputs.server.selector.value.closedUntil(
          cx.played, with: server.memories.selector))
    }
    if let (device, place) = cx.agenda.pollers.next(before: entry, until: cx.end) {
      Polling.wake(device, at: place, server, &devices, &cx)
      cx.agenda.queue.push(entry)
      entry = cx.agenda.queue.popFirst()!
    } else if entry.actor > 0, cx.agenda.pollers.has(Int(entry.actor) - 1) {
      Polling.wake(Int(entry.actor) - 1, at: EventPlace(entry), server, &devices, &cx)
      // What it did before this is booked, and what is in the queue now comes after it.
    }
    cx.agenda.pollers.reach(entry)
    return entry
  }

  /// Polls are foreseen from now on where they may be, and are played where they may not.
  mutating func decideAboutPolls() {
    let isPossible = Polling.isPossible(devices, &cx)
    if cx.agenda.pollers.isOn, !isPossible {
      wakeAll()
      cx.agenda.pollers.turnOff()
    } else if !cx.agenda.pollers.isOn, isPossible {
      cx.agenda.pollers.turnOn(devices: devices.count)
    }
  }

  /// All devices are played again, from the place on that the run has reached.
  mutating func wakeAll() {
    while let device = cx.agenda.pollers.last {
      Polling.wake(device, at: cx.agenda.pollers.reached, server, &devices, &cx)
    }
    takePolls()
  }

  /// The digest of polls becomes part of the run's.
  mutating func takePolls() {
    if cx.agenda.pollers.isOn { eventDigest.add(cx.agenda.pollers.takeDigest()) }
  }
}
