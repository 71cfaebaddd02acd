/// What several updates bring, side by side: their parameters, or these less a base of each.
///
/// Values are `Double`, as they are read: nothing is rounded before the end. Work is split over
/// parameters or over updates, so that no sum depends on threads.
public struct UpdateValues: @unchecked Sendable {
  /// Eight neighbouring parameters.
  public typealias Lanes = SIMD8<Double>

  /// Parameters of each update.
  public let count: Int
  /// How many updates there are.
  public let updates: Int
  // They keep what the addresses point to.
  private let parameters: [ParameterBuffer]
  private let bases: [ParameterBuffer]
  private let places: [UnsafePointer<Float>]
  private let origins: [UnsafePointer<Float>?]

  /// The values of buffers of one size, less `bases` where there are any: one for each.
  public init(_ parameters: [ParameterBuffer], bases: [ParameterBuffer] = []) {
    precondition(!parameters.isEmpty, "there is an update")
    precondition(bases.isEmpty || bases.count == parameters.count, "one base per update, or none")
    count = parameters[0].count
    let size = count
    precondition((parameters + bases).allSatisfy { $0.count == size }, "buffers have one size")
    updates = parameters.count
    self.parameters = parameters
    self.bases = bases
    places = parameters.map { UnsafePointer($0.storage) }
    origins = bases.isEmpty ? parameters.map { _ in nil } : bases.map { UnsafePointer($0.storage) }
  }

  /// The values of some of the updates, in this order.
  public func subset(_ chosen: [Int]) -> UpdateValues {
    UpdateValues(
      chosen.map { parameters[$0] }, bases: bases.isEmpty ? [] : chosen.map { bases[$0] })
  }

  /// These updates, then others: all less a base, or none.
  public func followed(by others: UpdateValues) -> UpdateValues {
    precondition(bases.isEmpty == others.bases.isEmpty, "one base per update, or none")
    return UpdateValues(parameters + others.parameters, bases: bases + others.bases)
  }

  /// Eight values from `at` on; beyond the last one zeros.
  @inline(__always)
  private static func load(
    _ place: UnsafePointer<Float>, _ origin: UnsafePointer<Float>?, _ at: Int, _ count: Int
  ) -> Lanes {
    var values = BlockSum.read(place, at, count)
    if let origin { values -= BlockSum.read(origin, at, count) }
    return values
  }
}

// MARK: Norms and distances

extension UpdateValues {
  /// ‖xᵢ‖² of each update.
  ///
  /// Order: of `BlockSum`.
  public func squaredNorms(pool: WorkerPool) -> [Double] {
    pool.map(updates) { update, _ in
      BlockSum.over(0..<count) { at, end in
        let values = Self.load(places[update], origins[update], at, end)
        return values * values
      }
    }
  }

  /// ‖xᵢ − v‖² of each update; `center` has a value per parameter.
  ///
  /// Order: as of the norms.
  public func squaredDistances(to center: [Double], pool: WorkerPool) -> [Double] {
    precondition(center.count == count, "a center has one value per parameter")
    return pool.map(updates) { update, _ in
      center.withUnsafeBufferPointer { center in
        BlockSum.over(0..<count) { at, end in
          var differences = Self.load(places[update], origins[update], at, end)
          if at + 8 <= end {
            differences -= UnsafeRawPointer(center.baseAddress! + at)
              .loadUnaligned(as: Lanes.self)
          } else {
            for lane in 0..<(end - at) { differences[lane] -= center[at + lane] }
          }
          return differences * differences
        }
      }
    }
  }

  /// ‖xᵢ − xⱼ‖² of all pairs, row by row.
  ///
  /// Order: as of the norms. Complexity: O(updates² · parameters) time, O(updates²) memory.
  public func squaredDistances(pool: WorkerPool) -> [Double] {
    // Each pair once.
    let rows = pool.map(updates) { row, _ in
      ((row + 1)..<max(row + 1, updates)).map { column in
        BlockSum.over(0..<count) { at, end in
          let difference =
            Self.load(places[row], origins[row], at, end)
            - Self.load(places[column], origins[column], at, end)
          return difference * difference
        }
      }
    }
    var square = [Double](repeating: 0, count: updates * updates)
    for (row, values) in rows.enumerated() {
      for (place, value) in values.enumerated() {
        let column = row + 1 + place
        square[row * updates + column] = value
        square[column * updates + row] = value
      }
    }
    return square
  }
}

// MARK: Sums and order statistics

