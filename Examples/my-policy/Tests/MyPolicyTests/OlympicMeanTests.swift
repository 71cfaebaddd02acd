import FedSim
import FedSimTesting
import MyPolicy
import Schema
import Testing

@Suite("The olympic mean")
struct OlympicMeanTests {
  /// A server that aggregates at this many updates.
  private func script(_ updates: Int, trim: Int) -> PolicyScript {
    var settings = OlympicMean.Settings()
    settings.trim = trim
    var script = PolicyScript(model: [0, 0])
    script.server.trigger = [.threshold(updates)]
    script.server.aggregator = .part(OlympicMean.self, settings)
    return script
  }

  @Test("it leaves out the largest and the smallest value of each parameter")
  func trims() {
    var script = script(4, trim: 1)
    let sent: [[Float]] = [[1, 40], [2, 10], [1000, 20], [-1000, 30]]
    for (place, values) in sent.enumerated() {
      script.device(
        "d\(place)", samples: place + 1, visits: [.at(.seconds(Int64(place)))],
        sends: [.weights(values)])
    }
    let played = script.play()
    // First parameter: −1000 and 1000 go, (1 + 2)/2. Second: 10 and 40 go, (20 + 30)/2. Samples do
    // not count. The last device asks at 3 s and trains for 1 s.
    #expect(
      played.versions.map(\.description)
        == ["v0 at 0 s: 0 updates, [0.0, 0.0]", "v1 at 4 s: 4 updates, [1.5, 25.0]"])
    #expect(played.updates.map(\.version) == [1, 1, 1, 1])
  }

  @Test("each difference is taken against its own base")
  func differences() {
    var script = script(3, trim: 1)
    script.server.payload = .delta
    // Three updates of version 0 make version 1, of which one is three times as large.
    for (place, step) in [Float(1), 2, 6].enumerated() {
      script.device("d\(place)", visits: [.at(.zero)], sends: [.difference([step, -step])])
    }
    // Of 1, 2 and 6 the one in the middle is left.
    #expect(script.play().model == [2, -2])
  }

  @Test("of few updates fewer are left out, so that one is left")
  func few() {
    var script = script(2, trim: 5)
    script.device("a", visits: [.at(.zero)], sends: [.weights([1, 2])])
    script.device("b", visits: [.at(.zero)], sends: [.weights([3, 6])])
    // (2 − 1)/2 is 0: nothing is left out.
    #expect(script.play().model == [2, 4])
  }

  @Test("it keeps what every aggregator promises")
  func conformance() {
    #expect(Conformance().findings(of: OlympicMean.self) == [])
  }
}
