extension Simulation {
  /// Events that were played ahead of their turn, so far.
  package var eventsPlayedAhead: Int { cx.ahead.count }

  /// Plays what the current device does next as far as it is its own affair.
  mutating func playAhead(_ device: Int) {
    cx.ahead.isAhead = true
    while let next = cx.agenda.upcoming, next.time < stallCheck.nextCheck,
      PlayingAhead.isOwnAffair(next.event, device, &devices, &server, &cx)
    {
      handle(cx.agenda.popUpcoming())
      cx.ahead.count += 1
    }
    cx.ahead.isAhead = false
  }
}
