import Foundation

/// The bytes of a file from first to last, inflated on the way where the file is gzip.
///
/// Gzip is recognised by its first two bytes, whatever the name; a name ending in `.gz` has to hold
/// it. Several gzip members in a row are one stream, as for `gzip -d`.
package final class ByteStream {
  /// The most bytes that a reader takes from one file unless set otherwise: 4 GiB.
  package static let standardLimit = 4 << 30

  /// The file's path, for faults.
  package let path: String
  /// How many bytes were handed out so far.
  package private(set) var offset = 0

  private static let chunk = 1 << 16
  private let descriptor: CInt
  private let limit: Int
  private var inflater: Inflater?
  private let input = UnsafeMutableRawBufferPointer.allocate(
    byteCount: ByteStream.chunk, alignment: 16)
  private var unread = 0..<0
  private var fileOffset = 0
  private var isBetweenMembers = true

  /// Opens a file and looks at its first bytes. Throws: `missingFile`, `inputOutput`, `wrongMagic`.
  package init(path: String, limit: Int = ByteStream.standardLimit) throws(DataFault) {
    self.path = path
    self.limit = limit
    FileWitness.opened(path)
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let isMissing = errno == ENOENT || errno == ENOTDIR
      throw DataFault(
        isMissing ? .missingFile : .inputOutput, in: path,
        found: String(cString: strerror(errno)), expected: "a readable file")
    }
    try fill()
    let isGzip = unread.count >= 2 && input[0] == 0x1f && input[1] == 0x8b
    if path.hasSuffix(".gz") && !isGzip {
      throw DataFault(
        unread.count < 2 ? .truncated : .wrongMagic, in: path, at: .byte(0),
        found: hexadecimal(input.prefix(min(2, unread.count))), expected: "gzip data (1f 8b)")
    }
    if isGzip { inflater = Inflater(.gzip) }
  }

  deinit {
    input.deallocate()
    if descriptor >= 0 { close(descriptor) }
  }

  /// Appends up to `count` bytes to `bytes` and returns how many; fewer only at the end.
  ///
  /// Throws: `truncated`, `corrupt`, `trailingBytes` of a compressed stream, `tooLarge`,
  /// `inputOutput`.
  package func read(_ count: Int, appendingTo bytes: inout [UInt8]) throws(DataFault) -> Int {
    var taken = 0
    while taken < count {
      let step = try readOnce(count - taken, appendingTo: &bytes)
      if step == 0 { break }
      taken += step
    }
    return taken
  }

  /// The whole rest of the stream.
  package func readAll() throws(DataFault) -> [UInt8] {
    var bytes: [UInt8] = []
    while try readOnce(ByteStream.chunk * 16, appendingTo: &bytes) > 0 {}
    return bytes
  }

  private func readOnce(_ count: Int, appendingTo bytes: inout [UInt8]) throws(DataFault) -> Int {
    let step =
      if inflater == nil {
        try copyPlain(count, &bytes)
      } else {
        try inflateSome(count, &bytes)
      }
    offset += step
    guard offset <= limit else {
      throw DataFault(
        .tooLarge, in: path, at: .byte(limit), found: "more bytes",
        expected: "at most \(limit) bytes")
    }
    return step
  }

  private func copyPlain(_ count: Int, _ bytes: inout [UInt8]) throws(DataFault) -> Int {
    if unread.isEmpty { try fill() }
    let step = min(count, unread.count)
    bytes.append(contentsOf: input[unread.lowerBound..<unread.lowerBound + step])
    unread = unread.lowerBound + step..<unread.upperBound
    return step
  }

  private func inflateSome(_ count: Int, _ bytes: inout [UInt8]) throws(DataFault) -> Int {
    guard let inflater else { return 0 }
    var produced = 0
    while produced == 0 {
      if unread.isEmpty { try fill() }
      if unread.isEmpty {
        if isBetweenMembers { return 0 }
        throw DataFault(
          .truncated, in: path, at: .byte(fileOffset), found: "the end of the file",
          expected: "the rest of the gzip stream")
      }
      if isBetweenMembers && fileOffset - unread.count > 0 && input[unread.lowerBound] != 0x1f {
        throw DataFault(
          .trailingBytes, in: path, at: .byte(fileOffset - unread.count),
          found: "bytes after the gzip stream", expected: "the end of the file")
      }
      isBetweenMembers = false
      let step = inflater.inflate(
        UnsafeRawBufferPointer(rebasing: input[unread]), upTo: min(count, 1 << 18), into: &bytes)
      unread = unread.lowerBound + step.consumed..<unread.upperBound
      produced = step.produced
      switch step.outcome {
      case .more: break
      case .end: isBetweenMembers = true
      case .corrupt(let message):
        throw DataFault(
          .corrupt, in: path, at: .byte(fileOffset - unread.count), found: message,
          expected: "an intact gzip stream")
      }
    }
    return produced
  }

  private func fill() throws(DataFault) {
    var count = -1
    repeat {
      count = Foundation.read(descriptor, input.baseAddress, input.count)
    } while count < 0 && errno == EINTR
    guard count >= 0 else {
      throw DataFault(
        .inputOutput, in: path, at: .byte(fileOffset), found: String(cString: strerror(errno)),
        expected: "a readable file")
    }
    unread = 0..<count
    fileOffset += count
  }
}

/// Bytes as `1f 8b 08`, for faults.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  let words = bytes.map { byte in
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }
  return words.isEmpty ? "no bytes" : words.joined(separator: " ")
}
