import FedSim
import Testing

@Suite("The scheduler's decision")
struct SchedulerStepTests {
  /// A request at 1000 µs for a device for which all conditions hold.
  private static func facts(_ change: (inout SchedulerFacts) -> Void) -> SchedulerFacts {
    var facts = SchedulerFacts()
    facts.asked = Conditions(Condition.allCases)
    facts.view.isPlugged = true
    facts.view.link = 2
    facts.view.isUnmetered = true
    facts.view.isInWindow = true
    facts.view.requestFrom = at(900)
    change(&facts)
    return facts
  }

  private static func at(_ microseconds: Int64) -> SimTime { SimTime(microseconds: microseconds) }

  /// What is decided at 1000 µs.
  private func step(_ change: (inout SchedulerFacts) -> Void) -> SchedulerStep {
    SchedulerStep(Self.facts(change), at: Self.at(1000))
  }

  @Test("A request for which all holds starts, at once or by chance")
  func starts() {
    #expect(step { _ in } == .start)
    #expect(step { $0.isByChance = true } == .draw)
    // Exactly at the time is in time.
    #expect(step { $0.view.idleFrom = Self.at(1000) } == .start)
    #expect(step { $0.view.usedUntil = Self.at(1000) } == .start)
  }

  private typealias Row = (Condition, @Sendable (inout SchedulerFacts) -> Void, until: Int64?)

  /// What keeps a request from starting, and when it is looked at again.
  private static let rows: [Row] = [
    (.on, { $0.view.isOff = true }, nil),
    (.energy, { $0.view.isLow = true }, nil),
    (.energy, { $0.view.isLowPower = true }, nil),
    (.normalPower, { $0.view.isLowPower = true }, nil),
    (.cool, { $0.view.isTooWarm = true }, nil),
    (.charging, { $0.view.isPlugged = false }, nil),
    (.filling, { $0.view.isFull = true }, nil),
    (.battery, { $0.view.isBelowMinimum = true }, nil),
    (.online, { $0.view.link = 0 }, nil),
    (.wifi, { $0.view.link = 1 }, nil),
    (.unmetered, { $0.view.isUnmetered = false }, nil),
    (.idle, { $0.view.idleFrom = .never }, nil),
    (.idle, { $0.view.idleFrom = SimTime(microseconds: 1001) }, 1001),
    (
      .allowance,
      {
        $0.view.link = 1
        $0.view.allowanceFrom = .never
      }, nil
    ),
    (
      .allowance,
      {
        $0.view.link = 0
        $0.view.allowanceFrom = SimTime(microseconds: 3000)
      }, 3000
    ),
    (.window, { $0.view.isInWindow = false }, nil),
    (.request, { $0.view.requestFrom = .never }, nil),
    (.due, { $0.view.requestFrom = SimTime(microseconds: 1500) }, 1500),
    (.refreshOn, { $0.view.isRefreshOn = false }, nil),
    (.used, { $0.view.usedUntil = SimTime(microseconds: 999) }, nil),
    (.notSwiped, { $0.view.swipedUntil = .never }, nil),
    (.notSwiped, { $0.view.swipedUntil = SimTime(microseconds: 5000) }, 5000),
    (.runTime, { $0.view.runTimeFrom = SimTime(microseconds: 7000) }, 7000),
    (.startsLeft, { $0.view.startsFrom = SimTime(microseconds: 8000) }, 8000),
  ]

  @Test("What does not hold is looked at again at its time, or when something changes")
  func waits() {
    #expect(Set(Self.rows.map(\.0)) == Set(Condition.allCases))
    for (unmet, change, until) in Self.rows {
      let expected = SchedulerStep.wait(until: until.map(Self.at) ?? .never)
      for isByChance in [false, true] {
        let only = step {
          change(&$0)
          $0.asked = [unmet]
          $0.isByChance = isByChance
        }
        #expect(only == expected, "\(unmet)")
      }
      // Where nobody asks for it, it keeps nothing from starting.
      let unasked = step {
        change(&$0)
        $0.asked = []
      }
      #expect(unasked == .start)
    }
  }

  @Test("Of several the first in the list says when")
  func first() {
    // Idle at 1200 and due at 1500: idle comes first. Unplugged comes before both.
    let both = step {
      $0.view.idleFrom = Self.at(1200)
      $0.view.requestFrom = Self.at(1500)
    }
    #expect(both == .wait(until: Self.at(1200)))
    let three = step {
      $0.view.idleFrom = Self.at(1200)
      $0.view.isPlugged = false
    }
    #expect(three == .wait(until: .never))
  }

  @Test("What is held up, or too early by its own wish, waits for an event")
  func heldUp() {
    func step(isHeldUp: Bool, from begin: Int64) -> SchedulerStep? {
      SchedulerStep.beforehand(
        isHeldUp: isHeldUp, earliestBegin: Self.at(begin), at: Self.at(1000))
    }
    #expect(step(isHeldUp: true, from: 1000) == .wait(until: .never))
    #expect(step(isHeldUp: false, from: 1001) == .wait(until: .never))
    // Exactly at the time is in time.
    #expect(step(isHeldUp: false, from: 1000) == nil)
  }

  @Test("No condition before the last of those that are looked at first is opened by time")
  func lookedAtFirst() throws {
    var view = ConditionView()
    view.idleFrom = Self.at(1)
    view.requestFrom = Self.at(2)
    view.allowanceFrom = Self.at(3)
    view.swipedUntil = Self.at(4)
    view.runTimeFrom = Self.at(5)
    let last = try #require(Condition.allCases.lastIndex { Conditions.first.contains($0) })
    for condition in Condition.allCases[...last] {
      #expect(condition.opens(view) == .never, "\(condition)")
    }
    #expect(Condition.allCases.contains { $0.opens(view) != .never })
  }

  @Test("The place of a condition in the list is its number")
  func places() {
    for (place, condition) in Condition.allCases.enumerated() {
      #expect(Condition.at(UInt8(place)) == condition && Int(condition.rawValue) == place)
    }
  }
}
