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

  /// Tells all of them what happened.
  func tell(_ happening: Happening) {
    for observer in observers { observer.happened(happening) }
  }
}
