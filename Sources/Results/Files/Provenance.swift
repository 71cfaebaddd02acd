import Foundation

/// What is true of one run but not of its result: where, when and how it was run.
///
/// It is next to the result, in `NAME.h5.provenance.json`, so that equal runs keep equal result
/// files.
public struct Provenance: Codable, Equatable, Sendable {
  /// The machine's name.
  public var host: String
  /// When the run began, by the wall clock, in ISO 8601.
  public var startedAt: String
  /// How long it took by the wall clock, in seconds.
  public var wallSeconds: Double
  /// The command and its arguments.
  public var commandLine: [String]
  /// How many threads trained.
  public var threads: Int
  /// Which kernel bodies computed: `avx512`, `avx2` or `baseline`.
  public var kernels: String
  /// Versions by name: the engine's and the libraries'.
  public var versions: [String: String]
  /// The digest of the result's content, to tell which result this belongs to.
  public var contentDigest: String
  /// The scenario's file, where paths in the scenario start; nil: it was no file.
  public var scenario: String?

  /// A provenance of the given parts.
  public init(
    host: String, startedAt: String, wallSeconds: Double, commandLine: [String], threads: Int,
    kernels: String, versions: [String: String], contentDigest: String,
    scenario: String? = nil
  ) {
    self.host = host
    self.startedAt = startedAt
    self.wallSeconds = wallSeconds
    self.commandLine = commandLine
    self.threads = threads
    self.kernels = kernels
    self.versions = versions
    self.contentDigest = contentDigest
    self.scenario = scenario
  }

  /// The path of the provenance of the result at a path.
  public static func path(for result: String) -> String { result + ".provenance.json" }

  /// Takes away what is next to a result that is being replaced, for it is of the one before.
  ///
  /// Throws: `ResultFault.disk`.
  package static func clear(beside result: String, calls: FileCalls) throws(ResultFault) {
    let path = path(for: result)
    guard calls.remove(path) == 0 || errno == ENOENT else { throw .disk(path, "unlink", errno) }
  }

  /// Writes it next to the result at a path, whole or not at all.
  ///
  /// Throws: `ResultFault`.
  public func write(beside result: String) throws(ResultFault) {
    try write(beside: result, calls: .system)
  }

  /// The same by these calls of the operating system, gathered in the file at `through`, if any.
  package func write(
    beside result: String, through: String? = nil, calls: FileCalls
  ) throws(ResultFault) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard wallSeconds.isFinite, let data = try? encoder.encode(self) else {
      throw .malformed(
        place: "provenance", found: "\(wallSeconds) s", expected: "a finite duration")
    }
    try PlacedFile.place(
      Array(data) + [10], at: Self.path(for: result), through: through, calls: calls)
  }
}
