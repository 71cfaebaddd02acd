/// What is wrong with a data file: which file, where in it, what was found, and what was expected.
///
/// The words are for the person who owns the file; `kind` and `place` are for programs and tests.
public struct DataFault: Error, Equatable, Sendable {
  /// The sort of fault.
  public enum Kind: String, Sendable {
    /// No such file in any of the places searched.
    case missingFile
    /// The system refused to read or write.
    case inputOutput
    /// The first bytes are those of another format.
    case wrongMagic
    /// The file ends too early.
    case truncated
    /// A checksum or an internal structure does not hold.
    case corrupt
    /// There are bytes after the end.
    case trailingBytes
    /// More bytes than the reader was allowed to take.
    case tooLarge
    /// A legal variant of the format that this reader does not read.
    case unsupported
    /// A text that does not follow the format's grammar.
    case malformed
    /// Two numbers that have to agree do not.
    case countMismatch
    /// A value outside its range.
    case outOfRange
    /// A name that is not there.
    case missingName
    /// A name that nobody asked for.
    case unknownName
    /// A name or a sample that comes twice.
    case duplicate
  }

  /// Where in the file.
  public enum Place: Equatable, Sendable {
    /// The file as a whole.
    case file
    /// A byte, counted from 0. Within a compressed file it counts the bytes after inflating, except
    /// where the compressed stream itself is at fault.
    case byte(Int)
    /// A line and a column of a text, both counted from 1; the column counts characters.
    case text(line: Int, column: Int)
  }

  /// The sort of fault.
  public var kind: Kind
  /// The file's path; for a member of an archive `archive.npz:member.npy`.
  public var file: String
  /// Where in the file.
  public var place: Place
  /// What was found there.
  public var found: String
  /// What was expected instead.
  public var expected: String
  /// What to do about it, where that is known.
  public var advice: String?

  /// A fault; the words come from the reader that met it.
  public init(
    _ kind: Kind, in file: String, at place: Place = .file, found: String, expected: String,
    advice: String? = nil
  ) {
    self.kind = kind
    self.file = file
    self.place = place
    self.found = found
    self.expected = expected
    self.advice = advice
  }
}

extension DataFault: CustomStringConvertible {
  /// One line: `file:place: found …, expected …; advice`.
  public var description: String {
    let position =
      switch place {
      case .file: ""
      case .byte(let offset): " at byte \(offset)"
      case .text(let line, let column): ":\(line):\(column)"
      }
    return "\(file)\(position): \(message)"
  }
}
