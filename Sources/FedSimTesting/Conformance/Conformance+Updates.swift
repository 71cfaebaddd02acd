import FedSim
import Learning
import Numerics
import Schema

extension Conformance {
  /// What an update transform breaks.
  func transform(_ make: () -> Choice<any UpdateTransform>) -> [Finding] {
    withoutActuallyEscaping(make) { make in
      var findings = Findings(make().name, skipping: skipped)
      TransformChecks(make: { make().value }).run(&findings)
      if findings.has(.shape) { return findings.list }
      PolicyWorld.check(
        {
          var server = ServerSettings()
          server.payload = .delta
          server.transforms = [make()]
          return server
        }, &findings)
      return findings.list
    }
  }

  /// What a server optimizer breaks.
  func optimizer(_ make: () -> Choice<any ServerOptimizer>) -> [Finding] {
    withoutActuallyEscaping(make) { make in
      var findings = Findings(make().name, skipping: skipped)
      for payload in Payload.allCases {
        OptimizerChecks(make: { make().value }, payload: payload).run(&findings)
        if findings.has(.shape) || findings.has(.restored) { return findings.list }
        PolicyWorld.check(
          {
            var server = ServerSettings()
            server.payload = payload
            server.optimizer = make()
            server.aggregator = Choice(UniformMean.self) { $0 }
            return server
          }, &findings)
      }
      return findings.list
    }
  }
}

/// Calls of an update transform alone.
private struct TransformChecks {
  let make: () -> any UpdateTransform

  func run(_ findings: inout Findings) {
    for made in MadeUpBatch.extremes {
      for place in made.values.indices {
        let (values, base) = (made.values[place], ParameterBuffer(made.bases[place]))
        let sent = applied(make(), values, base, slot: 0)
        guard sent.count == values.count else {
          return findings.add(
            .shape, "it makes \(sent.count) parameters out of \(values.count)")
        }
        if let found = sent.firstNotFinite { findings.add(.finite, "\(found) (\(made.name))") }
        let elsewhere = applied(make(), values, ParameterBuffer(made.bases[place]), slot: 0)
        if let found = sent.firstDifference(elsewhere) {
          findings.add(.storage, "\(found) where the same update is elsewhere in memory")
        }
      }
    }
    let usual = MadeUpBatch.usual
    StateCheck(make: make, part: { _ in nil }, steps: usual.values.count) { part, index, _ in
      applied(
        part, usual.values[index], ParameterBuffer(usual.bases[index]), slot: UInt64(index)
      ).words
    }.run(&findings)
    // Updates are transformed by several threads, in any order.
    let part = make()
    for index in usual.values.indices.reversed() {
      let base = ParameterBuffer(usual.bases[index])
      let late = applied(part, usual.values[index], base, slot: UInt64(index))
      let first = applied(make(), usual.values[index], base, slot: UInt64(index))
      if let found = first.firstDifference(late) {
        findings.add(.repeats, "\(found) where other updates were transformed before")
      }
    }
  }

  private func applied(
    _ part: any UpdateTransform, _ values: [Float], _ base: ParameterBuffer, slot: UInt64
  ) -> ParameterBuffer {
    var stream = StreamKey(seed: 1, purpose: "conformance-transform").stream(slot: slot)
    return part.applied(to: ParameterBuffer(values), base: base, &stream)
  }
}

/// Calls of a server optimizer alone.
private struct OptimizerChecks {
  let make: () -> any ServerOptimizer
  let payload: Payload

  func run(_ findings: inout Findings) {
    for made in MadeUpBatch.extremes {
      let next = stepped(made)
      guard next.count == made.current.count else {
        return findings.add(
          .shape, "it makes a model of \(next.count) parameters out of \(made.current.count)")
      }
      if let found = next.firstNotFinite {
        findings.add(.finite, "\(found) (\(made.name), payload \(payload))")
      }
      if let found = next.firstDifference(stepped(made)) {
        findings.add(.storage, "\(found) where the same model is elsewhere in memory")
      }
    }
    let payload = payload
    let usual = MadeUpBatch.usual
    StateCheck(make: make, part: { $0 }, steps: usual.values.count) { part, index, memory in
      let now = ParameterBuffer(usual.current)
      let combined = CombinedUpdate(ParameterBuffer(usual.values[index]), payload)
      return part.step(from: now, by: combined, with: &memory).words
    }.run(&findings)
  }

  private func stepped(_ made: MadeUpBatch) -> ParameterBuffer {
    let part = make()
    var memory = part.freshMemory()
    return part.step(
      from: ParameterBuffer(made.current),
      by: CombinedUpdate(ParameterBuffer(made.values[0]), payload), with: &memory)
  }
}
