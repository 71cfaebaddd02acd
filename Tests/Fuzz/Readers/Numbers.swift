/// Changes of small numbers in binary files: lengths and counts decide what a file means, and few
/// of its bytes are in one.
enum Numbers {
  /// A number of eight bytes becomes another, or a code of one byte; `seed` decides which one, and
  /// what it becomes.
  static func mutate(_ bytes: inout [UInt8], by seed: UInt32) {
    let codes = codes(bytes)
    if seed / 2 % 16 == 0, !codes.isEmpty {
      bytes[codes[Int(seed / 32) % codes.count]] = UInt8(truncatingIfNeeded: seed / 32 / 16)
      return
    }
    let places = (0..<max(0, bytes.count - 7)).filter { place in
      bytes[place] != 0 && bytes[place + 2..<place + 8].allSatisfy { $0 == 0 }
    }
    guard !places.isEmpty else { return }
    let (choice, change) = (Int(seed / 8) % places.count, seed / 2 % 4)
    let place = places[choice]
    let number = Int(bytes[place]) + 256 * Int(bytes[place + 1])
    let other = [number - 1, number + 1, number * 2, number / 2][Int(change)]
    for byte in 0..<3 { bytes[place + byte] = UInt8(truncatingIfNeeded: other >> (8 * byte)) }
  }

  /// Where codes are: eight small bytes in a row, half of them or more other than zero, which
  /// numbers of two bytes and more are not.
  private static func codes(_ bytes: [UInt8]) -> [Int] {
    (0..<max(0, bytes.count - 7)).filter { place in
      let row = bytes[place..<place + 8]
      return row.allSatisfy { $0 < 16 } && row.count { $0 != 0 } >= 4
    }
  }
}
