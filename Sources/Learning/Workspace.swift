/// The memory of forward and backward passes over batches of up to `rows` samples, used again and
/// again.
final class Workspace {
  let network: Network
  let rows: Int
  let labels: UnsafeMutablePointer<Int32>
  /// Element 0 is the batch, element i + 1 what layer i makes of it. Shapes: [rows][width].
  let activations: [UnsafeMutablePointer<Float>]
  /// Two buffers that the gradient of the loss by activations goes through in turn. Shapes:
  /// [rows][width].
  let deltas: [UnsafeMutablePointer<Float>]
  /// A layer's weight, transposed. Shapes: [out][in].
  let transposed: UnsafeMutablePointer<Float>
  private let memory: UnsafeMutableRawPointer

  init(network: Network, rows: Int) {
    precondition(rows > 0, "a workspace holds a sample at least")
    self.network = network
    self.rows = rows
    let widths = [network.inputCount] + network.dense.map(\.outputs)
    let widest = network.dense.map(\.outputs).max() ?? 0
    let inner = network.dense.dropFirst().map { $0.inputs * $0.outputs }.max() ?? 0
    let sizes = widths.map { $0 * rows } + [widest * rows, widest * rows, inner, rows]
    let starts = sizes.reduce(into: [0]) { starts, size in
      starts.append(starts[starts.count - 1] + (size + 15) / 16 * 16)
    }
    memory = .allocate(byteCount: starts[sizes.count] * 4, alignment: 64)
    memory.initializeMemory(as: Float.self, repeating: 0, count: starts[sizes.count])
    let memory = memory
    let floats = starts.map {
      (memory + $0 * 4).assumingMemoryBound(to: Float.self)
    }
    activations = Array(floats[0..<widths.count])
    deltas = [floats[widths.count], floats[widths.count + 1]]
    transposed = floats[widths.count + 2]
    labels = (memory + starts[widths.count + 3] * 4).bindMemory(to: Int32.self, capacity: rows)
  }

  deinit { memory.deallocate() }
}
