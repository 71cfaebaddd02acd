import Foundation
import Numerics

/// An append-only file of records that outlives the process that writes it.
///
/// The file: the eight bytes `FEDSIMJ1`, then records. A record is the length of its payload (4
/// bytes, little-endian), the XXH64 of the payload with the record's place in the file as seed (8
/// bytes), and the payload. Each record is one `write`, so a kill between two calls loses nothing;
/// reading ends at the first record whose length or digest does not hold, such as one that was
/// written in part.
package final class Journal {
  /// What could be read of a journal.
  package struct Contents: Equatable {
    /// The payloads, in order.
    package var records: [[UInt8]] = []
    /// Where the last whole record ends; 0: not even the beginning is whole.
    package var end = 0
    /// How many bytes follow it.
    package var rest = 0

    /// Of no journal.
    package init() {}
  }

  /// The file's path.
  package let path: String
  /// How long the file is.
  package private(set) var length: Int
  private let calls: FileCalls
  private var descriptor: Int32
  private var isSynced = true
  private var nextSync = ContinuousClock.now

  /// Between two times at which the file is put on the disk.
  private static let pause = Duration.milliseconds(200)
  private static let magic = Array("FEDSIMJ1".utf8)
  private static let head = 12
  /// No record is longer.
  private static let most = 1 << 28

  /// Reads what is whole.
  package static func read(_ bytes: [UInt8]) -> Contents {
    var contents = Contents()
    guard bytes.starts(with: magic) else {
      contents.rest = bytes.count
      return contents
    }
    contents.end = magic.count
    bytes.withUnsafeBytes { bytes in
      while bytes.count - contents.end >= head {
        let place = contents.end
        let length = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self).littleEndian)
        let digest = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt64.self).littleEndian
        guard length <= most, length <= bytes.count - place - head else { break }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[(place + head)...].prefix(length))
        guard digest == self.digest(of: payload, at: place) else { break }
        contents.records.append(Array(payload))
        contents.end = place + head + length
      }
    }
    contents.rest = bytes.count - contents.end
    return contents
  }

  private static func digest(of payload: UnsafeRawBufferPointer, at place: Int) -> UInt64 {
    var digest = Digest(seed: UInt64(place))
    digest.combine(bytes: payload)
    return digest.value
  }

  /// Opens a journal to append to it, cut after its last whole record; makes it where there is none
  /// or nothing of it is whole.
  ///
  /// Throws: `ResultFault.disk`.
  package init(
    _ path: String, after contents: Contents = Contents(), calls: FileCalls = .system
  ) throws(ResultFault) {
    self.path = path
    self.calls = calls
    length = contents.end
    descriptor = calls.openFile(path, O_WRONLY | O_CREAT | O_APPEND)
    guard descriptor >= 0 else { throw .disk(path, "open", errno) }
    guard calls.truncate(descriptor, contents.end) == 0 else {
      let number = errno
      _ = calls.close(descriptor)
      throw .disk(path, "ftruncate", number)
    }
    if length == 0 { try write(Self.magic) }
    nextSync = .now + Self.pause
  }

  deinit { _ = calls.close(descriptor) }

  /// Appends a record.
  ///
  /// Throws: `ResultFault.disk`; then nothing may be appended any more.
  package func append(_ payload: [UInt8]) throws(ResultFault) {
    precondition(payload.count <= Self.most, "a record is short")
    var record: [UInt8] = []
    record.reserveCapacity(Self.head + payload.count)
    withUnsafeBytes(of: UInt32(payload.count).littleEndian) { record += $0 }
    let digest = payload.withUnsafeBytes { Self.digest(of: $0, at: length) }
    withUnsafeBytes(of: digest.littleEndian) { record += $0 }
    record += payload
    try write(record)
  }

  private func write(_ bytes: [UInt8]) throws(ResultFault) {
    try calls.writeAll(bytes, to: descriptor, path: path)
    length += bytes.count
    isSynced = false
  }

  /// Whether something was appended, and long enough ago that it should be put on the disk.
  package var isSyncDue: Bool { !isSynced && ContinuousClock.now >= nextSync }

  /// Waits until all of it is on the disk.
  ///
  /// The next time comes no sooner than a fifth of a second later, and than a hundred times what
  /// this one took.
  /// Throws: `ResultFault.disk`.
  package func sync() throws(ResultFault) {
    guard !isSynced else { return }
    let began = ContinuousClock.now
    guard calls.syncData(descriptor) == 0 else { throw .disk(path, "fdatasync", errno) }
    isSynced = true
    let now = ContinuousClock.now
    nextSync = now + max(Self.pause, (now - began) * 100)
  }
}
