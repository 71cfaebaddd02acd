/// Which client holds which samples of the training pool.
///
/// Clients are numbered from 0, whatever the fleet: which device plays which client is not decided
/// here. Test samples are in no partition.
public struct Partition: Sendable, Equatable {
  /// The samples that each client trains on. Shapes: [client][its samples].
  public let shards: [[Int32]]
  /// The samples that each client keeps back for validation. Shapes: [client][its samples].
  public let validation: [[Int32]]

  /// A partition without validation samples.
  public init(shards: [[Int32]]) {
    self.shards = shards
    validation = Array(repeating: [], count: shards.count)
  }

  /// A partition with validation samples, one list a client.
  public init(shards: [[Int32]], validation: [[Int32]]) {
    precondition(shards.count == validation.count, "one validation list a client")
    self.shards = shards
    self.validation = validation
  }

  /// How many clients there are.
  public var clientCount: Int { shards.count }

  /// How often each label occurs in each client's training samples, after every split.
  ///
  /// Shapes: [client][label].
  public func labelHistogram(labels: [Int32], classCount: Int) -> [[Int32]] {
    shards.map { shard in
      var counts = Array(repeating: Int32(0), count: classCount)
      for sample in shard { counts[Int(labels[Int(sample)])] += 1 }
      return counts
    }
  }
}
