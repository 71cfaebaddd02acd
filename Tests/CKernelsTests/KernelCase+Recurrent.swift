import CKernels

extension KernelCase {
  /// One step of time of recurrent cells.
  static let recurrent = [
    KernelCase("lstm") { numbers in
      let cell = Cell(&numbers, gates: 4)
      return Problem(run: cell.runLSTM, reference: cell.lstm)
    },
    KernelCase("lstm_backward") { numbers in
      let cell = Cell(&numbers, gates: 4)
      return Problem(run: cell.runLSTMBackward, reference: cell.lstmBackward)
    },
    KernelCase("gru") { numbers in
      let cell = Cell(&numbers, gates: 3)
      return Problem(run: cell.runGRU, reference: cell.gru)
    },
    KernelCase("gru_backward") { numbers in
      let cell = Cell(&numbers, gates: 3)
      return Problem(run: cell.runGRUBackward, reference: cell.gruBackward)
    },
  ]
}

/// The operands of one step of time, with gaps at the ends of rows.
private struct Cell {
  let rows: Int, units: Int
  let gatesRow: Int, stateRow: Int, otherRow: Int
  /// Sums on the way forward, gates on the way back. Shapes: [row][gatesRow].
  let gates: [Float]
  /// A GRU's sums from the hidden state before. Shapes: [row][otherRow].
  let recurrent: [Float]
  /// The cell or hidden state before. Shapes: [row][stateRow].
  let before: [Float]?
  /// An LSTM's tanh of the cell. Shapes: [row][stateRow].
  let squashed: [Float]
  /// Gradients by the hidden state and the cell. Shapes: [row][units].
  let hiddenDelta: [Float], cellDelta: [Float]

  init(_ numbers: inout TestNumbers, gates count: Int) {
    rows = numbers.below(5)
    units = numbers.count()
    gatesRow = count * units + numbers.below(3)
    otherRow = count * units + numbers.below(3)
    stateRow = units + numbers.below(3)
    let factor: Float = numbers.chance() ? 1 : 10
    gates = numbers.guardedFloats(rows * gatesRow).map { $0 * factor }
    recurrent = numbers.floats(rows * otherRow)
    before = numbers.perhapsFloats(rows * stateRow)
    squashed = numbers.floats(rows * stateRow)
    hiddenDelta = numbers.floats(rows * units)
    cellDelta = numbers.guardedFloats(rows * units)
  }

  /// Calls for every unit of every row.
  private func forEach(_ body: (_ row: Int, _ unit: Int) -> Void) {
    for row in 0..<rows {
      for unit in 0..<units { body(row, unit) }
    }
  }

  /// Lends the state before, or nothing.
  private func withBefore(_ body: (UnsafePointer<Float>?) -> Void) {
    guard let before else { return body(nil) }
    // A pointer even where there is no element: it says that there was a step before.
    guarded(before).withUnsafeBufferPointer { body($0.baseAddress) }
  }

  func runLSTM(_ kernels: fs_kernels) -> Outcome {
    var (gates, cell, squashed) = (gates, room(rows * stateRow), room(rows * stateRow))
    var hidden = room(rows * otherRow)
    withBefore {
      kernels.lstm(
        rows, units, &gates, gatesRow, $0, &cell, &squashed, stateRow, &hidden, otherRow)
    }
    return Outcome(floats: [gates, cell, squashed, hidden])
  }

  func lstm() -> Outcome {
    var (gates, cell, squashed) = (gates, room(rows * stateRow), room(rows * stateRow))
    var hidden = room(rows * otherRow)
    forEach { row, unit in
      let at = row * gatesRow + unit
      let input = Reference.sigmoid(gates[at])
      let forget = Reference.sigmoid(gates[at + units])
      let new = Reference.tangent(gates[at + 2 * units])
      let output = Reference.sigmoid(gates[at + 3 * units])
      let state = row * stateRow + unit
      cell[state] = input * new
      if let before { cell[state] = forget * before[state] + cell[state] }
      squashed[state] = Reference.tangent(cell[state])
      hidden[row * otherRow + unit] = output * squashed[state]
      for (gate, value) in [input, forget, new, output].enumerated() {
        gates[at + gate * units] = value
      }
    }
    return Outcome(floats: [gates, cell, squashed, hidden])
  }

