import FedSim
import Learning
import Numerics

/// Plays the same steps of a part three times: twice with one part, and once with a part that is
/// made anew for each step, whose memory is saved and restored before it.
struct StateCheck<Value> {
  let make: () -> Value
  /// Whose memory it is; nil: a part of this kind has none.
  let part: (Value) -> (any PolicyPart)?
  let steps: Int
  /// One step, and what came of it, in words that are equal for equal bits.
  let step: (_ value: Value, _ index: Int, _ memory: inout AnyMemory) -> [String]

  func run(_ findings: inout Findings) {
    let one = make()
    let first = played(isSaved: false) { one }
    let again = played(isSaved: false) { one }
    let anew = played(isSaved: true, make)
    if let found = difference(first, again) {
      findings.add(.repeats, "the same calls gave \(found.a) and then \(found.b) (\(found.place))")
    }
    if let found = difference(first, anew) {
      findings.add(
        .memory,
        "it gave \(found.a), and \(found.b) where it was made anew from its settings and its saved "
          + "memory (\(found.place)): what it keeps outside of its memory is not saved")
    }
  }

  private func played(isSaved: Bool, _ value: () -> Value) -> [[String]] {
    let first = value()
    var memory = part(first)?.freshMemory() ?? AnyMemory(NoMemory())
    return (0..<steps).map { index in
      let one = index == 0 ? first : value()
      if isSaved { memory = restored(memory, one) }
      return step(one, index, &memory)
    }
  }

  /// A memory as it comes back from a saved run.
  private func restored(_ memory: AnyMemory, _ value: Value) -> AnyMemory {
    guard let part = part(value) else { return memory }
    do {
      return try AnyMemory(archived: memory.archived(), of: part)
    } catch {
      preconditionFailure("a memory is saved whole: \(error)")
    }
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
