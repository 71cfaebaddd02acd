import ArgumentParser

/// An option that counts something.
enum CountOption {
  /// Refuses a count out of bounds.
  static func check(_ name: String, _ value: Int?, least: Int = 1, most: Int = 1024) throws {
    guard let value, !(least...most).contains(value) else { return }
    throw ValidationError("--\(name): found \(value), expected a number from \(least) to \(most)")
  }
}
