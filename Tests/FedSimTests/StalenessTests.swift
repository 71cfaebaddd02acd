import FedSim
import Learning
import Schema
import Testing

/// Updates of these ages, each of one parameter.
private func aged(
  _ values: [(value: Float, age: Int)], _ payload: Payload, _ rule: StalenessRule?,
  now: Float = 8
) -> AggregationBatch {
  AggregationBatch(
    updates: values.enumerated().map { place, pair in
      AggregatedUpdate(
        device: place, samples: 1, staleness: pair.age, parameters: ParameterBuffer([pair.value]),
        base: ParameterBuffer([0]))
    }, payload: payload, current: ParameterBuffer([now]), staleness: rule,
    pool: WorkerPool(threads: 1))
}

@Suite("Weights of old updates")
struct StalenessTests {
  @Test("by the paper's clock a fresh update has the age 1")
  func paper() {
    // 2^−½ for a fresh update: FedAsync's α·s(1) = 0.707·α, where the other clock has α.
    let root = make(PolynomialStaleness.self) { $0.clock = .paper }
    #expect(root.weight(staleness: 0) == 1 / 2.0.squareRoot())
    #expect(root.weight(staleness: 3) == 1 / 5.0.squareRoot())
    let hinge = make(HingeStaleness.self) { ($0.slope, $0.from, $0.clock) = (10, 4, .paper) }
    #expect((hinge.weight(staleness: 3), hinge.weight(staleness: 4)) == (1, 1.0 / 11))
    let power = make(ExponentialStaleness.self) { ($0.rate, $0.clock) = (0.25, .paper) }
    #expect((power.weight(staleness: 0) - 0.77880078307140487).magnitude < 1e-15)
  }

  @Test("follow their equations, and count a fresh update in full")
  func equations() {
    let constant = make(ConstantStaleness.self)
    let root = make(PolynomialStaleness.self)
    let third = make(PolynomialStaleness.self) { $0.exponent = 1.0 / 3 }
    let hinge = make(HingeStaleness.self)
    let power = make(ExponentialStaleness.self) { $0.rate = 0.25 }
    for part: any StalenessWeight in [constant, root, third, hinge, power] {
      #expect(part.weight(staleness: 0) == 1)
      let ages = (0...200).map(part.weight)
      #expect(zip(ages, ages.dropFirst()).allSatisfy { $0 >= $1 && $1 > 0 })
      #expect(part.weight(staleness: 1_000_000) >= 0)
    }
    #expect(constant.weight(staleness: 99) == 1)
    // 1/√4, 1/√9; 8^(−1/3), 27^(−1/3).
    #expect((root.weight(staleness: 3), root.weight(staleness: 8)) == (0.5, 1.0 / 3))
    #expect((third.weight(staleness: 7) - 0.5).magnitude < 1e-15)
    #expect((third.weight(staleness: 26) - 1.0 / 3).magnitude < 1e-15)
    // In full up to 4; then 1/(10·1 + 1), 1/(10·6 + 1).
    #expect((hinge.weight(staleness: 4), hinge.weight(staleness: 5)) == (1, 1.0 / 11))
    #expect(hinge.weight(staleness: 10) == 1.0 / 61)
    // e^(−1), from a table.
    #expect((power.weight(staleness: 4) - 0.367_879_441_171_442_33).magnitude < 1e-15)
  }

  @Test("shorten the step of differences, and leave the rest of weights to the model of now")
  func absolute() {
    let rule = StalenessRule(make(PolynomialStaleness.self))
    let mean = make(UniformMean.self)
    // ½·1·4 + ½·½·6 = 3.5; with weights ¼ is left: 3.5 + ¼·8.
    let updates: [(Float, Int)] = [(4, 0), (6, 3)]
    #expect(mean.combine(aged(updates, .delta, rule)).values == [3.5])
    #expect(mean.combine(aged(updates, .weights, rule)).values == [5.5])
    // One alone: FedAsync's x ← x + s·(x′ − x).
    #expect(mean.combine(aged([(4, 3)], .weights, rule)).values == [6])
    #expect(mean.combine(aged([(4, 3)], .delta, rule)).values == [2])
  }

