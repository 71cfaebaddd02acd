import FedSim
import Learning
import Schema

extension Conformance {
  /// What an aggregator breaks.
  func aggregator(_ make: () -> Choice<any Aggregator>) -> [Finding] {
    withoutActuallyEscaping(make) { make in
      var findings = Findings(make().name, skipping: skipped)
      var checks = AggregatorChecks(make: { make().value })
      let payloads = make().value.needs.contains(.differences) ? [.delta] : Payload.allCases
      for payload in payloads {
        checks.payload = payload
        checks.run(&findings)
        // A list of the wrong length would end the program, and such a run is not restored.
        if findings.has(.shape) || findings.has(.restored) { return findings.list }
      }
      for payload in payloads {
        PolicyWorld.check(
          {
            var server = ServerSettings()
            server.payload = payload
            server.aggregator = make()
            return server
          }, &findings)
      }
      return findings.list
    }
  }
}

/// Calls of an aggregator alone.
private struct AggregatorChecks {
  let make: () -> any Aggregator
  var payload = Payload.weights
  private let alone = WorkerPool(threads: 1)

  init(make: @escaping () -> any Aggregator) { self.make = make }

  func run(_ findings: inout Findings) {
    weights(&findings)
    if findings.has(.shape) { return }
    let size = combined(.usual).count
    guard size == MadeUpBatch.parameterCount else {
      return findings.add(
        .shape, "it makes \(size) parameters out of updates of \(MadeUpBatch.parameterCount)")
    }
    finite(&findings)
    storage(&findings)
    if isSymmetric(&findings) { order(&findings) }
    let alone = alone
    let payload = payload
    let batches = (0..<4).map {
      MadeUpBatch("", slot: 20 + $0, samples: [4, 7, 1], staleness: [0, Int($0), 0])
    }
    StateCheck(make: make, part: { $0 }, steps: batches.count) { part, index, memory in
      part.combine(batches[index].batch(payload, pool: alone), with: &memory).words
    }.run(&findings)
  }

  /// What happens to a batch, by a part that has just been made.
  private func combined(_ batch: MadeUpBatch) -> ParameterBuffer {
    combined(batch.batch(payload, pool: alone))
  }

  private func combined(_ batch: AggregationBatch) -> ParameterBuffer {
    let part = make()
    var memory = part.freshMemory()
    return part.combine(batch, with: &memory)
  }

  /// Weights that are said beforehand.
  private func weights(_ findings: inout Findings) {
    for made in MadeUpBatch.extremes + MadeUpBatch.weightless {
      let batch = made.batch(payload, pool: alone)
      guard let weights = make().weights(of: batch.facts) else { return }
      guard weights.count == made.samples.count else {
        return findings.add(
          .shape, "it has \(weights.count) weights for \(made.samples.count) updates (\(made.name))"
        )
      }
      let isZero = MadeUpBatch.weightless.contains { $0.name == made.name }
      if let wrong = weights.first(where: { !$0.isFinite }) {
        findings.add(isZero ? .zeroWeight : .finite, "a weight is \(word(wrong)) (\(made.name))")
        continue
      }
      if let found = combined(batch).firstDifference(batch.weightedSum(weights)) {
        findings.add(
          .weights, "\(found) by the weights that `weights(of:)` returns beforehand (\(made.name))")
      }
    }
  }

  private func finite(_ findings: inout Findings) {
    for batch in MadeUpBatch.extremes {
      if let found = combined(batch).firstNotFinite {
        findings.add(.finite, "\(found) (\(batch.name), payload \(payload))")
      }
    }
    for batch in MadeUpBatch.weightless {
      if let found = combined(batch).firstNotFinite {
        findings.add(
          .zeroWeight,
          "\(found) (\(batch.name): samples \(batch.samples), staleness \(batch.staleness))")
      }
    }
  }

  private func storage(_ findings: inout Findings) {
    let expected = combined(.usual)
    let pool = WorkerPool(threads: 3)
    for order in [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [1, 4, 0, 3, 2], [3, 1, 4, 2, 0]] {
      for made in [MadeUpBatch.usual, .cancelling] {
        let first = made.batch(payload, pool: alone)
        let other = made.batch(payload, pool: alone, allocated: order)
        if let found = combined(first).firstDifference(combined(other)) {
          findings.add(.storage, "\(found) where the same updates are elsewhere in memory")
        }
      }
    }
    for body in KernelBody.allCases {
      guard let kernels = Kernels(body) else { continue }
      let batch = MadeUpBatch.usual.batch(payload, kernels: kernels, pool: pool)
      if let found = expected.firstDifference(combined(batch)) {
        findings.add(.storage, "\(found) with 3 threads and the kernels `\(body)`")
      }
    }
  }

  /// Whether who sent what makes no difference among equals; only then can the order of a sum be
  /// reported from outside.
  private func isSymmetric(_ findings: inout Findings) -> Bool {
    let expected = combined(.alike)
    guard expected.isFinite else { return false }
    for order in [[1, 0, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
      let found = expected.largestDistance(combined(MadeUpBatch.alike.dealt(order)))
      guard !(found.distance <= 1e-5) else { continue }
      let pulls = MadeUpBatch.alike.samples.indices.map { pull(of: $0, from: expected) }
      findings.add(
        .symmetry,
        "updates with equal samples and staleness have different weights: one more in each update "
          + "moves the result by \(pulls.map { rounded($0) }.joined(separator: ", "))")
      return false
    }
    return true
  }

  /// How far the first parameter of the result goes when that of one update grows by 1.
  private func pull(of update: Int, from result: ParameterBuffer) -> Float {
    var batch = MadeUpBatch.alike
    batch.values[update][0] += 1
    return combined(batch)[0] - result[0]
  }

  private func rounded(_ value: Float) -> String {
    "\((Double(value) * 1000).rounded() / 1000)"
  }

  private func order(_ findings: inout Findings) {
    let expected = combined(.cancelling)
    for order in [[4, 3, 2, 1, 0], [0, 2, 1, 3, 4], [1, 3, 0, 4, 2]] {
      let other = combined(MadeUpBatch.cancelling.dealt(order))
      let (distance, place) = expected.largestDistance(other)
      guard !(distance <= 1e-3) else { continue }
      findings.add(
        .order,
        "parameter \(place) is \(expected[place]) with the terms in one order and "
          + "\(other[place]) in another: a sum in `Float`; add in `Double`, or by `weightedSum`")
    }
  }
}
