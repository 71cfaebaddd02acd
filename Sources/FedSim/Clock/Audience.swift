import Learning

/// Something that every observer hears of, whatever else it wants.
enum Announcement {
  case published(VersionRecord)
  case closed(RoundRecord)
  case publishedCentrally(CentralVersion)
  /// The members of a cohort will most likely train on a model next; `isBeforehand`: the cohort has
  /// not formed yet. No observer hears of it.
  case trainingsComing([Int], from: ParameterBuffer, isBeforehand: Bool)
  /// A version was made that something goes with. No observer hears of it.
  case companionsMade
  /// It came after one of these, and is heard of in this order.
  case happened(ObservedEvent)
}

/// Who looks on: observers, and whether any of them wants to see every event.
struct Audience {
  private(set) var observers: [any Observer] = []
  private(set) var wantsEveryEvent = false

  /// From now on these look on.
  mutating func seat(_ observers: [any Observer]) {
    self.observers = observers
  }

  /// Finds out what they want, as the run begins.
  mutating func ask() { wantsEveryEvent = observers.contains { $0.wantsEveryEvent } }

  /// What happened in the event under way that all of them hear once it was handled.
  private(set) var announcements: [Announcement] = []

  /// Everyone will hear of something once the event under way was handled.
  mutating func announce(_ announcement: Announcement) { announcements.append(announcement) }

  /// Takes out what everyone has still to hear of, in the order in which it happened.
  mutating func takeAnnouncements() -> [Announcement] {
    defer { announcements = [] }
    return announcements
  }

  /// Tells all of them what happened, in its order among announcements.
  mutating func tell(_ event: ObservedEvent) {
    guard announcements.isEmpty else { return announce(.happened(event)) }
    for observer in observers { observer.happened(event) }
  }
}