  @Test("go to all updates where they are normalised")
  func normalised() {
    let rule = StalenessRule(make(PolynomialStaleness.self), scale: .normalised)
    // ½ and ¼ are ⅔ and ⅓ of ¾.
    let updates: [(Float, Int)] = [(4, 0), (7, 3)]
    for payload in Payload.allCases {
      #expect(make(UniformMean.self).combine(aged(updates, payload, rule)).values == [5])
      #expect(make(UniformMean.self).combine(aged([(4, 3)], payload, rule)).values == [4])
    }
  }

  @Test("change no bit where all are fresh, or count in full")
  func fresh() {
    let same = make(ConstantStaleness.self)
    for payload in Payload.allCases {
      for part: any Aggregator in [
        make(SampleWeightedMean.self), make(UniformMean.self),
        make(NormBoundedMean.self) { $0.maximum = 2 },
      ] {
        let expected = part.combine(numbered(payload: payload)).values
        for scale in StalenessScale.allCases {
          let rule = StalenessRule(same, scale: scale)
          let found = part.combine(numbered(payload: payload, staleness: rule)).values
          #expect(found == expected)
        }
      }
    }
  }

  @Test("of nothing leave the model as it is")
  func nothing() {
    // e^(−1000·τ) is 0 in binary.
    let never = make(ExponentialStaleness.self) { $0.rate = 1000 }
    for scale in StalenessScale.allCases {
      let rule = StalenessRule(never, scale: scale)
      let mean = make(UniformMean.self)
      #expect(mean.combine(aged([(4, 5), (6, 9)], .weights, rule)).values == [8])
      #expect(mean.combine(aged([(4, 5), (6, 9)], .delta, rule)).values == [0])
    }
  }

  @Test("bound differences before they count less")
  func bounded() {
    // Differences 4 and 6, bound to 3: ½·3 + ½·½·3 = 2.25. With weights from 0: that and ¼·8.
    let rule = StalenessRule(make(PolynomialStaleness.self))
    let part = make(NormBoundedMean.self) { $0.maximum = 3 }
    #expect(part.combine(aged([(4, 0), (6, 3)], .delta, rule)).values == [2.25])
    #expect(part.combine(aged([(4, 0), (6, 3)], .weights, rule)).values == [4.25])
  }
}

@Suite("Settings of old updates")
struct StalenessSettingsTests {
  private func faults(_ change: (inout ServerSettings) -> Void) -> [String] {
    var settings = ServerSettings()
    change(&settings)
    return settings.contradictions().map { "\($0.key): \($0.message)" }
  }

  @Test("what does not go together is said")
  func contradictions() {
    let old = Choice<any StalenessWeight>(ConstantStaleness.self) { $0 }
    #expect(faults { $0.staleness = old } == [])
    #expect(
      faults {
        ($0.staleness, $0.aggregator) = (old, Choice(CoordinateMedian.self) { $0 })
      } == [
        "staleness: `median` does not use staleness weights; `maximumStaleness` rejects stale "
          + "updates"
      ])
    #expect(
      faults { $0.stalenessScale = .normalised }
        == ["stalenessScale: without `staleness` there is nothing to scale"])
    #expect(
      faults {
        $0.broadcast = .afterAggregation
        $0.selector = Choice(UniformSelector.self) { $0 }
      } == ["broadcast: with `uniform` devices wait for the next round already"])
    #expect(faults { $0.broadcast = .onRequest } == [])
  }

  @Test("nothing of it is written where it is not named")
  func resolved() {
    let text = ServerSettings().resolved.json
    #expect(!text.contains("staleness\"") && !text.contains("broadcast"))
  }
}
