/// Shards that somebody else made; they are checked against the pool and taken as they are.
public struct PartitionGiven: Partitioner {
  private let given: [[Int32]]

  /// The shards, one per client, as positions in the pool.
  public init(shards: [[Int32]]) { given = shards }

  public var clients: Int { given.count }

  /// The shards as given.
  ///
  /// Throws: `emptyShard`, `sampleOutOfRange`, `sampleTwice`, for the first client at fault.
  public func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]] {
    var owner = Array(repeating: -1, count: labels.count)
    for (client, shard) in given.enumerated() {
      guard !shard.isEmpty else { throw PartitionFault.emptyShard(client: client) }
      for sample in shard {
        let position = Int(sample)
        guard owner.indices.contains(position) else {
          throw PartitionFault.sampleOutOfRange(
            client: client, sample: position, available: labels.count)
        }
        guard owner[position] < 0 else {
          throw PartitionFault.sampleTwice(
            sample: position, firstClient: owner[position], secondClient: client)
        }
        owner[position] = client
      }
    }
    return given
  }
}