extension UpdateValues {
  /// Σ wᵢ·xᵢ, not rounded to floats.
  ///
  /// Order: of the updates. Complexity: O(updates · parameters) time, 8 bytes a parameter.
  public func weightedSum(_ weights: [Double], pool: WorkerPool) -> [Double] {
    precondition(weights.count == updates, "one weight per update")
    let block = 2048
    return [Double](unsafeUninitializedCapacity: count) { sums, initialized in
      nonisolated(unsafe) let target = sums.baseAddress!  // Blocks are disjoint.
      pool.forEach((count + block - 1) / block) { index, _ in
        let range = index * block..<min((index + 1) * block, count)
        (target + range.lowerBound).initialize(repeating: 0, count: range.count)
        for update in 0..<updates {
          for at in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            let values = Self.load(places[update], origins[update], at, count) * weights[update]
            if at + 8 <= count {
              let place = UnsafeMutableRawPointer(target + at)
              let sum = place.loadUnaligned(as: Lanes.self) + values
              withUnsafeBytes(of: sum) { place.copyMemory(from: $0.baseAddress!, byteCount: 64) }
            } else {
              for lane in 0..<(count - at) { target[at + lane] += values[lane] }
            }
          }
        }
      }
      initialized = count
    }
  }

  /// The mean of each parameter over the updates, and its standard deviation, that of these updates
  /// as a whole: squares are divided by their number.
  ///
  /// Order: of the updates. Complexity: O(updates · parameters) time, 16 bytes a parameter.
  public func moments(pool: WorkerPool) -> (means: [Double], deviations: [Double]) {
    let block = 2048
    let pieces = pool.map((count + block - 1) / block) { index, _ in
      var piece: (means: [Double], deviations: [Double]) = ([], [])
      for at in stride(from: index * block, to: min((index + 1) * block, count), by: 8) {
        var sum = Lanes.zero
        for update in 0..<updates { sum += Self.load(places[update], origins[update], at, count) }
        let mean = sum / Double(updates)
        var squares = Lanes.zero
        for update in 0..<updates {
          let difference = Self.load(places[update], origins[update], at, count) - mean
          squares += difference * difference
        }
        let deviation = (squares / Double(updates)).squareRoot()
        for lane in 0..<min(8, count - at) {
          piece.means.append(mean[lane])
          piece.deviations.append(deviation[lane])
        }
      }
      return piece
    }
    return (pieces.flatMap(\.means), pieces.flatMap(\.deviations))
  }

  /// A value for each parameter out of the updates' values of it, which `body` gets in ascending
  /// order: eight parameters at a time, each in its lane.
  ///
  /// Beyond the greatest float the value is that one. Order: the values are sorted, so that it
  /// does not depend on the order of the updates; −0 and 0 are equal, and the result is never −0.
  /// Complexity: O(updates · log² updates · parameters) time; all updates at once.
  public func sorted(
    pool: WorkerPool, _ body: @Sendable (UnsafeBufferPointer<Lanes>) -> Lanes
  ) -> ParameterBuffer {
    let block = 256
    return ParameterBuffer(uninitializedCount: count) { target in
      nonisolated(unsafe) let target = target  // Blocks are disjoint.
      pool.forEach((count + block - 1) / block) { index, _ in
        withUnsafeTemporaryAllocation(of: Lanes.self, capacity: updates) { rows in
          for at in stride(from: index * block, to: min((index + 1) * block, count), by: 8) {
            for update in 0..<updates {
              rows.initializeElement(
                at: update, to: Self.load(places[update], origins[update], at, count))
            }
            Self.sort(rows)
            let values = body(UnsafeBufferPointer(rows))
            for lane in 0..<min(8, count - at) {
              target[at + lane] = ParameterBuffer.nearest(values[lane])
            }
          }
        }
      }
    }
  }

  /// Sorts each lane, in ascending order, by the same comparisons whatever the values.
  ///
  /// Source: Batcher's odd-even merging; Knuth, "The art of computer programming", volume 3, 5.2.2,
  /// algorithm M.
  private static func sort(_ rows: UnsafeMutableBufferPointer<Lanes>) {
    guard rows.count > 1 else { return }
    var top = 1
    while top < rows.count { top *= 2 }
    top /= 2
    var step = top
    while step > 0 {
      var (merge, rest, distance) = (top, 0, step)
      while true {
        for place in 0..<max(0, rows.count - distance) where place & step == rest {
          let (a, b) = (rows[place], rows[place + distance])
          let isGreater = b .< a
          rows[place] = a.replacing(with: b, where: isGreater)
          rows[place + distance] = b.replacing(with: a, where: isGreater)
        }
        if merge == step { break }
        distance = merge - step
        merge /= 2
        rest = step
      }
      step /= 2
    }
  }
}

extension ParameterBuffer {
  /// The nearest finite float; never −0, which differs from 0 by nothing but its sign. What is no
  /// number stays none.
  @inline(__always)
  public static func nearest(_ value: Double) -> Float {
    let greatest = Double(Float.greatestFiniteMagnitude)
    return Float(max(min(value, greatest), -greatest)) + 0
  }

  /// A buffer made parameter by parameter from two others of one size.
  public static func combining(
    _ a: ParameterBuffer, _ b: ParameterBuffer, _ body: (Double, Double) -> Double
  ) -> ParameterBuffer {
    precondition(a.count == b.count, "buffers of one layout")
    return ParameterBuffer(uninitializedCount: a.count) { target in
      for i in 0..<a.count { target[i] = nearest(body(Double(a.storage[i]), Double(b.storage[i]))) }
    }
  }

  /// A buffer of the nearest floats.
  public convenience init(nearest values: [Double]) {
    self.init(uninitializedCount: values.count) { target in
      for i in 0..<values.count { target[i] = Self.nearest(values[i]) }
    }
  }
}
