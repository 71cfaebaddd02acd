import Learning
import Numerics
import Schema

/// Every client is a user of the data's source, with the samples that the source says are its own.
///
/// Clients are the users in the source's order, those with fewer than `minimumSize` training
/// samples left out and the rest closing up. Draws: none. Throws, when the shards are made:
/// `noUsers` for a source without users, `tooFewUsers` where `clients` asks for more than there
/// are.
public struct PartitionNatural: PartitionSource, Part {
  public struct Settings: PartSettings {
    /// How many users, from the first; nil takes all.
    public var clients: Int?
    /// The fewest training samples of a user that takes part.
    public var minimumSize = 1

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "clients", \.clients, optional: .integer(1...10_000_000),
          "Number of users, starting at the source's first; absent: all."),
        Field(
          "minimumSize", \.minimumSize, .integer(1...100_000_000),
          "Minimum number of training samples of a user; other users are left out."),
      ]
    }
  }

  public static let name = "natural"
  /// What it does.
  public static let summary = "The source's users as clients; needs a source with users."
  /// The sources that have users.
  public static let sources = [
    LEAFFiles.name, TFFFiles.name, SyntheticUsers.name, Sensors.name, MadeUpWords.name,
    "\(CSVFiles.name) with `user`", "\(NPZFiles.name) with `users`",
    "a trainer with `owners`",
  ]

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// A rule that fails: the users are known with the data alone.
  public func partitioner(folders: DataFolders) throws(DataFault) -> any Partitioner {
    Rule(users: nil, settings: settings)
  }

  /// The rule for the users of these data.
  public func partitioner(
    for data: TrainAndTest, folders: DataFolders
  ) throws(DataFault) -> any Partitioner {
    Rule(users: data.users, settings: settings)
  }

  /// The users' own test samples, where the source says whose they are.
  public func clientTests(of data: TrainAndTest) -> [[Int32]] {
    guard let users = data.users, !users.tests.isEmpty else { return [] }
    let kept = users.shards.indices.filter { users.shards[$0].count >= settings.minimumSize }
    return kept.prefix(settings.clients ?? kept.count).map { users.tests[$0] }
  }

  private struct Rule: Partitioner {
    let users: DataUsers?
    let settings: Settings

    var clients: Int { min(settings.clients ?? .max, kept.count) }

    private var kept: [[Int32]] {
      (users?.shards ?? []).filter { $0.count >= settings.minimumSize }
    }

    func shards(
      labels: [Int32], classCount: Int, streams: PartitionStreams
    ) throws(PartitionFault) -> [[Int32]] {
      guard users != nil else {
        throw PartitionFault.noUsers(sources: PartitionNatural.sources)
      }
      let kept = kept
      guard !kept.isEmpty, settings.clients ?? 1 <= kept.count else {
        throw PartitionFault.tooFewUsers(
          needed: settings.clients ?? 1, available: kept.count, minimumSize: settings.minimumSize)
      }
      return try PartitionGiven(shards: Array(kept[..<(settings.clients ?? kept.count)])).shards(
        labels: labels, classCount: classCount, streams: streams)
    }
  }
}
