extension Simulation {
  /// The time that the run as a whole has reached.
  public var progressTime: SimTime { cx.played }
  /// Whether devices are played on ahead of it, so that devices are not all at the same time.
  public var playsAhead: Bool { cx.ahead.isOn }

  /// Tells the observers what all of them hear of.
  mutating func deliver() {
    for announcement in cx.audience.takeAnnouncements() {
      if case .trainingsComing(let members, let model, let isBeforehand) = announcement {
        Training.predict(members, from: model, isBeforehand: isBeforehand, &devices, &cx)
      }
      if case .companionsMade = announcement { ClientStates.letGoOfCompanions(devices, &cx) }
      for observer in cx.audience.observers {
        switch announcement {
        case .published(let record): observer.published(record, self)
        case .closed(let record): observer.closed(record, self)
        case .publishedCentrally(let version): observer.publishedCentrally(version, self)
        case .happened(let event): observer.happened(event)
        case .trainingsComing, .companionsMade: break
        }
      }
    }
  }

  /// Tells those who want to know that the run continued.
  func tellAdvance() {
    for observer in cx.audience.observers where observer.wantsAdvance { observer.advanced(self) }
  }
}
