import FedSim
import Learning
import Numerics

/// What a worker process receives first: the run whose trainings it computes.
struct WorkerSetup: Codable {
  /// The resolved scenario and its file.
  var scenario: String
  var scenarioFile: String
  /// The body of the kernels.
  var kernels: String
  /// Where data files are.
  var dataFolders: [String]
  var searchesInstalledData: Bool
  /// The bytes of the memory for trained parameters; 0: there is none.
  var outputSize = 0
}

/// What it says to that.
struct WorkerReady: Codable {
  /// The digest of the data that it has read.
  var data = ""
  /// Why it cannot begin; nil: it can.
  var fault: String?
}

/// A training that a worker is to compute. The values of its buffers are in the shared memory.
struct TrainingOrder {
  var description: TrainingDescription
  var lossSum: Double
  var lossSquares: Double?
  var parts: MemoryParts
  /// The buffers of the memory, in the order of `DeviceMemory.buffers`.
  var buffers: [SentBuffer]
  /// Numbers of buffers that nobody will name again.
  var forgotten: [Int]
  /// The bytes of the shared memory.
  var size: Int
  /// Where the trained parameters are to be left in the memory for that; nil: nowhere there.
  var output: Int?
}

/// A buffer by the number under which the worker keeps it.
struct SentBuffer {
  var number: Int
  var count: Int
  /// Where it is in the shared memory; nil: the worker has it.
  var offset: Int?
}

/// What a worker says to an order.
enum TrainingReply {
  case report(TrainingReport)
  /// Why it could not be done, and would not be by another worker.
  case fault(String)
}

/// What came of a training. The values of new buffers are in the shared memory.
struct TrainingReport {
  var lossSum: Double
  var lossSquares: Double?
  var samplesProcessed: Int
  var validation: Evaluation?
  var parts: MemoryParts
  var buffers: [ReturnedBuffer]
  /// The bytes of the shared memory.
  var size: Int
}

/// A buffer that is there already, by its place in the order; the one in the memory for trained
/// parameters; or a new one in the shared memory.
enum ReturnedBuffer {
  case same(Int)
  case output
  case new(count: Int, offset: Int)
}

/// How many buffers a device's memory consists of.
struct MemoryParts {
  var slots: Int
  var hasOrigin: Bool
  var received: Int
  var kept: Int

  init(_ memory: DeviceMemory) {
    (slots, received, kept) = (
      memory.optimizerSlots.count, memory.received.count, memory.kept.count
    )
    hasOrigin = memory.origin != nil
  }

  /// The memory that these buffers are.
  func memory(_ buffers: [ParameterBuffer], lossSquares: Double?) -> DeviceMemory {
    var rest = buffers[...]
    func take(_ count: Int) -> [ParameterBuffer] {
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    let parameters = take(1)[0]
    return DeviceMemory(
      parameters: parameters, optimizerSlots: take(slots),
      origin: hasOrigin ? take(1)[0] : nil, received: take(received), kept: take(kept),
      lossSquares: lossSquares)
  }
}

extension DeviceMemory {
  /// Its buffers: parameters, slots, origin, what was received, what was kept.
  var buffers: [ParameterBuffer] {
    [parameters] + optimizerSlots + (origin.map { [$0] } ?? []) + received + kept
  }
}