  func runLSTMBackward(_ kernels: fs_kernels) -> Outcome {
    var (cellDelta, sums) = (cellDelta, room(rows * otherRow))
    withBefore {
      kernels.lstm_backward(
        rows, units, gates, gatesRow, $0, squashed, stateRow, hiddenDelta, &cellDelta, &sums,
        otherRow)
    }
    return Outcome(floats: [cellDelta, sums])
  }

  func lstmBackward() -> Outcome {
    var (cellDelta, sums) = (cellDelta, room(rows * otherRow))
    forEach { row, unit in
      let at = row * gatesRow + unit
      let (input, forget) = (gates[at], gates[at + units])
      let (new, output) = (gates[at + 2 * units], gates[at + 3 * units])
      let state = row * stateRow + unit
      let (t, h) = (squashed[state], hiddenDelta[row * units + unit])
      let c = cellDelta[row * units + unit] + h * output * (1 - t * t)
      let to = row * otherRow + unit
      sums[to] = c * new * (input * (1 - input))
      sums[to + units] = c * (before?[state] ?? 0) * (forget * (1 - forget))
      sums[to + 2 * units] = c * input * (1 - new * new)
      sums[to + 3 * units] = h * t * (output * (1 - output))
      cellDelta[row * units + unit] = c * forget
    }
    return Outcome(floats: [cellDelta, sums])
  }

  func runGRU(_ kernels: fs_kernels) -> Outcome {
    var (gates, hidden) = (gates, room(rows * stateRow))
    withBefore {
      kernels.gru(
        rows, units, &gates, gatesRow, recurrent, otherRow, $0, &hidden, stateRow)
    }
    return Outcome(floats: [gates, hidden])
  }

  func gru() -> Outcome {
    var (gates, hidden) = (gates, room(rows * stateRow))
    forEach { row, unit in
      let (at, by) = (row * gatesRow + unit, row * otherRow + unit)
      let reset = Reference.sigmoid(gates[at] + recurrent[by])
      let update = Reference.sigmoid(gates[at + units] + recurrent[by + units])
      let new = Reference.tangent(gates[at + 2 * units] + reset * recurrent[by + 2 * units])
      let state = row * stateRow + unit
      hidden[state] = (1 - update) * new
      if let before { hidden[state] = hidden[state] + update * before[state] }
      for (gate, value) in [reset, update, new].enumerated() { gates[at + gate * units] = value }
    }
    return Outcome(floats: [gates, hidden])
  }

  func runGRUBackward(_ kernels: fs_kernels) -> Outcome {
    var (sums, recurrentSums) = (room(rows * gatesRow), room(rows * gatesRow))
    var beforeDelta = room(rows * units)
    withBefore {
      kernels.gru_backward(
        rows, units, gates, gatesRow, recurrent, otherRow, $0, stateRow, hiddenDelta, &sums,
        &recurrentSums, gatesRow, &beforeDelta)
    }
    return Outcome(floats: [sums, recurrentSums, beforeDelta])
  }

  func gruBackward() -> Outcome {
    var (sums, recurrentSums) = (room(rows * gatesRow), room(rows * gatesRow))
    var beforeDelta = room(rows * units)
    forEach { row, unit in
      let at = row * gatesRow + unit
      let (reset, update, new) = (gates[at], gates[at + units], gates[at + 2 * units])
      let earlier = before?[row * stateRow + unit] ?? 0
      let h = hiddenDelta[row * units + unit]
      let newDelta = h * (1 - update) * (1 - new * new)
      let updateDelta = h * (earlier - new) * (update * (1 - update))
      let by = recurrent[row * otherRow + 2 * units + unit]
      let resetDelta = newDelta * by * (reset * (1 - reset))
      for (gate, value) in [resetDelta, updateDelta, newDelta].enumerated() {
        sums[at + gate * units] = value
        recurrentSums[at + gate * units] = gate == 2 ? newDelta * reset : value
      }
      beforeDelta[row * units + unit] = h * update
    }
    return Outcome(floats: [sums, recurrentSums, beforeDelta])
  }
}
