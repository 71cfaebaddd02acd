import FedSim
import Learning
import Numerics

/// Plays the same steps of a part again: with one part, with its memory saved and restored before
/// each step, with a copy of its memory that takes another way, and with a part that is made
/// again for each step.
struct StateCheck<Value> {
  let make: () -> Value
  /// Whose memory it is; nil: a part of this kind has none.
  let part: (Value) -> (any PolicyPart)?
  let steps: Int
  /// One step, and what came of it, in words that are equal for equal bits.
  let step: (_ value: Value, _ index: Int, _ memory: inout AnyMemory) -> [String]

  func run(_ findings: inout Findings) {
    do {
      try check(&findings)
    } catch {
      findings.add(.restored, "its memory cannot be decoded: \(error)")
    }
  }

  private func check(_ findings: inout Findings) throws {
    let one = make()
    let first = played(with: { one })
    if let found = difference(first, played(with: { one })) {
      findings.add(.repeats, "the same calls gave \(found.a) and then \(found.b) (\(found.place))")
    } else {
      try checkMemory(one, first, &findings)
    }
    if findings.has(.restored) { return }
    if let found = try difference(first, played(before: restored, with: make)) {
      findings.add(
        .memory,
        "it gave \(found.a), and \(found.b) after it was made again from its settings and its "
          + "saved "
          + "memory (\(found.place)): state outside of its memory is not saved")
    }
  }

  /// What the memory of a part breaks that keeps nothing outside it.
  private func checkMemory(
    _ one: Value, _ first: [[String]], _ findings: inout Findings
  ) throws {
    if let found = try difference(first, played(before: restored, with: { one })) {
      findings.add(
        .restored,
        "it gave \(found.a), and \(found.b) where its memory was encoded and decoded before "
          + "(\(found.place)): the memory's `Codable` leaves out state")
    }
    let beside = played(before: { _, _ in }, asCopy: true, with: { one })
    if let found = difference(first, beside) {
      findings.add(
        .memory,
        "it gave \(found.a), and \(found.b) where a copy of its memory had been used before "
          + "(\(found.place)): the memory is not a value: copies share state")
    }
  }

  /// What comes of the steps; before each `change` sees the memory, and, where it is asked for, a
  /// copy of that takes the step first.
  private func played<Fault: Error>(
    before change: (Value, inout AnyMemory) throws(Fault) -> Void, asCopy: Bool = false,
    with value: () -> Value
  ) throws(Fault) -> [[String]] {
    let first = value()
    var memory = part(first)?.freshMemory() ?? AnyMemory(NoMemory())
    var words: [[String]] = []
    for index in 0..<steps {
      let one = index == 0 ? first : value()
      try change(one, &memory)
      var copy = memory
      if asCopy { _ = step(one, index, &copy) }
      words.append(step(one, index, &memory))
    }
    return words
  }

  private func played(with value: () -> Value) -> [[String]] {
    played(before: { _, _ in }, with: value)
  }

  /// A memory as it comes back from a saved run.
  private func restored(_ value: Value, _ memory: inout AnyMemory) throws {
    guard let part = part(value) else { return }
    memory = try AnyMemory(archived: memory.archived(), of: part)
  }

  private func difference(
    _ a: [[String]], _ b: [[String]]
  ) -> (place: String, a: String, b: String)? {
    for step in a.indices {
      if a[step].count != b[step].count {
        return ("step \(step + 1)", "\(a[step].count) values", "\(b[step].count) values")
      }
      for (place, pair) in zip(a[step], b[step]).enumerated() where pair.0 != pair.1 {
        return ("step \(step + 1), value \(place)", pair.0, pair.1)
      }
    }
    return nil
  }
}

/// A number in words, equal for equal bits, but that NaN has no sign, which is the processor's.
func word<Value: BinaryFloatingPoint & CustomStringConvertible>(_ value: Value) -> String {
  value.isNaN ? "nan" : value.description
}

extension ParameterBuffer {
  /// Each parameter in words.
  var words: [String] { values.map { word($0) } }

  /// The first parameter whose bits are others.
  func firstDifference(_ other: ParameterBuffer) -> String? {
    for place in 0..<min(count, other.count)
    where self[place].bitPattern != other[place].bitPattern {
      return "parameter \(place) is \(word(self[place])), and \(word(other[place]))"
    }
    return count == other.count ? nil : "\(count) parameters, and \(other.count)"
  }

  /// The first parameter that is no finite number.
  var firstNotFinite: String? {
    values.firstIndex { !$0.isFinite }.map { "parameter \($0) is \(word(self[$0]))" }
  }

  /// The largest distance of two parameters at one place, and where it is.
  func largestDistance(_ other: ParameterBuffer) -> (distance: Float, place: Int) {
    var found: (distance: Float, place: Int) = (0, 0)
    for place in 0..<min(count, other.count) {
      let distance = abs(self[place] - other[place])
      if !(distance <= found.distance) { found = (distance, place) }
    }
    return found
  }
}
