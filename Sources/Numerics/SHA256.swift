/// The digest that names a resolved scenario or a file's content.
///
/// Source: FIPS 180-4, §6.2; checked against its examples. Sizes: up to 2⁶¹ bytes.
public struct SHA256: Sendable {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
  private var pending: [UInt8] = []
  private var length: UInt64 = 0

  /// A digest of nothing yet.
  public init() { pending.reserveCapacity(64) }

  /// Takes in bytes. Contiguous ones are read where they are.
  public mutating func update(_ bytes: some Sequence<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ take($0) }) == nil {
      Array(bytes).withUnsafeBufferPointer { take($0) }
    }
  }

  private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) {
    length += UInt64(bytes.count)
    var next = 0
    if !pending.isEmpty {
      next = min(64 - pending.count, bytes.count)
      pending.append(contentsOf: bytes[..<next])
      if pending.count == 64 { compressPending() }
    }
    while bytes.count - next >= 64 {
      compress(bytes.baseAddress! + next)
      next += 64
    }
    pending.append(contentsOf: bytes[next...])
  }

  private mutating func compressPending() {
    let block = pending
    block.withUnsafeBufferPointer { compress($0.baseAddress!) }
    pending.removeAll(keepingCapacity: true)
  }

  /// The 64 lower-case hexadecimal digits of what was taken in.
  public consuming func hexDigest() -> String {
    let bits = length &* 8
    pending.append(0x80)
    if pending.count == 64 { compressPending() }
    while pending.count != 56 {
      pending.append(0)
      if pending.count == 64 { compressPending() }
    }
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      pending.append(UInt8(truncatingIfNeeded: bits >> shift))
    }
    compressPending()
    let digits = Array("0123456789abcdef")
    var text = ""
    for word in state {
      for shift in stride(from: UInt32(28), through: 0, by: -4) {
        text.append(digits[Int(word >> shift & 15)])
      }
    }
    return text
  }

  /// Takes in 64 bytes.
  private mutating func compress(_ block: UnsafePointer<UInt8>) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
      for t in 0..<16 {
        let word = UnsafeRawPointer(block + 4 * t).loadUnaligned(as: UInt32.self)
        schedule[t] = UInt32(bigEndian: word)
      }
      for t in 16..<64 {
        let x = schedule[t - 15]
        let y = schedule[t - 2]
        let small0 = Self.rotate(x, 7) ^ Self.rotate(x, 18) ^ x >> 3
        let small1 = Self.rotate(y, 17) ^ Self.rotate(y, 19) ^ y >> 10
        schedule[t] = schedule[t - 16] &+ small0 &+ schedule[t - 7] &+ small1
      }
      Self.constants.withUnsafeBufferPointer { mix(schedule, $0) }
    }
  }

  private mutating func mix(
    _ schedule: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>
  ) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for t in 0..<64 {
      let big1 = Self.rotate(e, 6) ^ Self.rotate(e, 11) ^ Self.rotate(e, 25)
      let choice = (e & f) ^ (~e & g)
      let t1 = h &+ big1 &+ choice &+ constants[t] &+ schedule[t]
      let big0 = Self.rotate(a, 2) ^ Self.rotate(a, 13) ^ Self.rotate(a, 22)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      (h, g, f, e) = (g, f, e, d &+ t1)
      (d, c, b, a) = (c, b, a, t1 &+ big0 &+ majority)
    }
    for (i, word) in [a, b, c, d, e, f, g, h].enumerated() { state[i] = state[i] &+ word }
  }

  private static func rotate(_ x: UInt32, _ n: UInt32) -> UInt32 { x >> n | x << (32 - n) }

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5,
    0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
    0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc,
    0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
    0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3,
    0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5,
    0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
    0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
