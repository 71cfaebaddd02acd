/// Sums over parameters, in blocks of the flat buffer.
///
/// A norm, a dot product or a distance is the sum of its blocks' sums, in the order of the blocks,
/// whichever thread or process sums a block.
enum BlockSum {
  /// Parameters of a block; the first begins with the first parameter.
  static let size = 4_096

  /// Eight neighbouring parameters.
  typealias Lanes = SIMD8<Double>

  /// The parts of a range that are in one block each, in ascending order.
  @inline(__always)
  static func forEachPart(of range: Range<Int>, _ body: (Range<Int>) -> Void) {
    var start = range.lowerBound
    while start < range.upperBound {
      let end = min((start / size + 1) * size, range.upperBound)
      body(start..<end)
      start = end
    }
  }

  /// The sum of a term over a range; `terms` gives eight of them from a place on, with zeros at the
  /// end and beyond.
  ///
  /// Order: in a block 8 partial sums over its parameters in order, added as a tree; then the
  /// blocks in order.
  @inline(__always)
  static func over(_ range: Range<Int>, _ terms: (_ at: Int, _ end: Int) -> Lanes) -> Double {
    var sum = 0.0
    forEachPart(of: range) { part in
      var sums = Lanes.zero
      for at in stride(from: part.lowerBound, to: part.upperBound, by: 8) {
        sums += terms(at, part.upperBound)
      }
      sum += total(sums)
    }
    return sum
  }

  /// Eight values from `at` on as `Double`; at `end` and beyond zeros.
  @inline(__always)
  static func read(_ place: UnsafePointer<Float>, _ at: Int, _ end: Int) -> Lanes {
    if at + 8 <= end {
      return Lanes(UnsafeRawPointer(place + at).loadUnaligned(as: SIMD8<Float>.self))
    }
    var lanes = Lanes.zero
    for lane in 0..<(end - at) { lanes[lane] = Double(place[at + lane]) }
    return lanes
  }

  /// The eight sums as one, as a tree.
  @inline(__always)
  static func total(_ sums: Lanes) -> Double {
    let four = sums.lowHalf + sums.highHalf
    let two = four.lowHalf + four.highHalf
    return two[0] + two[1]
  }
}

extension ParameterBuffer {
  /// The squared Euclidean norm of the parameters in a range, or of their differences from `base`.
  ///
  /// Order: of `BlockSum`.
  public func squaredNorm(
    less base: ParameterBuffer? = nil, in range: Range<Int>? = nil
  ) -> Double {
    let range = range ?? 0..<count
    precondition(range.upperBound <= count, "a range of the buffer")
    precondition(base.map { $0.count == count } ?? true, "buffers have one size")
    return BlockSum.over(range) { at, end in
      var values = BlockSum.read(storage, at, end)
      if let base { values -= BlockSum.read(base.storage, at, end) }
      return values * values
    }
  }
}
