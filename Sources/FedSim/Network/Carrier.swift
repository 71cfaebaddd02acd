/// The links that bytes take.
public enum Carrier: Int, CaseIterable, Sendable {
  case wifi, cellular
}

/// Bytes of one transmission, or of several that ended alike, by link.
struct CarriedBytes: Sendable, Equatable, Codable {
  // Wi-Fi up and down, cellular up and down.
  private var counts = SIMD4<Int64>()

  /// Counts bytes that passed while the link had this state.
  mutating func add(link: UInt8, up: Int64, down: Int64) {
    counts &+= link == 1 ? SIMD4(0, 0, up, down) : SIMD4(up, down, 0, 0)
  }

  func up(_ carrier: Carrier) -> Int64 { counts[2 * carrier.rawValue] }
  func down(_ carrier: Carrier) -> Int64 { counts[2 * carrier.rawValue + 1] }

  static func += (a: inout CarriedBytes, b: CarriedBytes) { a.counts &+= b.counts }
}
