import FedSim
import Learning
import Results

/// Watches the requests of a run, and writes each with its answer as a line.
///
/// A line is written once its answer is known and all lines before it are written; so lines wait
/// in memory, up to `mostWaiting` bytes.
final class RequestWatch: Observer {
  /// A line that waits to be written.
  private struct Line {
    let facts: RequestFacts
    let dialect: RequestDialect
    let text: String
    var isDelivered: Bool
    var answer: String?
    var isOver = false
  }

  /// What is written.
  private let choice: RequestChoice
  /// The dialect of each group, and the number of its first device.
  private let dialects: [RequestDialect]
  private let firstDevices: [Int]
  private let title: String
  /// The devices whose requests are written; nil: all.
  private let devices: Set<Int>?
  private let file: StreamedFile

  /// Requests that have left their devices and have not arrived, by device and number.
  private var leaving: [UInt64: SentRequest] = [:]
  private var names: [Int: HandedNames] = [:]
  /// Lines from the first that is not written, which has the number `firstNumber`.
  private var lines: [Line] = []
  private var firstNumber = 0
  /// The number of each device's line that has no answer yet.
  private var open: [Int: Int] = [:]
  /// Bytes of lines that wait.
  private var waiting = 0
  /// Lines that were written.
  private(set) var count = 0
  /// Requests that the dialect has no form for, by kind, in the order in which kinds were met.
  private(set) var leftOut: [(kind: String, count: Int)] = []
  /// What went wrong, if anything: then nothing more is written.
  private(set) var fault: ResultFault?

  /// Beyond this many bytes of lines the first is written without an answer.
  private static let mostWaiting = 256 << 20

  init(
    _ choice: RequestChoice, _ fleet: [FleetGroupSettings], dialects: [RequestDialect],
    title: String, devices: Set<Int>?, file: StreamedFile
  ) {
    self.choice = choice
    self.dialects = dialects
    var firsts = [0]
    for group in fleet { firsts.append(firsts.last! + group.count) }
    firstDevices = firsts.dropLast()
    self.title = title
    self.devices = devices
    self.file = file
  }

  var wantsEveryEvent: Bool { true }

  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    guard fault == nil, let device = event.device, devices?.contains(device) ?? true else { return }
    switch event {
    case .transferEnd:
      guard let sent = simulation.sentRequest(of: device) else { break }
      leaving[Self.key(device, sent.id)] = sent
    case .arrival(_, let id, let request):
      arrived(device, id, request, at: time, simulation)
    case .response(_, let id, let response):
      names[device, default: HandedNames()].hear(response, device, id)
      answered(device, id, response, at: time)
    default: break
    }
    if let number = open[device],
      simulation.requestUnderWay(of: device) != lines[number - firstNumber].facts.sent.id
    {
      end(number)
    }
    write()
  }

  func ended(_ simulation: borrowing Simulation) {
    for place in lines.indices { lines[place].isOver = true }
    open = [:]
    write()
  }

  private static func key(_ device: Int, _ id: UInt32) -> UInt64 {
    UInt64(device) << 32 | UInt64(id)
  }

  // MARK: What happens

  /// A request reaches the server, or its closed door.
  private func arrived(
    _ device: Int, _ id: UInt32, _ request: Request, at time: SimTime,
    _ simulation: borrowing Simulation
  ) {
    let sent = leaving.removeValue(forKey: Self.key(device, id))
    guard choice.covers(time) else { return }
    // A connection that closes is no request.
    if case .leave = request { return }
    let group = firstDevices.lastIndex { $0 <= device }!
    let dialect = dialects[group]
    guard let sent else { return leaveOut(request) }
    let facts = facts(of: device, group, sent, simulation)
    guard let message = dialect.request(facts) else { return leaveOut(request) }
    var line = JSONFields()
    line.add("time", TraceText.seconds(time))
    line.add("device", text: facts.path)
    // An older request of the device is answered no more.
    if let number = open[device] { end(number) }
    let text = "{\(line.text), \(message.fields)"
    waiting += text.utf8.count
    lines.append(
      Line(
        facts: facts.withoutContents, dialect: dialect, text: text,
        isDelivered: simulation.isServerReachable))
    open[device] = firstNumber + lines.count - 1
  }

  /// The head of an answer reaches the device.
  private func answered(_ device: Int, _ id: UInt32, _ response: Response, at time: SimTime) {
    guard let number = open[device], lines[number - firstNumber].facts.sent.id == id else { return }
    let place = number - firstNumber
    let answer = lines[place].dialect.answer(response, to: lines[place].facts)
    var fields = JSONFields()
    fields.add("time", TraceText.seconds(time))
    fields.add("status", answer.status)
    fields.add("body", answer.body.object)
    lines[place].answer = fields.object
    lines[place].isDelivered = true
    end(number)
  }

  private func end(_ number: Int) {
    lines[number - firstNumber].isOver = true
    open[lines[number - firstNumber].facts.device] = nil
  }

  private func leaveOut(_ request: Request) {
    if let place = leftOut.firstIndex(where: { $0.kind == request.kindWord }) {
      leftOut[place].count += 1
    } else {
      leftOut.append((request.kindWord, 1))
    }
  }

  private func facts(
    of device: Int, _ group: Int, _ sent: SentRequest, _ simulation: borrowing Simulation
  ) -> RequestFacts {
    let inputs = simulation.inputs
    let models = inputs.task.models.map(\.name)
    var facts = RequestFacts(
      device: device, path: simulation.path(of: device), group: inputs.fleet[group], sent: sent,
      names: names[device] ?? HandedNames(), title: title,
      models: models.isEmpty ? [CentralModel.ownName] : models)
    guard choice.hasWeights, let update = sent.update, let contents = update.contents() else {
      return facts
    }
    facts.contents = contents
    // PyGrid subtracts what it gets, all others add it.
    let sign = dialects[group] == .pygrid ? -1.0 : 1
    let base = inputs.server.payload == .delta ? update.baseParameters : nil
    for tensor in simulation.travellingTensors {
      let trained = contents.parameters.values(of: tensor).map { Double($0) }
      guard let base = base?.values(of: tensor) else {
        facts.tensors.append((tensor.name, trained))
        continue
      }
      facts.tensors.append(
        (tensor.name, zip(trained, base).map { sign * ($0 - Double($1)) }))
    }
    return facts
  }

  // MARK: Lines

  /// Writes the lines whose answers are known, from the first on.
  private func write() {
    var written = 0
    while written < lines.count {
      let line = lines[written]
      guard line.isOver || waiting > Self.mostWaiting else { break }
      if !line.isOver { open[line.facts.device] = nil }
      let text =
        line.text + ", \"delivered\": \(line.isDelivered), \"answer\": \(line.answer ?? "null")}\n"
      do throws(ResultFault) {
        try file.add(text.utf8)
      } catch {
        fault = error
        return
      }
      waiting -= line.text.utf8.count
      count += 1
      written += 1
    }
    lines.removeFirst(written)
    firstNumber += written
  }
}

extension RequestFacts {
  /// The same without numbers, for the time until the answer comes.
  fileprivate var withoutContents: RequestFacts {
    RequestFacts(
      device: device, path: path, group: group, sent: sent.withoutUpdate, names: names,
      title: title, models: models)
  }
}
