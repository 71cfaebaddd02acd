extension ResultDocument {
  /// What identifies a run, for the attributes of a file's root.
  public struct Identity: Equatable, Sendable {
    /// The name of the scenario that was run.
    public var title: String
    /// The version of the engine that made the numbers.
    public var engineVersion: String
    /// The version of the groups and names in the file.
    public var schemaVersion: Int64
    /// The scenario's seed.
    public var seed: UInt64
    /// The digest over the events of the run.
    public var eventDigest: String
    /// The digest of the resolved scenario.
    public var scenarioDigest: String

    /// An identity of the given parts.
    public init(
      title: String, engineVersion: String, schemaVersion: Int64, seed: UInt64,
      eventDigest: String, scenarioDigest: String
    ) {
      self.title = title
      self.engineVersion = engineVersion
      self.schemaVersion = schemaVersion
      self.seed = seed
      self.eventDigest = eventDigest
      self.scenarioDigest = scenarioDigest
    }

    /// The attributes to start a document with; `ResultFile.write` adds the content digest.
    public var attributes: [Attribute] {
      [
        Attribute("Conventions", .text(ResultDocument.conventions)),
        Attribute("title", .text(title)),
        Attribute("engineVersion", .text(engineVersion)),
        Attribute("schemaVersion", .integer(schemaVersion)),
        Attribute("seed", .unsigned(seed)),
        Attribute("eventDigest", .text(eventDigest)),
        Attribute("scenarioDigest", .text(scenarioDigest)),
      ]
    }
  }

  /// The version of the groups and names in the file; nil where nothing says.
  ///
  /// A file of any version can be read: what came later is missing in an older one.
  public var schemaVersion: Int64? {
    guard case .integer(let version)? = root[attribute: "schemaVersion"] else { return nil }
    return version
  }

  /// The value of the root attribute `Conventions`.
  public static let conventions = "CF-1.10 FedSim-1"

  /// The name of the root attribute that holds `contentDigest`, the one thing it does not cover.
  public static let digestAttribute = "contentDigest"
}
