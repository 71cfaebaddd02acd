import FedSim
import Foundation
import Results

/// How long rounds take on the wall's clock, from publication to publication.
///
/// Nothing of it goes into a result. A version that was evaluated took that time too; it is marked,
/// and counts in no median.
final class RoundTimes: SavedObserver {
  /// A version, and the seconds since the one before.
  struct Round: Codable {
    let version: Int
    let seconds: Double
    let isEvaluated: Bool
  }

  /// What is written.
  struct Report: Codable {
    let threads: Int
    let kernels: String
    /// Over all versions but the first and those evaluated; nil where none is left.
    let medianSeconds: Double?
    let rounds: [Round]
  }

  private var rounds: [Round] = []
  private var last = ContinuousClock.now

  /// The rounds so far.
  var memory: [Round] {
    get { rounds }
    set { rounds = newValue }
  }

  /// The time from the last version before the run was saved is no part of a round.
  func resumed(_ simulation: borrowing Simulation) { last = ContinuousClock.now }

  /// Notes the time.
  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    let now = ContinuousClock.now
    if record.version > 0 {
      rounds.append(
        Round(
          version: record.version, seconds: (now - last) / .seconds(1),
          isEvaluated: record.evaluation != nil))
    }
    last = ContinuousClock.now
  }

  /// Whether a text that begins so is one of times.
  static func isTimes(_ head: String) -> Bool {
    head.hasPrefix("{") && head.contains("\"kernels\"") && head.contains("\"rounds\"")
  }

  /// The times as JSON.
  func json(threads: Int, kernels: String) throws(ResultFault) -> [UInt8] {
    let report = Report(
      threads: threads, kernels: kernels, medianSeconds: Self.median(rounds), rounds: rounds)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    guard let data = try? encoder.encode(report) else {
      throw .malformed(place: "timings", found: "no number", expected: "seconds")
    }
    return Array(data) + [10]
  }

  private static func median(_ rounds: [Round]) -> Double? {
    let seconds = rounds.filter { $0.version > 1 && !$0.isEvaluated }.map(\.seconds).sorted()
    guard !seconds.isEmpty else { return nil }
    return (seconds[(seconds.count - 1) / 2] + seconds[seconds.count / 2]) / 2
  }
}
