import FedSim
import Foundation
import Learning
import Numerics
import Processes
import Scenarios
import Schema

/// The process that computes trainings for a run: orders come on standard input, reports go to
/// standard output, buffers are in the memory of descriptor 3, trained parameters in that of
/// descriptor 4.
///
/// When standard input ends the run is over, or dead, and the process ends.
public enum TrainingWorker {
  /// Serves a run until it ends; the exit code.
  public static func serve(registry: Registry) -> Int32 {
    signal(SIGINT, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    // Reports have the pipe to themselves: what anything prints goes where errors go.
    let reports = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 5)
    dup2(STDERR_FILENO, STDOUT_FILENO)
    endWithTheRun()
    guard let bytes = MessagePipe.receive(from: STDIN_FILENO),
      let setup = try? JSONDecoder().decode(WorkerSetup.self, from: Data(bytes))
    else { return 2 }
    var ready = WorkerReady()
    var catalog: TrainingCatalog?
    do throws(Faults) {
      let inputs = try inputs(setup, registry)
      ready.data = inputs.task.digest.hexDigits
      catalog = inputs.trainings()
    } catch {
      ready.fault = "\(RunFailure.input(error.faults))"
    }
    _ = MessagePipe.send((try? JSONEncoder().encode(ready)).map { Array($0) } ?? [], to: reports)
    guard let catalog else { return 2 }
    catalog.sharePlans()
    let output = SharedMemory(descriptor: 4)
    if setup.outputSize > 0 {
      do throws(StartFault) { try output.map(setup.outputSize) } catch { return 3 }
    }
    let desk = Desk(
      catalog: catalog, area: BufferArea(SharedMemory(descriptor: 3)), output: output)
    while let order = MessagePipe.receive(from: STDIN_FILENO) {
      guard let reply = desk.reply(order), MessagePipe.send(reply, to: reports) else { return 3 }
    }
    return 0
  }

  /// Ends the process where nobody writes orders any more, in the middle of a training, too.
  private static func endWithTheRun() {
    let watcher = Thread {
      var input = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
      while poll(&input, 1, -1) >= 0 || errno == EINTR {
        if input.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { _exit(0) }
      }
    }
    watcher.start()
  }

  private static func inputs(
    _ setup: WorkerSetup, _ registry: Registry
  ) throws(Faults) -> SimulationInputs {
    let scenario = try Scenario(
      text: setup.scenario, file: setup.scenarioFile, registry: registry)
    var options = RunOptions()
    options.kernels = RunOptions.Body(rawValue: setup.kernels)
    options.dataFolders = setup.dataFolders
    options.searchesInstalledData = setup.searchesInstalledData
    return try scenario.inputs(options)
  }

  /// What a worker has from one training to the next.
  private final class Desk {
    private let catalog: TrainingCatalog
    private let area: BufferArea
    private let output: SharedMemory
    private let scratch = Scratch()
    /// The buffers that the run may name again, by their numbers.
    private var kept: [(number: Int, buffer: ParameterBuffer)] = []

    struct Missing: Error, CustomStringConvertible {
      var description: String { "a buffer that was not sent" }
    }

    init(catalog: TrainingCatalog, area: BufferArea, output: SharedMemory) {
      self.catalog = catalog
      self.area = area
      self.output = output
    }

    /// Computes a training; what is said of it, nil where that cannot be said.
    func reply(_ bytes: [UInt8]) -> [UInt8]? {
      let reply: TrainingReply
      do { reply = .report(try report(bytes)) } catch { reply = .fault("\(error)") }
      return try? Archive.bytes(of: reply)
    }

    private func report(_ bytes: [UInt8]) throws -> TrainingReport {
      let order = try Archive.value(TrainingOrder.self, from: bytes, contexts: [catalog])
      try area.memory.map(order.size)
      let buffers = try order.buffers.map(buffer)
      kept.removeAll { entry in order.forgotten.contains(entry.number) }
      let request = TrainingRequest(
        order.description,
        memory: order.parts.memory(buffers, lossSquares: order.lossSquares),
        lossSum: order.lossSum)
      let count = request.memory.parameters.count
      let place = try order.output.map { place in
        guard let start = OutputArea.start(place, count: count, in: output) else { throw Missing() }
        return start
      }
      scratch.leaveOutput(in: place, count: count)
      defer { scratch.leaveOutput(in: nil, count: 0) }
      let answer = request.answer(
        by: catalog.models[order.description.model].algorithm, kernels: catalog.kernels,
        scratch: scratch)
      let memory = answer.outcome.memory
      return TrainingReport(
        lossSum: answer.outcome.lossSum, lossSquares: memory.lossSquares,
        samplesProcessed: answer.outcome.samplesProcessed, validation: answer.validation,
        parts: MemoryParts(memory),
        buffers: try write(memory.buffers, besides: buffers, output: place),
        size: area.memory.bytes.count)
    }

    private func buffer(_ sent: SentBuffer) throws -> ParameterBuffer {
      guard let offset = sent.offset else {
        guard let entry = kept.first(where: { $0.number == sent.number }) else { throw Missing() }
        return entry.buffer
      }
      guard let buffer = area.read(sent.count, at: offset) else { throw Missing() }
      kept.append((sent.number, buffer))
      return buffer
    }

    private func write(
      _ buffers: [ParameterBuffer], besides known: [ParameterBuffer],
      output: UnsafeMutablePointer<Float>?
    ) throws -> [ReturnedBuffer] {
      let places = buffers.map { buffer -> ReturnedBuffer? in
        if let output, buffer.isIn(output) { return .output }
        return known.firstIndex { $0 === buffer }.map { .same($0) }
      }
      let fresh = zip(buffers, places).filter { $1 == nil }.map(\.0)
      var offsets = try area.write(fresh)[...]
      return zip(buffers, places).map { buffer, place in
        place ?? .new(count: buffer.count, offset: offsets.removeFirst())
      }
    }
  }
}
