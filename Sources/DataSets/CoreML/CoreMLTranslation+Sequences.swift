import CoreMLFormat
import Learning

extension CoreMLTranslation {
  mutating func addEmbedding(
    _ count: UInt64, _ width: UInt64, _ hasBias: Bool, _ weights: CoreMLSpecWeights
  ) throws(DataFault) {
    guard case .tokens = shape, layers.isEmpty else {
      throw refused("an embedding behind \(shape.words)", "one as the first layer")
    }
    guard !hasBias else { throw refused("an embedding with biases", "one without") }
    let count = try size(count, "entries")
    let width = try size(width, "numbers an entry")
    let isND = if case .embeddingNd = kind { true } else { false }
    append(
      .embedding(count: count, width: width),
      [
        try tensor(
          weights, "weights", at: [isND ? 1040 : 150, 20], shape: [count, width],
          order: .turned(inputs: count, outputs: width))
      ])
    shape = .sequence(width)
  }

  /// The tensors of one gate: input weights, recursion weights, biases, with their fields.
  private typealias Gate = [(weights: CoreMLSpecWeights, path: [Int])]

  /// A long short-term memory; its gates are input, forget, cell, output here as there.
  mutating func add(_ lstm: CoreMLSpecLSTM) throws(DataFault) {
    try check(lstm)
    let weights = lstm.weightParams
    let gates: [Gate] = [
      [
        (weights.inputGateWeightMatrix, [1]), (weights.inputGateRecursionMatrix, [20]),
        (weights.inputGateBiasVector, [40]),
      ],
      [
        (weights.forgetGateWeightMatrix, [2]), (weights.forgetGateRecursionMatrix, [21]),
        (weights.forgetGateBiasVector, [41]),
      ],
      [
        (weights.blockInputWeightMatrix, [3]), (weights.blockInputRecursionMatrix, [22]),
        (weights.blockInputBiasVector, [42]),
      ],
      [
        (weights.outputGateWeightMatrix, [4]), (weights.outputGateRecursionMatrix, [23]),
        (weights.outputGateBiasVector, [43]),
      ],
    ]
    let (units, tensors) = try recurrent(
      lstm.inputVectorSize, lstm.outputVectorSize, hasBias: lstm.params.hasBiasVectors_p, gates,
      below: [420, 20])
    let isSequence = lstm.params.sequenceOutput
    append(.lstm(units: units, returnsSequence: isSequence), tensors)
    shape = isSequence ? .sequence(units) : .vector(units)
  }

  /// A gated recurrent unit; its gates are reset, update, new here.
  mutating func add(_ gru: CoreMLSpecGRU) throws(DataFault) {
    guard !gru.reverseInput else {
      throw refused("a sequence read backwards", "a plain gated recurrent unit")
    }
    try check(gru.activations, are: [.sigmoid, .tanh], "sigmoid and tanh")
    let gates: [Gate] = [
      [
        (gru.resetGateWeightMatrix, [31]), (gru.resetGateRecursionMatrix, [51]),
        (gru.resetGateBiasVector, [71]),
      ],
      [
        (gru.updateGateWeightMatrix, [30]), (gru.updateGateRecursionMatrix, [50]),
        (gru.updateGateBiasVector, [70]),
      ],
      [
        (gru.outputGateWeightMatrix, [32]), (gru.outputGateRecursionMatrix, [52]),
        (gru.outputGateBiasVector, [72]),
      ],
    ]
    let (units, tensors) = try recurrent(
      gru.inputVectorSize, gru.outputVectorSize, hasBias: gru.hasBiasVectors_p, gates,
      below: [410])
    append(.resetFirstGRU(units: units, returnsSequence: gru.sequenceOutput), tensors)
    shape = gru.sequenceOutput ? .sequence(units) : .vector(units)
  }

  /// The units of a recurrent layer, and its three tensors with all gates side by side.
  private func recurrent(
    _ inputs: UInt64, _ outputs: UInt64, hasBias: Bool, _ gates: [Gate], below path: [Int]
  ) throws(DataFault) -> (units: Int, tensors: [CoreMLTensor]) {
    let features = try size(inputs, "inputs")
    let units = try size(outputs, "units")
    guard case .sequence(features) = shape else {
      throw refused("\(features) inputs behind \(shape.words)", "as many inputs as come")
    }
    guard hasBias || !isTrained else {
      throw refused(
        "an updatable layer without biases", "biases: FedSim trains them, and writes them back")
    }
    let names = ["input weights", "recursion weights", "biases"]
    let rows = [features, units, 1]
    let kinds = hasBias ? 3 : 2
    for gate in gates {
      for kind in 0..<kinds {
        let count = try product([rows[kind], units], names[kind])
        try check(gate[kind].weights, "\(names[kind]) of a gate", count: count)
      }
    }
    let wide = gates.count * units
    var tensors = [[features, wide], [units, wide], [wide]].map { shape in
      CoreMLTensor(
        shape: shape, isTrained: isTrained,
        values: [Float](repeating: 0, count: shape.reduce(1, *)))
    }
    for (number, gate) in gates.enumerated() {
      for kind in 0..<kinds {
        try fill(
          &tensors[kind], gate[kind].weights, names[kind], at: path + gate[kind].path,
          order: .gate(number, of: gates.count, inputs: rows[kind], units: units))
      }
    }
    return (units, tensors)
  }

  /// What FedSim's memory does not do is not asked for.
  private func check(_ lstm: CoreMLSpecLSTM) throws(DataFault) {
    let settings = lstm.params
    let refusals: [(isThere: Bool, found: String)] = [
      (lstm.reverseInput, "a sequence read backwards"),
      (settings.forgetBias, "1 added to the forget gate (forgetBias)"),
      (settings.hasPeepholeVectors_p, "peepholes"),
      (settings.coupledInputAndForgetGate, "coupled input and forget gates"),
      (
        settings.cellClipThreshold != 0 && settings.cellClipThreshold < 1000,
        "cells clipped at \(settings.cellClipThreshold)"
      ),
    ]
    if let refusal = refusals.first(where: \.isThere) {
      throw refused(refusal.found, "a plain long short-term memory")
    }
    try check(lstm.activations, are: [.sigmoid, .tanh, .tanh], "sigmoid, tanh and tanh")
  }

  private func check(
    _ activations: [CoreMLSpecActivation], are wanted: [Network.Activation], _ words: String
  ) throws(DataFault) {
    var functions: [Network.Activation] = []
    for activation in activations { functions.append(try function(activation)) }
    guard functions == wanted else { throw refused("other activations of the gates", words) }
  }
}
