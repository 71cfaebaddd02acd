/// Values as bytes: what is written is read back as it was, by the same program.
///
/// Fields are in the order of their declaration, without names: a value is read by the very type
/// that wrote it, so a type's synthesized `Codable` is all that it needs. Whole numbers take as
/// many bytes as they need, floating-point numbers their bits. Objects (`ArchivedObject`) are
/// written once, however often they are referred to. A digest covers all of it.
///
/// Layout: 8 bytes of `magic`; the length of what follows the digest, and its digest (XXH64), 8
/// bytes each; then the words that occur, the marks, the objects (each after those that it refers
/// to), and the value. Little-endian.
public enum Archive {
  static let magic = Array("FedSim\u{1}\n".utf8)
  static let headerLength = 24

  /// Something that tells what a value belongs to: who reads it has the same marks.
  public struct Mark: Equatable, Sendable {
    let name: String
    let text: String

    /// A mark.
    public init(_ name: String, _ value: some CustomStringConvertible) {
      self.name = name
      text = value.description
    }
  }

  /// The bytes of a value.
  ///
  /// `known` are objects that the reader will have, in the same order; they are not written.
  /// Throws: what the value's own `encode` throws; none of the engine's does.
  public static func bytes(
    of value: some Encodable, marks: [Mark] = [], known: [any ArchivedObject] = [],
    contexts: [any ArchiveContext] = []
  ) throws -> [UInt8] {
    Array(joining: try pieces(of: value, marks: marks, known: known, contexts: contexts))
  }

  /// The same bytes in pieces, to be written one after the other: a large value is not copied.
  package static func pieces(
    of value: some Encodable, marks: [Mark] = [], known: [any ArchivedObject] = [],
    contexts: [any ArchiveContext] = []
  ) throws -> [[UInt8]] {
    let encoder = ArchiveEncoder(known: known, contexts: contexts)
    try encoder.write(value)
    return try encoder.finish(marks)
  }

  /// The value that these bytes are.
  ///
  /// `types` are those of the objects in it. Throws: `ArchiveFault` where the bytes are no whole
  /// archive, or one of another value.
  public static func value<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], marks: [Mark] = [],
    known: [any ArchivedObject] = [], types: [any ArchivedObject.Type] = [],
    contexts: [any ArchiveContext] = []
  ) throws(ArchiveFault) -> Value {
    try bytes.withUnsafeBytes { memory in
      Result { () throws(ArchiveFault) in
        let decoder = try ArchiveDecoder(
          memory, marks: marks, known: known, types: types, contexts: contexts)
        return try read(type, from: decoder)
      }
    }.get()
  }

  private static func read<Value: Decodable>(
    _ type: Value.Type, from decoder: ArchiveDecoder
  ) throws(ArchiveFault) -> Value {
    do {
      let value = try decoder.read(type)
      guard decoder.left == 0 else { throw decoder.damage("the end") }
      return value
    } catch let fault as ArchiveFault {
      throw fault
    } catch {
      // A value's own `init(from:)` found what cannot be.
      throw decoder.damage("\(error)")
    }
  }
}

/// Something that is written once, however many values refer to it, and is one again when it is
/// read.
public protocol ArchivedObject: AnyObject, Codable {
  /// Its type's name in archives.
  static var archiveName: String { get }
  /// Whether it refers to no other object.
  static var isLeaf: Bool { get }
}

/// What values need besides their bytes when they are written and read; of each type one at most.
public protocol ArchiveContext: AnyObject {}

/// Why bytes cannot be read.
public enum ArchiveFault: Error, Equatable, CustomStringConvertible {
  /// They are no archive.
  case noArchive
  /// They are not all there, or not as they were written; at which byte.
  case damaged(at: Int, String)
  /// They are of something else: what does not agree, as it was saved and as it is.
  case otherRun(what: String, saved: String, found: String)

  /// The fault in a sentence.
  public var description: String {
    switch self {
    case .noArchive: "the file is not a saved run"
    case .damaged(let place, let what):
      "the file is damaged: byte \(place) differs from what was written (\(what))"
    case .otherRun(let what, let saved, let found):
      "the file is of another run: \(what) was \(saved) and is \(found)"
    }
  }
}

extension [UInt8] {
  /// The bytes of all pieces, one after the other.
  package init(joining pieces: [[UInt8]]) {
    self.init()
    reserveCapacity(pieces.reduce(0) { $0 + $1.count })
    for piece in pieces { self += piece }
  }
}
