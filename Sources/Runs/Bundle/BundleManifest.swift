import Foundation

/// What a bundle says of itself, in its member `bundle.json`.
struct BundleManifest: Codable, Equatable {
  /// A file outside the bundle that the run read.
  struct DataFile: Codable, Equatable {
    /// Its path: relative to the scenario's folder or to a folder with data, or absolute.
    var path: String
    /// SHA-256 of its bytes as they are on the disk, in 64 hexadecimal digits.
    var sha256: String
    /// Its length on the disk, in bytes.
    var bytes: Int
  }

  /// A member of the bundle.
  struct Member: Codable, Equatable {
    var name: String
    /// SHA-256 of its contents, in 64 hexadecimal digits.
    var sha256: String
    /// The length of its contents, in bytes.
    var bytes: Int
  }

  /// The layout of bundles that this program writes and reads.
  static let currentFormat = "fedsim-bundle-1"

  /// The layout of the bundle.
  var format = Self.currentFormat
  /// The version of FedSim that made the result.
  var engineVersion: String
  /// The digest of the result's content, of the resolved scenario, of the task's data, of all
  /// events.
  var contentDigest: String
  var scenarioDigest: String
  var dataDigest: String
  var eventDigest: String
  /// The claims about the run, in words, in the order written.
  var claims: [String]
  /// The files that the run read, sorted by path.
  var dataFiles: [DataFile]
  /// All members but this one, in the bundle's order.
  var members: [Member]

  /// The bytes of the member.
  var bytes: [UInt8] { Self.json(self) }

  /// A value as JSON with sorted keys, and a line end.
  static func json(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else {
      preconditionFailure("a manifest holds words and whole numbers only")
    }
    return Array(data) + [10]
  }
}
