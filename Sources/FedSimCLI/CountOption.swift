import ArgumentParser

/// An option that counts something.
enum CountOption {
  /// A seed or another key of random draws.
  @Sendable static func key(_ text: String) throws -> UInt64 {
    guard let key = UInt64(text) else {
      throw ValidationError("expected a whole number from 0 to \(UInt64.max)")
    }
    return key
  }

  /// Refuses a count out of bounds.
  static func check(_ name: String, _ value: Int?, least: Int = 1, most: Int = 1024) throws {
    guard let value, !(least...most).contains(value) else { return }
    throw ValidationError("--\(name): found \(value), expected a number from \(least) to \(most)")
  }
}
