import CKernels
import Numerics

/// A layer whose input is known: what a network is compiled to.
///
/// `forward` reads `input` and writes `output`. `backward` gets the gradient by the output, writes
/// that by the input, and adds that by the parameters to `start`, into `target`.
protocol PlacedLayer: Sendable {
  /// Extents of one sample, last axis fastest.
  var outputShape: [Int] { get }
  /// The stem of its tensors' names, such as `conv`.
  var stem: String { get }
  /// Its tensors in order.
  var tensors: [(name: String, shape: [Int])] { get }
  /// Whether its weight is stored with its axes exchanged.
  var hasTransposedWeight: Bool { get }
  /// Multiply-adds of one sample's forward pass.
  var multiplyAdds: Int { get }
  /// Values that its products give for one sample, before anything is fused to it.
  var writtenCount: Int { get }
  /// Whether the output may overwrite the input, if nobody else needs the input.
  var runsInPlace: Bool { get }
  /// Whether the gradient by the input is written over the one by the output.
  var deltaInPlace: Bool { get }
  /// Whether `backward` reads the output.
  var readsOutput: Bool { get }

  /// Whether `forward` asks for what is `ahead`.
  var fetchesAhead: Bool { get }
  /// Whether `forward` makes its input of bytes, where there are some.
  var takesBytes: Bool { get }

  /// Whether `backward` adds a parameter's whole gradient to its start at once; else it gets zeros
  /// to start from, and the sum is added behind it.
  var roundsOnce: Bool { get }

  /// Names of its tensors that are running statistics, which `moveStatistics` moves and whose
  /// gradient is 0.
  var statistics: [String] { get }

  /// The layers inside it; none where it is one layer.
  var leaves: [Network.Node] { get }

  /// Floats kept from `forward` to `backward`, for `rows` samples.
  func stateCount(_ rows: Int) -> Int
  /// Floats that a call may use as it likes.
  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int
  /// Sets fresh parameters, which are zeros before.
  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream)
  /// From input to output.
  func forward(_ pass: Pass)
  /// From the gradient by the output to those by input and parameters.
  func backward(_ pass: Pass, _ deltas: Deltas)
  /// From the pass's statistics and what a training step left of the pass, to the next ones in
  /// `target`, which may be the parameters.
  func moveStatistics(_ pass: Pass, to target: UnsafeMutablePointer<Float>)
}

extension PlacedLayer {
  var stem: String { "" }
  var tensors: [(name: String, shape: [Int])] { [] }
  var hasTransposedWeight: Bool { false }
  var fetchesAhead: Bool { false }
  var takesBytes: Bool { false }
  var multiplyAdds: Int { 0 }
  var runsInPlace: Bool { false }
  var deltaInPlace: Bool { false }
  var readsOutput: Bool { false }
  var roundsOnce: Bool { false }
  var statistics: [String] { [] }
  var leaves: [Network.Node] { [] }
  func stateCount(_ rows: Int) -> Int { 0 }
  func scratchCount(_ rows: Int, needsInputDelta: Bool) -> Int { 0 }
  func initialise(_ target: UnsafeMutablePointer<Float>, _ stream: inout RandomStream) {}
  func moveStatistics(_ pass: Pass, to target: UnsafeMutablePointer<Float>) {}

  var writtenCount: Int { outputCount }
  var outputCount: Int { outputShape.reduce(1, *) }
  var parameterCount: Int { tensors.reduce(0) { $0 + $1.shape.reduce(1, *) } }
}

/// One layer's part of a pass over a batch.
struct Pass {
  let kernels: Kernels
  let rows: Int
  /// Where chance comes from; nil outside of training.
  let noise: BatchNoise?
  /// The layer's place in the network.
  let index: Int
  let parameters: UnsafePointer<Float>
  let input: UnsafeMutablePointer<Float>
  let output: UnsafeMutablePointer<Float>
  let state: UnsafeMutablePointer<Float>
  let scratch: UnsafeMutablePointer<Float>
  /// Memory that will be read soon, to ask for on the way; nil where somebody else does.
  var ahead: UnsafePointer<fs_ahead>?
  /// Where the rows are as bytes, of which `forward` makes `input`; nil: `input` is filled.
  var bytes: UnsafePointer<UnsafePointer<UInt8>?>?
  /// Whether it is a step of a training.
  var isTraining = false
}

/// One layer's gradients.
struct Deltas {
  /// By the output; may be overwritten.
  let output: UnsafeMutablePointer<Float>
  /// By the input, to be written; nil where nobody needs it.
  let input: UnsafeMutablePointer<Float>?
  /// What the parameters' gradient is added to; nil: zeros.
  let start: UnsafePointer<Float>?
  /// Where that sum goes, which may be the parameters themselves; nil: the layer is frozen.
  let target: UnsafeMutablePointer<Float>?
}

/// Chance in one batch of a training: dropout's.
struct BatchNoise {
  let key: StreamKey
  /// The data epoch's slot.
  let slot: UInt64
  /// The batch's place in its epoch.
  let batch: Int

  /// The stream of a layer; its slots are disjoint from those of the epochs themselves.
  func stream(layer: Int) -> RandomStream {
    precondition(batch < 1 << 24 && slot < 1 << 31 && layer < 1 << 8, "slots fit 64 bits")
    return key.stream(slot: 1 << 63 | UInt64(layer) << 55 | slot << 24 | UInt64(batch))
  }
}

/// Uniform on ±1/√fan, in order.
func initialiseUniform(
  _ target: UnsafeMutablePointer<Float>, count: Int, fan: Int, _ stream: inout RandomStream
) {
  let bound = 1 / Double(fan).squareRoot()
  for index in 0..<count { target[index] = Float((2 * stream.uniform() - 1) * bound) }
}
