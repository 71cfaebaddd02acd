import CZlib

/// One deflate stream being inflated by zlib, piece by piece.
package final class Inflater {
  /// What surrounds the deflate stream.
  enum Wrapping {
    /// A gzip header and trailer; the trailer's checksum is checked.
    case gzip
    /// Nothing, as in zip archives.
    case none
  }

  /// How far one call came.
  enum Outcome: Equatable {
    case more
    case end
    case corrupt(String)
  }

  /// The version of zlib in use.
  package static var libraryVersion: String { String(cString: zlibVersion()) }

  // zlib keeps a pointer back to this record, so it needs its own address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  /// What a call inflates, until it is appended.
  private var piece = [UInt8](repeating: 0, count: 1 << 18)

  init(_ wrapping: Wrapping) {
    stream.initialize(to: z_stream())
    let windowBits: CInt = wrapping == .gzip ? 15 + 16 : -15
    let status = inflateInit2_(
      stream, windowBits, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib refused to start: \(status)")
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Inflates from `input` and appends at most `count` bytes to `bytes`.
  ///
  /// After `.end` the next call starts a new stream.
  func inflate(
    _ input: UnsafeRawBufferPointer, upTo count: Int, into bytes: inout [UInt8]
  ) -> (consumed: Int, produced: Int, outcome: Outcome) {
    let room = min(count, piece.count)
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = CUnsignedInt(input.count)
    stream.pointee.avail_out = CUnsignedInt(room)
    let status = piece.withUnsafeMutableBufferPointer { target in
      stream.pointee.next_out = target.baseAddress
      return CZlib.inflate(stream, Z_NO_FLUSH)
    }
    let produced = room - Int(stream.pointee.avail_out)
    bytes.append(contentsOf: piece[..<produced])
    let consumed = input.count - Int(stream.pointee.avail_in)
    let message = stream.pointee.msg.map { String(cString: $0) }
    stream.pointee.next_in = nil
    stream.pointee.next_out = nil
    switch status {
    case Z_OK, Z_BUF_ERROR: return (consumed, produced, .more)
    case Z_STREAM_END:
      inflateReset(stream)
      return (consumed, produced, .end)
    default: return (consumed, produced, .corrupt(message ?? "zlib status \(status)"))
    }
  }
}
