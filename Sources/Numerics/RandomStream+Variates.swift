extension RandomStream {
  /// A standard normal variate. Draws: pairs of `uniform` until one is in the unit disc.
  ///
  /// Source: Marsaglia and Bray's polar method (1964); the second variate of a pair is not kept.
  public mutating func normal() -> Double {
    while true {
      let (x, y) = point()
      let square = x * x + y * y
      if square > 0, square < 1 {
        return x * (-2 * Portable.log(square) / square).squareRoot()
      }
    }
  }

  /// Standard normal variates in the order and with the draws of as many calls of `normal`, bit for
  /// bit, in less time: no draw waits for the logarithm before it. Draws: `count` `normal`s.
  public mutating func normals(_ count: Int) -> [Double] {
    Array(unsafeUninitializedCapacity: count) { target, filled in
      withUnsafeTemporaryAllocation(of: Double.self, capacity: count) { squares in
        while filled < count {
          let (x, y) = point()
          let square = x * x + y * y
          target[filled] = x
          squares[filled] = square
          filled += square > 0 && square < 1 ? 1 : 0
        }
        var i = 0
        while i < count {
          let isPair = i + 1 < count
          let square = SIMD2(squares[i], isPair ? squares[i + 1] : 1)
          let factor = (-2 * Portable.logs(square) / square).squareRoot()
          target[i] *= factor[0]
          if isPair { target[i + 1] *= factor[1] }
          i += 2
        }
      }
    }
  }

  /// A point of the square from −1 to 1. Draws: two `uniform`s; a whole block where one begins.
  @inline(__always)
  private mutating func point() -> (x: Double, y: Double) {
    func coordinate(_ low: UInt32, _ high: UInt32) -> Double {
      2 * (Double((UInt64(low) | UInt64(high) << 32) >> 11) * 0x1p-53) - 1
    }
    guard left == 0 else { return (2 * uniform() - 1, 2 * uniform() - 1) }
    let words = Philox4x32.block(counter: counter, key: key)
    counter.0 &+= 1
    return (coordinate(words.0, words.1), coordinate(words.2, words.3))
  }

  /// An exponential variate with the given mean. Draws: one `uniformAboveZero`.
  public mutating func exponential(mean: Double) -> Double {
    -mean * Portable.log(uniformAboveZero())
  }

  /// exp(mu + sigma·z): a log-normal variate whose median is exp(mu). Draws: one `normal`.
  public mutating func logNormal(median: Double, sigma: Double) -> Double {
    median * Portable.exp(sigma * normal())
  }
}
