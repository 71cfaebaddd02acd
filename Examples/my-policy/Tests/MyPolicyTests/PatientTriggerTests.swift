import FedSim
import FedSimTesting
import MyPolicy
import Schema
import Testing

@Suite("The patient trigger")
struct PatientTriggerTests {
  /// Three updates at once, or two after a minute; it looks every 10 s.
  private var script: PolicyScript {
    var settings = PatientTrigger.Settings()
    settings.updates = 3
    settings.patience = .minutes(1)
    settings.look = .seconds(10)
    var script = PolicyScript(model: [0, 0])
    script.server.trigger = [.part(PatientTrigger.self, settings)]
    return script
  }

  private func arriving(_ seconds: [Int64]) -> PlayedScript {
    var script = script
    for (place, second) in seconds.enumerated() {
      script.device(
        "d\(place)", visits: [.at(.zero, arrives: .seconds(second))], sends: [.weights([1, 1])])
    }
    return script.play()
  }

  @Test("at many updates it does not wait")
  func many() {
    let played = arriving([12, 15, 33])
    #expect(played.rounds.map(\.description) == ["round 1 at 33 s: published"])
    #expect(
      played.updates.map(\.description)
        == [
          "d0 on v0, 12 s: pending, v1", "d1 on v0, 15 s: pending, v1",
          "d2 on v0, 33 s: aggregated, v1",
        ])
  }

  @Test("the first of few waits for a minute, and until it looks again")
  func few() {
    // The first comes at 12 s, so its minute is over at 72 s, and the next look is at 80 s.
    #expect(arriving([12, 50]).rounds.map(\.description) == ["round 1 at 1 min 20 s: published"])
    // The second comes when the minute is over already.
    #expect(arriving([12, 95]).rounds.map(\.description) == ["round 1 at 1 min 35 s: published"])
  }

  @Test("one alone waits for ever")
  func alone() {
    let played = arriving([12])
    #expect(played.rounds == [])
    #expect(played.updates.map(\.outcome) == [.unfinishedAtEnd])
  }

  @Test("the next round has a minute of its own")
  func twice() {
    // Version 1 at 80 s. The next update comes at 97 s: its minute is over at 157 s, and the next
    // look is at 160 s.
    let played = arriving([12, 50, 97, 120])
    #expect(played.versions.map(\.publishedAt) == [.zero, .seconds(80), .seconds(160)])
    #expect(played.versions.map(\.updates) == [0, 2, 2])
  }

  @Test("it keeps what every trigger promises")
  func conformance() {
    #expect(Conformance().findings(of: PatientTrigger.self) == [])
  }
}
