import Foundation
import Learning

/// What a Python process receives first.
struct TrainerBegin: Codable {
  /// The version of the messages; `pyfedsim._worker` has the same.
  static let currentFormat = 1

  var format = TrainerBegin.currentFormat
  /// Where modules are looked for first.
  var folder: String
  /// `module:function`.
  var trainer: String
  /// What the function is called with, as JSON.
  var settings: String
}

/// What a trainer states; its arrays follow as separate messages.
struct TrainerStatement: Codable {
  struct Tensor: Codable, Equatable {
    var name: String
    var shape: [Int]
    var isStatistic: Bool
  }

  var format = 0
  /// Why there is no trainer; nil: there is one.
  var fault: TrainerFault?
  /// The trainer's own name.
  var name = ""
  var tensors: [Tensor] = []
  var train = 0
  var test = 0
  var classes = 1
  /// The names of natural clients; nil: there are none.
  var clients: [String]?
  var hasTestOwners = false
  var operations: Int?
  var values: Int?
  /// What computes: the versions of Python and of libraries, and the processor.
  var versions: [Version] = []
  /// The SHA-256 of its module's file; nil: it has none.
  var digest: String?

  struct Version: Codable, Equatable {
    var name: String
    var version: String
  }
}

/// What a trainer's code raised, or returned that is not what was asked for.
struct TrainerFault: Codable {
  /// One line.
  var message: String
  /// Python's traceback; empty: there is none.
  var traceback: String

  /// Both.
  var words: String { traceback.isEmpty ? message : "\(message)\n\(traceback)" }
}

/// What a Python process is asked to do; the first number of a message.
enum TrainerRequest: Int64 {
  case initial = 1
  case train = 2
  case evaluate = 3
}

/// Numbers one behind the other, as a Python process reads them.
struct TrainerWords {
  private(set) var bytes: [UInt8] = []

  init(_ request: TrainerRequest, _ numbers: [Int64]) {
    add([request.rawValue] + numbers)
  }

  mutating func add<Number: FixedWidthInteger>(_ numbers: [Number]) {
    numbers.withUnsafeBytes { bytes.append(contentsOf: $0) }
    // Whatever follows begins at a multiple of eight.
    bytes.append(contentsOf: repeatElement(0, count: (8 - bytes.count % 8) % 8))
  }
}

/// Numbers of an answer.
struct TrainerAnswer {
  /// 0: it is done; 1: a fault follows as JSON.
  let isFault: Bool
  private let bytes: [UInt8]

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 8 else { return nil }
    isFault = bytes[0] != 0
    self.bytes = bytes
  }

  var fault: TrainerFault {
    (try? JSONDecoder().decode(TrainerFault.self, from: Data(bytes.dropFirst(8))))
      ?? TrainerFault(message: "a fault that is not understood", traceback: "")
  }

  /// A number behind the first; nil: the answer is too short.
  func number(_ place: Int) -> Int64? {
    guard bytes.count >= 8 * (place + 2) else { return nil }
    return bytes.withUnsafeBytes {
      $0.loadUnaligned(fromByteOffset: 8 * (place + 1), as: Int64.self)
    }
  }

  func real(_ place: Int) -> Double? {
    number(place).map { Double(bitPattern: UInt64(bitPattern: $0)) }
  }
}
