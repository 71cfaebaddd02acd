import FedSim
import FedSimTesting
import Learning
import Numerics
import Schema
import Synchronization
import Testing

/// What a selector was shown of the device that asked.
private final class Log: Sendable {
  let entries = Mutex<[(device: Int, facts: DeviceFacts)]>([])
}

/// Lets everybody in, and writes down what is known of them.
private struct Watcher: AdmittingSelector {
  static let name = "watcher"
  static let summary = "Lets everybody in, and writes down what is known of them"
  typealias Settings = NoSettings

  var log = Log()
  var wants = true
  init(_ settings: NoSettings) {}

  var needs: SelectorNeeds { wants ? .facts : [] }

  func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout NoMemory
  ) -> Admission {
    log.entries.withLock { $0.append((checkIn.device, server.facts(of: checkIn.device))) }
    #expect(server.known.isEmpty != wants)
    return .accept
  }
}

/// What selectors see and decide in a run.
@Suite("Scripted selection")
struct SelectionScriptTests {
  /// Ann asks at 0 and 100 s and trains for 3 s, Ben asks at 10 s.
  private func play(wants: Bool) -> [(device: Int, facts: DeviceFacts)] {
    let log = Log()
    var script = PolicyScript(model: [0, 0])
    script.server.selector = Choice(Watcher.self) {
      var watcher = $0
      (watcher.log, watcher.wants) = (log, wants)
      return watcher
    }
    script.server.trigger = [.threshold(1)]
    script.device(
      "ann", samples: 2, takes: .seconds(3), visits: [.at(.zero), .at(.seconds(100))],
      sends: [.weights([1, 0])])
    script.device("ben", samples: 5, visits: [.at(.seconds(10))], sends: [.weights([0, 1])])
    #expect(script.play().broken == [])
    return log.entries.withLock { $0 }
  }

  @Test("the server knows what it has heard of a device, and nothing of others")
  func facts() {
    let seen = play(wants: true)
    #expect(seen.map(\.device) == [0, 1, 0])
    var first = DeviceFacts()
    (first.samples, first.checkIns) = (2, 1)
    first.checkedInAt = seen[0].facts.checkedInAt
    #expect(seen[0].facts == first)
    #expect((seen[0].facts.checkedInAt ?? .never) < .start + .milliseconds(1))
    #expect(seen[1].facts.samples == 5 && seen[1].facts.timesChosen == 0)
    let again = seen[2].facts
    #expect(again.checkIns == 2 && again.timesChosen == 1 && again.lastRound == 1)
    #expect(again.timesAggregated == 1 && again.lossRound == 1)
    // From being let in at 0 to the arrival at 3 s, but for microseconds on the way.
    let took = again.duration ?? .zero
    #expect(took >= .seconds(3) && took < .seconds(3) + .milliseconds(1))
  }

  @Test("a selector that wants to know nothing is shown nothing")
  func nothing() {
    #expect(play(wants: false).allSatisfy { $0.facts == DeviceFacts() })
  }

  /// Three are chosen for two updates; the slowest comes in the next round, before its updates.
  private func late(_ selector: Choice<AnySelector>) -> PlayedScript {
    var script = PolicyScript(model: [0, 0])
    script.server.payload = .delta
    script.server.selector = selector
    script.server.trigger = [.part(CohortCompleteTrigger.self)]
    script.server.aggregator = .part(UniformMean.self)
    script.device(
      "cid", takes: .seconds(50), visits: [.at(.zero)], sends: [.difference([3, 3])])
    script.device(
      "ann", visits: [.at(.seconds(1)), .at(.seconds(51))], sends: [.difference([3, 0])])
    script.device(
      "ben", visits: [.at(.seconds(2)), .at(.milliseconds(51_200))], sends: [.difference([0, 3])])
    script.device(
      "dan", takes: .seconds(9), visits: [.at(.milliseconds(51_400))],
      sends: [.difference([9, 9])])
    return script.play()
  }

  @Test("late updates wait for their version where they are taken in, and end no round")
  func lateUpdates() {
    var settings = AvailabilitySelector.Settings()
    (settings.cohort, settings.overSelection) = (2, 1.5)
    let taken = late(.part(AvailabilitySelector.self, settings))
    // Round 1 is formed at 2 s and ends at 3 s with (3, 0) and (0, 3). Round 2 is formed at 51.4 s.
    // At 52 s Cid's update comes, and does not count towards the goal of 2; at 52.4 s those of Ann
    // and Ben do: (1.5, 1.5) + ((3, 0) + (0, 3) + (3, 3)) / 3.
    #expect(taken.versions.map(\.model) == [[0, 0], [1.5, 1.5], [3.5, 3.5]])
    #expect(taken.versions.last?.publishedAt == .milliseconds(52_400))
    #expect(taken.broken == [])
    settings.late = false
    let refused = late(.part(AvailabilitySelector.self, settings))
    #expect(refused.versions.map(\.model) == [[0, 0], [1.5, 1.5], [3, 3]])
    #expect(refused.broken == [])
  }
}
