/// A scenario's outcome when it was recorded: a text next to it that a reviewer can read.
///
/// Tables of rounds and versions, ledgers, digests of events by the hour, and, for runs that are
/// not too long, every event in words or a mark of it.
package struct Baseline: Equatable, Sendable {
  /// A table of words; the first column names a row.
  package struct Table: Equatable, Sendable {
    package let name: String
    package let columns: [String]
    package var rows: [[String]]
  }

  /// How far values of a column may be from the recorded ones.
  package struct Tolerance: Equatable, Sendable {
    /// The table and the column, such as `versions.centralLoss`, or `events`.
    package let column: String
    /// nil: any value will do.
    package let value: Double?
  }

  /// Events in a row, each with a mark of two digits.
  package struct Block: Equatable, Sendable {
    /// The number of the first one, from 1.
    package let first: Int
    /// When that was, in seconds.
    package let time: String
    /// The sum of the events' fingerprints.
    package let digest: String
    /// Two hexadecimal digits an event.
    package let marks: String
  }

  /// The events of a run.
  package enum Events: Equatable, Sendable {
    /// Each in words, a line per event.
    case lines([String])
    /// A mark of each.
    case blocks([Block])
    /// There are too many: only the hours tell them apart.
    case hours
  }

  /// The version of this format.
  package static let format = "1"
  /// Events in a block.
  package static let blockSize = 64
  /// Runs of at most this many events are stored in words, unless set otherwise.
  package static let mostLines = 2_000
  /// Runs of at most this many events are stored by marks.
  package static let mostMarks = 65_536
  /// Runs of at most this many events are stored in words where that is asked for.
  package static let mostLinesAskedFor = 1_000_000

  /// Keys and values that say what was recorded, in their order.
  package var header: [[String]]
  /// What may differ; kept when the scenario is recorded again.
  package var tolerances: [Tolerance] = []
  /// The resolved scenario as YAML; nil in a recording of before.
  package var settings: String?
  /// The tables, in their order.
  package var tables: [Table]
  /// The events.
  package var events: Events

  /// The value of a key.
  package func value(_ key: String) -> String? { header.first { $0[0] == key }?[1] }

  /// The table of a name.
  package func table(_ name: String) -> Table? { tables.first { $0.name == name } }

  /// How far values of a column may differ.
  package func tolerance(_ column: String) -> Tolerance? {
    tolerances.first { $0.column == column }
  }

  /// The path of the baseline next to a scenario.
  package static func path(beside scenario: String) -> String {
    let name = scenario.split(separator: "/").last.map(String.init) ?? scenario
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
      return scenario + ".baseline"
    }
    return scenario.dropLast(name[dot...].count) + ".baseline"
  }
}
