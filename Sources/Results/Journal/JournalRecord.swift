import FedSim
import Numerics

/// What a run's journal says, one record after the other.
package enum JournalRecord: Codable, Sendable {
  /// The first: of which run it is.
  case run(scenarioDigest: String, engineVersion: String)
  /// A version was published.
  case version(VersionRecord)
  /// A round was closed, with the participations that it had until then.
  case round(RoundRecord, Funnel)
  /// A version of a model that is trained centrally was published.
  case central(CentralVersion)
  /// The run had reached this virtual time when the journal was put on the disk; how often is the
  /// host's affair.
  case reached(SimTime)
  /// Microseconds of wall-clock time for which the run had been played until then, by all processes
  /// that did.
  case spent(Int64)

  /// Whether the run alone decides that it is there, and where.
  package var isOfTheRun: Bool {
    switch self {
    case .reached, .spent: false
    default: true
    }
  }

  /// Its bytes: equal for equal records.
  package var bytes: [UInt8] {
    guard let bytes = try? Archive.bytes(of: self) else {
      preconditionFailure("records are plain values")
    }
    return bytes
  }

  /// The record that bytes are; nil: they are none.
  package init?(_ bytes: [UInt8]) {
    guard let record = try? Archive.value(JournalRecord.self, from: bytes) else { return nil }
    self = record
  }
}
