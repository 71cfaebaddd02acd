import FedSim
import FedSimTesting
import Learning
import Schema
import Testing

/// As another package would: public declarations only.
@Suite("Scripted arrivals")
struct PolicyScriptTests {
  @Test("two updates of 1 and 3 samples, averaged by hand")
  func mean() {
    var script = PolicyScript(model: [0, 0])
    script.server.trigger = [.threshold(2)]
    script.device("ann", samples: 1, visits: [.at(.zero)], sends: [.weights([4, 0])])
    script.device("ben", samples: 3, visits: [.at(.seconds(5))], sends: [.weights([0, 4])])
    let played = script.play()
    // ¼·(4, 0) + ¾·(0, 4); Ann trains from 0 to 1 s, Ben from 5 to 6 s.
    #expect(
      played.versions.map(\.description)
        == ["v0 at 0 s: 0 updates, [0.0, 0.0]", "v1 at 6 s: 2 updates, [1.0, 3.0]"])
    #expect(
      played.updates.map(\.description)
        == ["ann on v0, 1 s: pending, v1", "ben on v0, 6 s: aggregated, v1"])
    #expect(played.rounds.map(\.description) == ["round 1 at 6 s: published"])
    #expect(played.versions[1].samples == 4)
    #expect(played.model == [1, 3])
    #expect(played.broken == [])
  }

  @Test("arrivals out of the order of asking, and a stale difference on a newer version")
  func arrivals() {
    var script = PolicyScript(model: [1, 1])
    script.server.payload = .delta
    script.server.trigger = [.threshold(1)]
    script.server.aggregator = .part(UniformMean.self)
    script.device(
      "ann", takes: .seconds(2), visits: [.at(.zero, arrives: .seconds(30))],
      sends: [.difference([8, 0])])
    script.device(
      "ben", takes: .seconds(2),
      visits: [.at(.seconds(10), arrives: .seconds(20)), .at(.seconds(40))],
      sends: [.difference([0, 2]), .difference([0.5, 0.5])])
    let played = script.play()
    // (1, 1) + (0, 2) at 20 s; + (8, 0), which began at version 0, at 30 s; + (½, ½) at 42 s.
    #expect(played.versions.map(\.model) == [[1, 1], [1, 3], [9, 3], [9.5, 3.5]])
    #expect(
      played.versions.map(\.publishedAt)
        == [.zero, .seconds(20), .seconds(30), .seconds(42)])
    #expect(played.versions.map(\.staleness) == [0, 0, 1, 0])
    #expect(
      played.updates(of: "ben").map(\.description)
        == ["ben on v0, 20 s: aggregated, v1", "ben on v2, 42 s: aggregated, v3"])
  }

  @Test("the model holds the weights where each device sends a different unit")
  func units() {
    var script = PolicyScript(model: [0, 0, 0])
    script.server.trigger = [.threshold(3)]
    for (place, samples) in [1, 2, 5].enumerated() {
      var unit: [Float] = [0, 0, 0]
      unit[place] = 1
      script.device("d\(place)", samples: samples, visits: [.at(.zero)], sends: [.weights(unit)])
    }
    // 1, 2 and 5 of 8 samples.
    #expect(script.play().model == [0.125, 0.25, 0.625])
  }

  @Test("a cohort waits for its members, and the round for the slowest, or its deadline")
  func cohort() {
    var script = PolicyScript(model: [0, 0])
    script.server.selector = .cohorts(of: 2)
    var deadline = DeadlineTrigger.Settings()
    deadline.after = .seconds(60)
    script.server.trigger = [
      .part(CohortCompleteTrigger.self), .part(DeadlineTrigger.self, deadline),
    ]
    script.device(
      "ann", takes: .seconds(10), visits: [.at(.zero), .at(.seconds(100))],
      sends: [.weights([1, 0]), .weights([3, 0])])
    script.device(
      "ben", takes: .seconds(70), visits: [.at(.seconds(5))], sends: [.weights([0, 1])])
    script.device(
      "cem", takes: .seconds(20), visits: [.at(.seconds(110))], sends: [.weights([0, 5])])
    let played = script.play()
    // Ann waits from 0 to 5 s for Ben. At 65 s the deadline finds Ann's update alone; Ben's, which
    // comes at 75 s, is late. Ann waits again from 100 to 110 s.
    #expect(
      played.rounds.map(\.description)
        == ["round 1 at 1 min 5 s: published", "round 2 at 2 min 10 s: published"])
    #expect(
      played.updates.map(\.description)
        == [
          "ann on v0, 15 s: pending, v1", "ben on v0, 1 min 15 s: rejected, rejectedLate",
          "ann on v1, 2 min: pending, v2", "cem on v1, 2 min 10 s: aggregated, v2",
        ])
    #expect(played.versions.map(\.model) == [[0, 0], [1, 0], [1.5, 2.5]])
  }

  @Test("what the server refuses is reported")
  func refusals() {
    var script = PolicyScript(model: [0, 0])
    script.server.trigger = [.threshold(1)]
    script.server.maximumStaleness = 0
    script.device(
      "ann", visits: [.at(.zero, arrives: .seconds(30))], sends: [.weights([1, 1])])
    script.device("ben", visits: [.at(.seconds(10))], sends: [.weights([2, 2])])
    let played = script.play()
    #expect(
      played.updates.map(\.description)
        == [
          "ann on v0, 30 s: rejected, rejectedStale", "ben on v0, 11 s: aggregated, v1",
        ])
    #expect(played.model == [2, 2])
  }

  @Test("devices that a selector does not want learn it, and the script names them")
  func rejections() {
    var script = PolicyScript(model: [0, 0])
    script.server.selector = .part(OnlyFirst.self)
    script.server.trigger = [.threshold(1)]
    script.device("ann", visits: [.at(.zero)], sends: [.weights([1, 1])])
    script.device("ben", visits: [.at(.zero), .at(.seconds(20))], sends: [.weights([2, 2])])
    let played = script.play()
    #expect(played.rejections == ["ben", "ben"])
    #expect(played.updates.map(\.description) == ["ann on v0, 1 s: aggregated, v1"])
  }

  @Test("an aggregator can be called alone")
  func alone() {
    let base = ParameterBuffer([1, 1])
    let batch = AggregationBatch(
      updates: [
        AggregatedUpdate(
          device: 0, samples: 1, staleness: 0, parameters: ParameterBuffer([3, 1]), base: base),
        AggregatedUpdate(
          device: 4, samples: 3, staleness: 2, parameters: ParameterBuffer([1, 5]), base: base),
      ], payload: .delta, current: base, pool: WorkerPool(threads: 1))
    // ¼·(2, 0) + ¾·(0, 4).
    #expect(SampleWeightedMean(NoSettings()).combine(batch).values == [0.5, 3])
  }

  @Test("a script is played the same way every time")
  func repeats() {
    var script = PolicyScript(model: [0, 0])
    script.server.trigger = [.threshold(1)]
    script.device("ann", visits: [.at(.zero)], sends: [.weights([1, 2])])
    let (a, b) = (script.play(), script.play())
    #expect(a.updates == b.updates && a.versions == b.versions && a.rounds == b.rounds)
  }
}

/// Takes device 0 and no other.
private struct OnlyFirst: AdmittingSelector {
  static let name = "only-first"
  static let summary = "Device 0 may train"
  typealias Settings = NoSettings
  init(_ settings: NoSettings) {}
  func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout NoMemory
  ) -> Admission {
    checkIn.device == 0 ? .accept : .reject
  }
}
