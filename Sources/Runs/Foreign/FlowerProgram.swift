import FedSim
import Foundation
import Processes
import Scenarios
import Synchronization

/// A Flower program in the Python process that has started this one.
final class FlowerProgram: ServerProgram {
  private let pipe: ParentPipe
  private let seed: UInt64
  private let names: [String]
  private let flower: FlowerSettings
  private let stated = Mutex("")

  init(_ pipe: ParentPipe, _ flower: FlowerSettings, seed: UInt64, names: [String]) {
    (self.pipe, self.flower, self.seed, self.names) = (pipe, flower, seed, names)
  }

  /// What computes in FedSim's place, in a line.
  var computedBy: String { stated.withLock { $0 } }

  /// What is done where the program fails.
  let lastResort = LastResort()

  // MARK: Messages

  private struct Begin: Encodable {
    /// The version of the messages; `pyfedsim.flower` has the same.
    var format = 1
    var seed: UInt64
    /// Each device's name and client.
    var names: [String]
    var clients: [Int32]
    /// How many samples each is said to train and to evaluate on.
    var samples: [Int]
    var evaluationSamples: [Int]
  }

  private struct Moment: Encodable {
    var now: Int64
    var online: [Int]
    /// Numbers of messages with a reply, and of those without.
    var replies: [Int]
    var failures: [Int]
    /// Both, in the order in which they ended.
    var ended: [Int]
  }

  private struct Answer: Decodable {
    var fault: String?
    var computedBy: String?
    var commands: [Command]?
  }

  private struct Command: Decodable {
    var `do`: String
    var message: Int?
    var messages: [Int]?
    var device: Int?
    var work: ProgramCommand.Work?
    var until: Int64?
    var instruction: Int64?
    var reply: Int64?
    var examples: Int?
    var loss: Double?
    var accuracy: Double?

    var time: SimTime? { until.map { SimTime(microseconds: $0) } }

    /// The command; nil: it is not understood.
    var value: ProgramCommand? {
      switch `do` {
      case "sizes":
        guard let instruction, let reply else { return nil }
        return .sizes(instruction: instruction, reply: reply)
      case "send":
        guard let message, let device, let work, let time else { return nil }
        return .send(message: message, device: device, work, expires: time)
      case "closeRound": return .closeRound
      case "closeEvaluation":
        return .closeEvaluation(
          examples: examples ?? 0, loss: loss ?? .nan, accuracy: accuracy ?? .nan)
      case "wait": return .wait(messages: messages ?? [], until: time)
      case "poll": return until.map { .poll(SimDuration(microseconds: $0)) }
      case "end": return .end
      default: return nil
      }
    }
  }

  func begin(clients: [Int32]) {
    func counts(_ stated: [Int]) -> [Int] {
      clients.map { stated.count == 1 ? stated[0] : stated[Int($0)] }
    }
    let tests = flower.evaluationSamples ?? flower.samples
    let answer = ask(
      Begin(
        seed: seed, names: names, clients: clients, samples: counts(flower.samples),
        evaluationSamples: counts(tests)))
    guard let computedBy = answer.computedBy else {
      fail("the Python package pyfedsim is of another version")
    }
    stated.withLock { $0 = computedBy }
  }

  func proceed(_ moment: ProgramMoment) -> [ProgramCommand] {
    let answer = ask(
      Moment(
        now: moment.now.microseconds, online: moment.online,
        replies: moment.ended.filter(\.isReply).map(\.message),
        failures: moment.ended.filter { !$0.isReply }.map(\.message),
        ended: moment.ended.map(\.message)))
    let commands = answer.commands?.map(\.value) ?? [nil]
    guard commands.allSatisfy({ $0 != nil }) else {
      fail("a command of the Flower program is not understood")
    }
    return commands.compactMap { $0 }
  }

  private func ask(_ message: some Encodable) -> Answer {
    let bytes = (try? JSONEncoder().encode(message)).map { Array($0) } ?? []
    guard let reply = pipe.ask(bytes) else { fail("the Flower program is gone") }
    guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(reply)) else {
      fail("an answer of the Flower program is not understood")
    }
    if let fault = answer.fault { fail(fault) }
    return answer
  }

  private func fail(_ reason: String) -> Never { lastResort.end(reason) }
}
