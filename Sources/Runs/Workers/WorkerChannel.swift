import FedSim
import Foundation
import Learning
import Numerics
import Processes

/// A worker process as the run sees it. One thread at a time uses it.
final class WorkerChannel: @unchecked Sendable {
  /// The worker is gone, or cannot do what it is asked for.
  struct Lost: Error {
    let reason: String
    /// Whether another worker could do it as little.
    var isFinal = false
  }

  /// Buffers that a worker keeps: versions from which several trainings begin.
  private static let mostKept = 4

  private let setup: [UInt8]
  private let data: String
  private let catalog: TrainingCatalog
  private let area: BufferArea
  /// The processor that the worker keeps; nil: it runs anywhere.
  let processor: Int?
  /// Nil: there is no room for it, and parameters are copied.
  private let output: OutputArea?
  private(set) var process: pid_t = 0
  /// The thread that used it last: what that has written, and reads next, is in its cache.
  var user: pthread_t?
  private var (orders, reports) = (CInt(-1), CInt(-1))
  /// What the worker has, the last one used at the end.
  private var kept: [(number: Int, buffer: ParameterBuffer)] = []
  private var numbers = 0

  /// Starts a worker.
  ///
  /// Throws: `RunFailure.failed` where it cannot be started.
  init(
    _ setup: WorkerSetup, data: String, catalog: TrainingCatalog, areaSize: Int, processor: Int?
  ) throws(RunFailure) {
    output = try? OutputArea(most: catalog.models.map(\.parameterCount).max() ?? 0)
    var setup = setup
    setup.outputSize = output?.memory.bytes.count ?? 0
    self.setup = (try? JSONEncoder().encode(setup)).map { Array($0) } ?? []
    (self.data, self.catalog, self.processor) = (data, catalog, processor)
    do throws(StartFault) {
      area = BufferArea(try SharedMemory(size: areaSize))
      try start()
    } catch {
      throw .failed("a worker process cannot be started: \(error)")
    }
  }

  deinit { stop() }

  private func start() throws(StartFault) {
    let worker = try StartedProcess.piped(
      ThisProgram.path, [TrainingWorkers.command],
      files: [.own(STDERR_FILENO), .own(area.memory.descriptor)]
        + (output.map { [.own($0.memory.descriptor)] } ?? []), hasOwnGroup: true)
    (process, orders, reports) = (worker.process, worker.input, worker.output)
    if let processor { Processors.confine(process, to: [processor]) }
    catalog.sharePlans()
    _ = MessagePipe.send(setup, to: orders)
  }

  /// Ends the worker; how it ended, in words.
  @discardableResult
  private func stop() -> String {
    guard orders >= 0 else { return "the worker could not be started" }
    close(orders)
    close(reports)
    kill(process, SIGKILL)
    (orders, reports, kept) = (-1, -1, [])
    return "a worker process \(StartedProcess.wait(for: process).words)"
  }

  /// Waits until the worker has read what the run has read; one that dies meanwhile is replaced.
  ///
  /// Throws: `RunFailure.failed` where it cannot, or has read something else.
  func awaitReady() throws(RunFailure) {
    var deaths = 0
    while true {
      if let bytes = MessagePipe.receive(from: reports),
        let ready = try? JSONDecoder().decode(WorkerReady.self, from: Data(bytes))
      {
        if let fault = ready.fault { throw .failed("a worker process cannot begin: \(fault)") }
        if ready.data == data { return }
        throw .failed("a worker process has read other data: a file has changed meanwhile")
      }
      deaths += 1
      let end = stop()
      guard deaths < TrainingWorkers.mostDeaths, (try? start()) != nil else {
        throw .failed("\(end) before it was ready")
      }
    }
  }

  /// Replaces the worker by a new one; whether that is ready.
  func restart() -> Bool {
    stop()
    guard (try? start()) != nil else { return false }
    return (try? awaitReady()) != nil
  }

  /// Has the worker compute a training.
  ///
  /// Throws: `Lost` where no report comes.
  func answer(_ request: TrainingRequest) throws(Lost) -> TrainingAnswer {
    let buffers = request.memory.buffers
    var order: TrainingOrder
    do throws(StartFault) {
      order = try self.order(request, buffers)
    } catch {
      throw Lost(reason: "\(error)", isFinal: true)
    }
    order.output = output?.take(count: request.memory.parameters.count)
    var isAdopted = false
    defer { if let place = order.output, !isAdopted { output?.give(place) } }
    guard let bytes = try? Archive.bytes(of: order, contexts: [catalog]),
      MessagePipe.send(bytes, to: orders), let reply = MessagePipe.receive(from: reports)
    else { throw Lost(reason: stop()) }
    do {
      switch try Archive.value(TrainingReply.self, from: reply) {
      case .report(let report):
        try area.memory.map(report.size)
        let trained = report.buffers.contains { if case .output = $0 { true } else { false } }
        isAdopted = trained && order.output != nil
        return try answer(report, buffers, isAdopted ? order.output : nil)
      case .fault(let reason):
        throw Lost(reason: "a worker process: \(reason)", isFinal: true)
      }
    } catch let lost as Lost {
      throw lost
    } catch {
      throw Lost(reason: "a worker process answers what is not understood (\(error))")
    }
  }

  private func answer(
    _ report: TrainingReport, _ buffers: [ParameterBuffer], _ place: Int?
  ) throws -> TrainingAnswer {
    let trained = place.flatMap { output?.adopt($0, count: buffers[0].count) }
    let returned = try report.buffers.map { buffer in
      switch buffer {
      case .output where trained != nil: return trained!
      case .same(let place) where buffers.indices.contains(place): return buffers[place]
      case .new(let count, let offset):
        if let buffer = area.read(count, at: offset) { return buffer }
        fallthrough
      case .same, .output: throw Lost(reason: "a buffer that is not there")
      }
    }
    let memory = report.parts.memory(returned, lossSquares: report.lossSquares)
    return TrainingAnswer(
      outcome: TrainingOutcome(
        memory: memory, lossSum: report.lossSum, samplesProcessed: report.samplesProcessed),
      validation: report.validation)
  }

  /// The order for a training; what the worker does not have is written into the shared memory.
  private func order(
    _ request: TrainingRequest, _ buffers: [ParameterBuffer]
  ) throws(StartFault) -> TrainingOrder {
    var places: [SentBuffer] = []
    var fresh: [ParameterBuffer] = []
    for buffer in buffers {
      if let place = kept.firstIndex(where: { $0.buffer === buffer }) {
        let entry = kept.remove(at: place)
        kept.append(entry)
        places.append(SentBuffer(number: entry.number, count: buffer.count, offset: nil))
      } else {
        numbers += 1
        kept.append((numbers, buffer))
        places.append(SentBuffer(number: numbers, count: buffer.count, offset: fresh.count))
        fresh.append(buffer)
      }
    }
    let offsets = try area.write(fresh)
    for place in places.indices { places[place].offset = places[place].offset.map { offsets[$0] } }
    let most = max(Self.mostKept, buffers.count)
    let forgotten = kept.prefix(max(0, kept.count - most)).map(\.number)
    kept.removeFirst(forgotten.count)
    return TrainingOrder(
      description: request.description, lossSum: request.lossSum,
      lossSquares: request.memory.lossSquares, parts: MemoryParts(request.memory), buffers: places,
      forgotten: forgotten, size: area.memory.bytes.count)
  }
}
