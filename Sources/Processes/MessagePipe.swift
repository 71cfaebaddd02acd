import Foundation

/// Messages from one process to another: eight bytes with the length, then the bytes.
public enum MessagePipe {
  /// Sends a message; false: nobody reads any more.
  public static func send(_ message: [UInt8], to descriptor: CInt) -> Bool {
    let length = withUnsafeBytes(of: UInt64(message.count).littleEndian) { Array($0) }
    let bytes = length + message
    var start = 0
    while start < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress! + start, bytes.count - start)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      start += count
    }
    return true
  }

  /// The next message; nil: there is none any more.
  public static func receive(from descriptor: CInt) -> [UInt8]? {
    guard let length = read(8, from: descriptor) else { return nil }
    let count = length.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    guard count < 1 << 40 else { return nil }
    return read(Int(count), from: descriptor)
  }

  private static func read(_ count: Int, from descriptor: CInt) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var start = 0
    while start < count {
      let got = bytes.withUnsafeMutableBytes {
        Foundation.read(descriptor, $0.baseAddress! + start, count - start)
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { return nil }
      start += got
    }
    return bytes
  }
}
