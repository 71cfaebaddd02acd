import FedSim

/// Holds a selector to the time until which it says that it turns everybody away: requests are then
/// booked without asking it (`AdmittingSelector.closedUntil`).
///
/// 240 devices ask at different times, and some of those that were let in deliver. Where the
/// selector is closed, those it rejected last ask again: now, halfway, and at the last moment.
struct ClosedCheck {
  let make: () -> AnySelector

  func run(_ findings: inout Findings) {
    let selector = make()
    guard selector.saysWhenClosed else { return }
    var memory = selector.part.freshMemory()
    var accepted: [Int] = []
    var rejected: [Int] = []
    for index in 0..<240 {
      let now = SimTime.start + .seconds(7 * Int64(index))
      let answer = selector.answer(checkIn(index), view(now), with: &memory)
      if answer == .accept { accepted.append(index) } else { rejected.append(index) }
      if index % 5 == 4, selector.needs.contains(.news), !accepted.isEmpty {
        selector.hear(
          index % 2 == 0 ? .delivered : .lost, from: accepted.removeFirst(), view(now),
          with: &memory)
      }
      guard let end = selector.closedUntil(now, with: memory), end > now else { continue }
      let length = end.microseconds - now.microseconds
      let times = [0, length / 2, length - 1].map {
        SimTime(microseconds: now.microseconds + $0)
      }
      for device in rejected.suffix(3) {
        for time in times {
          ask(device, selector, at: time, closedUntil: end, memory, &findings)
        }
      }
      if findings.has(.closed) { return }
    }
  }

  /// A device asks again while nobody is let in.
  private func ask(
    _ device: Int, _ selector: AnySelector, at time: SimTime, closedUntil end: SimTime,
    _ memory: AnyMemory, _ findings: inout Findings
  ) {
    var copy = memory
    let answer = selector.answer(checkIn(device), view(time), with: &copy)
    if answer != .reject {
      findings.add(
        .closed, "it says that it is closed until \(end), and its answer at \(time) is \(answer)")
    } else if (try? copy.archived()) != (try? memory.archived()) {
      findings.add(
        .closed,
        "it says that it is closed until \(end), and remembers something new of a request at "
          + "\(time): requests that are booked without it would be missed")
    }
  }

  private func checkIn(_ device: Int) -> CheckIn { CheckIn(device: device, heldVersion: -1) }

  private func view(_ now: SimTime) -> ServerView {
    ServerView(
      now: now, version: 0, round: 1, pending: 0, cohortGoal: nil, cohortSize: 0,
      roundOpenedAt: .start, known: [])
  }
}
