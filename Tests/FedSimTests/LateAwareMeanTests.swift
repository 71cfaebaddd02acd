import FedSim
import Learning
import Testing

@Suite("REFL's mean")
struct LateAwareMeanTests {
  @Test("REFL's mean compared with NumPy, on one and three threads", arguments: 0..<5)
  func mean(index: Int) {
    let (beta, payload): (Double, Payload) = [
      (0.35, .delta), (0, .delta), (1, .delta), (0.35, .weights), (0.35, .delta),
    ][index]
    let part = make(LateAwareMean.self) { $0.beta = beta }
    func batch(threads: Int) -> AggregationBatch {
      let batch = numbered(payload: payload, threads: threads)
      guard index == 4 else { return batch }
      // Of the three fresh ones the sixth update is farther from their mean than any late one.
      return AggregationBatch(
        updates: zip(batch.updates, reflAges).map { update, age in
          AggregatedUpdate(
            device: update.device, samples: update.samples, staleness: age,
            parameters: update.parameters, base: update.base)
        }, payload: payload, current: ParameterBuffer(policyStart),
        pool: WorkerPool(threads: threads))
    }
    let found = part.combine(batch(threads: 1))
    let expected = reflMeans[index].values
    for place in expected.indices {
      #expect(
        abs(Double(found[place]) - expected[place]) < 1e-6, "\(reflMeans[index].name) \(place)")
    }
    let other = part.combine(batch(threads: 3))
    #expect(found.values.map(\.bitPattern) == other.values.map(\.bitPattern))
  }

  @Test("with fresh updates alone REFL's mean is the uniform mean, bit for bit")
  func freshAlone() {
    func batch(_ staleness: Int) -> AggregationBatch {
      AggregationBatch(
        updates: numbered(payload: .delta).updates.map {
          AggregatedUpdate(
            device: $0.device, samples: $0.samples, staleness: staleness,
            parameters: $0.parameters, base: $0.base)
        }, payload: .delta, current: ParameterBuffer(policyStart), pool: WorkerPool(threads: 1))
    }
    let uniform = make(UniformMean.self).combine(batch(0)).values.map(\.bitPattern)
    #expect(make(LateAwareMean.self).combine(batch(0)).values.map(\.bitPattern) == uniform)
    // Late ones alone, all of one age, have equal weights, too, and with β = 1 as well.
    for beta in [0.35, 1] {
      let late = make(LateAwareMean.self) { $0.beta = beta }.combine(batch(3))
      let plain = make(UniformMean.self).combine(batch(3))
      for place in 0..<late.count { #expect(abs(late[place] - plain[place]) < 1e-6) }
    }
  }
}
