import FedSim
import Foundation
import Processes

/// What the process of a part receives first.
struct PolicyBegin: Encodable {
  /// The version of the messages; `pyfedsim._policy` has the same.
  static let currentFormat = 1

  var format = PolicyBegin.currentFormat
  var seam: String
  /// Where modules are looked for first.
  var folder: String
  /// `module:class`.
  var part: String
  /// What the class is called with, as JSON.
  var settings: String
}

/// What a class states.
struct PolicyStatement: Decodable, Sendable {
  struct Timer: Decodable, Sendable {
    var kind: String
    var microseconds: Int64
  }

  var format = 0
  /// Why it cannot be a part; nil: it can.
  var fault: PolicyFault?
  /// Of a selector: whether it forms cohorts.
  var formsCohorts = false
  /// What it needs, by the words of its seam.
  var needs: [String] = []
  /// Of a trigger.
  var timer: Timer?
  var neededUpdates: Int?
  /// Of a selector that forms cohorts.
  var neededWaiting: Int?
  var waitLimit: Int64?
  var acceptsLate = false
  /// The SHA-256 of its module's file; nil: it has none.
  var digest: String?
  /// What computes: the versions of Python and of libraries, and the processor.
  var versions: [Version] = []

  struct Version: Decodable, Sendable {
    var name: String
    var version: String
  }
}

/// What the code raised, or returned that is not what was asked for.
struct PolicyFault: Decodable, Sendable {
  /// One line.
  var message: String
  /// Python's traceback; empty: there is none.
  var traceback: String

  /// Both.
  var words: String { traceback.isEmpty ? message : "\(message)\n\(traceback)" }
}

/// A call, or its answer: the length of JSON, the JSON, and what the part remembers.
struct PolicyMessage {
  let bytes: [UInt8]

  init(_ call: some Encodable, _ memory: PythonMemory) {
    let encoder = JSONEncoder()
    // JSON has no such numbers; `pyfedsim._policy` reads these words.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    let text: [UInt8]
    do {
      text = Array(try encoder.encode(call))
    } catch {
      preconditionFailure("a call is numbers, words and lists: \(error)")
    }
    bytes = withUnsafeBytes(of: UInt64(text.count).littleEndian) { Array($0) } + text + memory.bytes
  }

  private struct Reply<Value: Decodable>: Decodable {
    var value: Value?
    var fault: PolicyFault?
  }

  /// What an answer says. Throws: what the code raised.
  static func read<Value: Decodable>(
    _ bytes: [UInt8]
  ) throws(PythonProcess.Lost) -> (Value, PythonMemory) {
    guard bytes.count >= 8 else { throw PythonProcess.Lost(reason: "an answer of no length") }
    let length = bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    guard length <= UInt64(bytes.count - 8) else {
      throw PythonProcess.Lost(reason: "an answer that is not whole")
    }
    let end = 8 + Int(length)
    guard let reply = try? JSONDecoder().decode(Reply<Value>.self, from: Data(bytes[8..<end]))
    else { throw PythonProcess.Lost(reason: "an answer that is not understood") }
    if let fault = reply.fault { throw PythonProcess.Lost(reason: fault.words) }
    guard let value = reply.value else { throw PythonProcess.Lost(reason: "an empty answer") }
    return (value, PythonMemory(bytes: Array(bytes[end...])))
  }
}

/// What the code sees of the server.
struct ServerWords: Encodable {
  var now: Int64
  var version: Int
  var round: Int
  var pending: Int
  var cohortGoal: Int?
  var cohortSize: Int
  var failures: Int
  var roundOpenedAt: Int64

  init(_ server: ServerView) {
    now = server.now.microseconds
    (version, round, pending) = (server.version, server.round, server.pending)
    (cohortGoal, cohortSize) = (server.cohortGoal, server.cohortSize)
    (failures, roundOpenedAt) = (server.failures, server.roundOpenedAt.microseconds)
  }
}

/// What the code sees of a device that asks for work, with what the server knows of it.
struct CheckInWords: Encodable {
  var device: Int
  var heldVersion: Int
  var hasPending: Bool
  var facts: Facts?

  struct Facts: Encodable {
    var samples: Int
    var checkIns: Int
    var timesChosen: Int
    var lastRound: Int
    var duration: Int64?
    var timesAggregated: Int
    var loss: Double?
    var battery: Double?
  }

  init(_ checkIn: CheckIn, _ server: ServerView, hasFacts: Bool) {
    (device, heldVersion, hasPending) = (checkIn.device, checkIn.heldVersion, checkIn.hasPending)
    guard hasFacts else { return }
    let known = server.facts(of: checkIn.device)
    facts = Facts(
      samples: known.samples, checkIns: known.checkIns, timesChosen: known.timesChosen,
      lastRound: known.lastRound, duration: known.duration?.microseconds,
      timesAggregated: known.timesAggregated, loss: known.loss, battery: known.reportedBattery)
  }
}
