import FedSim
import Learning
import Numerics
import Schema
import Testing

/// Those that Flower has, with its start of v.
private let known: [(name: String, part: any ServerOptimizer)] = [
  ("momentum", make(ServerMomentum.self) { $0.learningRate = 0.5 }),
  ("adagrad", make(ServerAdagrad.self) { $0.initial = 0 }),
  ("adam", make(ServerAdam.self) { $0.initial = 0 }),
  ("yogi", make(ServerYogi.self) { $0.initial = 0 }),
]

/// Every one that there is.
private let all: [any ServerOptimizer] =
  known.map(\.part) + [
    make(ServerMomentum.self) { $0.nesterov = true }, make(ServerSGD.self), make(Mixing.self),
    make(ServerAdam.self), make(ServerAdagrad.self), make(ServerYogi.self),
    make(ServerDynamics.self),
  ]

private func buffer(_ values: [Float]) -> ParameterBuffer { ParameterBuffer(values) }

private func update(_ values: [Float], _ payload: Payload) -> CombinedUpdate {
  CombinedUpdate(buffer(values), payload)
}

/// The models after the steps of `PolicyNumbers.swift`; between two the memory is saved if asked.
private func played(
  _ part: any ServerOptimizer, payload: Payload, saves: Bool = false
) throws -> [ParameterBuffer] {
  var memory = part.freshMemory()
  var model = buffer(policyStart)
  return try (0..<3).map { turn in
    let step = policySteps.row(turn, of: 13)
    let combined =
      payload == .delta ? step : zip(model.values, step).map { Float(Double($0) + Double($1)) }
    model = part.step(from: model, by: update(combined, payload), with: &memory)
    if saves { memory = try AnyMemory(archived: memory.archived(), of: part) }
    return model
  }
}

@Suite("Server optimizers")
struct ServerOptimizerTests {
  @Test("Flower makes the same three versions", arguments: known.indices, Payload.allCases)
  func numbers(index: Int, payload: Payload) throws {
    let expected = optimizerSteps.first { $0.name == known[index].name }!.values
    let found = try played(known[index].part, payload: payload).flatMap(\.values)
    for (place, value) in found.enumerated() {
      // A difference of weights is a rounded one, which a first step of Adam sees through 1/√v.
      #expect(
        (Double(value) - expected[place]).magnitude < 2e-5,
        "\(known[index].name), \(payload), \(place): \(value), \(expected[place])")
    }
  }

  @Test("By Nesterov the step looks ahead, by hand")
  func nesterov() {
    // v: 1, then ½ + 2 = 2½. Steps: 1 + ½·1, then 2 + ½·2½.
    let part = make(ServerMomentum.self) { ($0.momentum, $0.nesterov) = (0.5, true) }
    var memory = part.makeMemory()
    let one = part.step(from: buffer([0]), by: update([1], .delta), &memory)
    let two = part.step(from: one, by: update([2], .delta), &memory)
    #expect((one[0], two[0]) == (1.5, 4.75))
  }

  @Test("One step of each adaptive optimizer, by hand, with v that begins at τ²")
  func first() {
    // Δ = 3, τ = 4, η = 2, β₁ = ½, β₂ = ¾: m = 1.5 (Adagrad without β₁: 3).
    // v: Adagrad 16 + 9 = 25; Adam ¾·16 + ¼·9 = 14.25; Yogi 16 − ¼·9 = 13.75.
    func step(_ part: any ServerOptimizer) -> Float {
      part.step(from: buffer([10]), by: update([3], .delta))[0]
    }
    let adagrad = make(ServerAdagrad.self) { ($0.tau, $0.learningRate) = (4, 2) }
    let (ofAdagrad, ofAdam, ofYogi): (Double, Double, Double) = (
      2 * 3 / 9, 3 / (Double(14.25).squareRoot() + 4), 3 / (Double(13.75).squareRoot() + 4)
    )
    #expect(step(adagrad) == Float(10 + ofAdagrad))
    let adam = make(ServerAdam.self) {
      ($0.tau, $0.learningRate, $0.beta1, $0.beta2) = (4, 2, 0.5, 0.75)
    }
    #expect(step(adam) == Float(10 + ofAdam))
    let yogi = make(ServerYogi.self) {
      ($0.tau, $0.learningRate, $0.beta1, $0.beta2) = (4, 2, 0.5, 0.75)
    }
    #expect(step(yogi) == Float(10 + ofYogi))
  }

  @Test("Momentum of nothing is SGD, and mixing all is the update, bit for bit")
  func limits() throws {
    for payload in Payload.allCases {
      let plain = try played(make(ServerSGD.self) { $0.learningRate = 0.25 }, payload: payload)
      let still = make(ServerMomentum.self) { ($0.momentum, $0.learningRate) = (0, 0.25) }
      #expect(try played(still, payload: payload).map(\.values) == plain.map(\.values))
    }
    let mixing = make(Mixing.self) { $0.alpha = 1 }
    let (now, new) = (buffer(policyStart), update(policySteps.row(0, of: 13), .weights))
    #expect(mixing.step(from: now, by: new).values == new.parameters.values)
    let none = make(Mixing.self) { $0.alpha = 0 }
    #expect(none.step(from: now, by: new).values == now.values)
    // ¼·2 + ¾·6 and 2 + ¾·6.
    let most = make(Mixing.self) { $0.alpha = 0.75 }
    #expect(most.step(from: buffer([2]), by: update([6], .weights))[0] == 5)
    #expect(most.step(from: buffer([2]), by: update([6], .delta))[0] == 6.5)
  }

  @Test("What is remembered is saved between any two steps", arguments: all.indices)
  func saved(index: Int) throws {
    for payload in Payload.allCases {
      let whole = try played(all[index], payload: payload).map(\.values)
      #expect(try played(all[index], payload: payload, saves: true).map(\.values) == whole)
    }
  }

  @Test("Finite models stay finite, and nothing moves without an update", arguments: all.indices)
  func finite(index: Int) {
    let most = Float.greatestFiniteMagnitude
    for payload in Payload.allCases {
      var memory = all[index].freshMemory()
      var model = buffer([most, -most, .leastNonzeroMagnitude, 0, 1])
      for step in [
        [most, -most, most, .leastNonzeroMagnitude, -most], [-most, -most, 0, 0, most],
      ] {
        model = all[index].step(
          from: model, by: update(step.map { Float($0) }, payload), with: &memory)
        // SGD and mixing in one step do as they always did.
        if !(all[index] is ServerSGD) { #expect(model.isFinite, "\(model.values)") }
      }
      let still: [Float] = [0.5, -3]
      let same = update(payload == .delta ? [0, 0] : still, payload)
      #expect(all[index].step(from: buffer(still), by: same).values == still)
    }
  }
}
