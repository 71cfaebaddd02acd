import Learning
import Numerics

// A training of a small model takes less than a millisecond, so its messages are written field by
// field: synthesized `Codable` takes a tenth of that.

extension ArchiveEncoder {
  fileprivate func write(count: Int) { write(UInt64(count)) }

  /// Whether there is a value, and the value.
  fileprivate func write<Value>(_ value: Value?, _ body: (Value) throws -> Void) rethrows {
    write(byte: value == nil ? 0 : 1)
    if let value { try body(value) }
  }

  fileprivate func write<Value>(list: [Value], _ body: (Value) throws -> Void) rethrows {
    write(count: list.count)
    for value in list { try body(value) }
  }
}

extension ArchiveDecoder {
  fileprivate func readNumber() throws -> Int { try readUnsigned(Int.self) }

  fileprivate func readOptional<Value>(_ body: () throws -> Value) throws -> Value? {
    try readByte() == 0 ? nil : body()
  }

  fileprivate func readList<Value>(_ body: () throws -> Value) throws -> [Value] {
    let count = try readCount()
    return try (0..<count).map { _ in try body() }
  }
}

extension TrainingOrder: Codable {
  func encode(to encoder: any Encoder) throws {
    let archive = try encoder.archive(self)
    try archive.write(description)
    archive.write(lossSum)
    archive.write(lossSquares) { archive.write($0) }
    parts.write(to: archive)
    archive.write(list: buffers) { buffer in
      archive.write(count: buffer.number)
      archive.write(count: buffer.count)
      archive.write(buffer.offset, archive.write(count:))
    }
    archive.write(list: forgotten, archive.write(count:))
    archive.write(count: size)
    archive.write(output, archive.write(count:))
  }

  init(from decoder: any Decoder) throws {
    let archive = try decoder.archive()
    description = try archive.read(TrainingDescription.self)
    lossSum = try archive.readDouble()
    lossSquares = try archive.readOptional(archive.readDouble)
    parts = try MemoryParts(archive)
    buffers = try archive.readList {
      SentBuffer(
        number: try archive.readNumber(), count: try archive.readNumber(),
        offset: try archive.readOptional(archive.readNumber))
    }
    forgotten = try archive.readList(archive.readNumber)
    size = try archive.readNumber()
    output = try archive.readOptional(archive.readNumber)
  }
}

extension TrainingReply: Codable {
  func encode(to encoder: any Encoder) throws {
    let archive = try encoder.archive(self)
    switch self {
    case .report(let report):
      archive.write(byte: 0)
      try archive.write(report)
    case .fault(let reason):
      archive.write(byte: 1)
      archive.write(reason)
    }
  }

  init(from decoder: any Decoder) throws {
    let archive = try decoder.archive()
    switch try archive.readByte() {
    case 0: self = .report(try archive.read(TrainingReport.self))
    case 1: self = .fault(try archive.readWord())
    default: throw archive.damage("a reply")
    }
  }
}

extension TrainingReport: Codable {
  func encode(to encoder: any Encoder) throws {
    let archive = try encoder.archive(self)
    archive.write(lossSum)
    archive.write(lossSquares) { archive.write($0) }
    archive.write(count: samplesProcessed)
    try archive.write(validation) { try archive.write($0) }
    parts.write(to: archive)
    archive.write(list: buffers) { $0.write(to: archive) }
    archive.write(count: size)
  }

  init(from decoder: any Decoder) throws {
    let archive = try decoder.archive()
    lossSum = try archive.readDouble()
    lossSquares = try archive.readOptional(archive.readDouble)
    samplesProcessed = try archive.readNumber()
    validation = try archive.readOptional { try archive.read(Evaluation.self) }
    parts = try MemoryParts(archive)
    buffers = try archive.readList { try ReturnedBuffer(archive) }
    size = try archive.readNumber()
  }
}

extension ReturnedBuffer {
  fileprivate func write(to archive: ArchiveEncoder) {
    switch self {
    case .same(let place):
      archive.write(byte: 0)
      archive.write(count: place)
    case .output: archive.write(byte: 1)
    case .new(let count, let offset):
      archive.write(byte: 2)
      archive.write(count: count)
      archive.write(count: offset)
    }
  }

  fileprivate init(_ archive: ArchiveDecoder) throws {
    switch try archive.readByte() {
    case 0: self = .same(try archive.readNumber())
    case 1: self = .output
    case 2: self = .new(count: try archive.readNumber(), offset: try archive.readNumber())
    default: throw archive.damage("a buffer")
    }
  }
}

extension MemoryParts {
  fileprivate func write(to archive: ArchiveEncoder) {
    for count in [slots, received, kept] { archive.write(count: count) }
    archive.write(byte: hasOrigin ? 1 : 0)
  }

  fileprivate init(_ archive: ArchiveDecoder) throws {
    slots = try archive.readNumber()
    received = try archive.readNumber()
    kept = try archive.readNumber()
    hasOrigin = try archive.readByte() != 0
  }
}
