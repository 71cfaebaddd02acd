import Numerics

/// The last line of a file that FedSim wrote: a digest of all bytes before it.
///
/// libhdf5 trusts the files that it opens, so a file is opened in this process only where this line
/// holds. It is behind the end that HDF5 knows: every reader ignores it, and every program that
/// changes the file with HDF5 removes it.
///
/// The line is `FedSim seal`, a blank, 16 hexadecimal digits, and a line end. The digest is
/// `Digest` (XXH64) over the pieces of 2²⁰ bytes, each with its length before it. It tells damage
/// from what was written; it is no defence against someone who makes a file with intent.
package enum ResultSeal {
  /// The bytes of the line.
  package static let length = start.count + 17

  private static let start = Array("FedSim seal ".utf8)
  private static let piece = 1 << 20

  /// Writes the line into the last bytes, which are reserved for it.
  package static func close(_ bytes: inout [UInt8]) {
    let end = bytes.count - length
    var digest = Digest()
    bytes.withUnsafeBytes { all in
      for from in stride(from: 0, to: end, by: piece) {
        digest.combine(bytes: .init(rebasing: all[from..<min(from + piece, end)]))
      }
    }
    bytes.replaceSubrange(end..., with: line(digest))
  }

  /// Whether a file ends with the line, and the line is right; false where it cannot be read.
  package static func holds(_ path: String, calls: FileCalls = .system) -> Bool {
    let descriptor = calls.openFile(path, 0)
    guard descriptor >= 0 else { return false }
    defer { _ = calls.close(descriptor) }
    var digest = Digest()
    // What was read and is no whole piece with the length of the line behind it.
    var rest: [UInt8] = []
    var read = [UInt8](repeating: 0, count: piece)
    while true {
      let count = read.withUnsafeMutableBytes { calls.read(descriptor, $0) }
      guard count >= 0 else { return false }
      if count == 0 { break }
      rest += read[..<count]
      while rest.count >= piece + length {
        rest.withUnsafeBytes { digest.combine(bytes: .init(rebasing: $0[..<piece])) }
        rest.removeFirst(piece)
      }
    }
    guard rest.count >= length else { return false }
    let end = rest.count - length
    if end > 0 { rest.withUnsafeBytes { digest.combine(bytes: .init(rebasing: $0[..<end])) } }
    return rest[end...].elementsEqual(line(digest))
  }

  private static func line(_ digest: Digest) -> [UInt8] {
    start + Array(digest.value.hexDigits.utf8) + [10]
  }
}
