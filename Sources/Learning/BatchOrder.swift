import Numerics

/// In which order a training passes over its shard.
public enum BatchOrder: Sendable {
  /// Epoch e is the identity, shuffled by the key's stream at slot `firstSlot` + e.
  ///
  /// Draws: one shuffle of the shard's size an epoch.
  case keyed(StreamKey, firstSlot: UInt64)
  /// Epoch e takes the shard's positions as listed in element e.
  case explicit([[Int32]])
  /// Epoch e takes the positions listed in element `first` + e; behind the last comes the first.
  case cycle([[Int32]], first: Int)

  /// The positions in the shard in the order of one epoch of the training, from 0 on.
  public func positions(epoch: Int, shardCount: Int) -> [Int32] {
    switch self {
    case .keyed(let key, let firstSlot):
      var positions = (0..<Int32(shardCount)).map { $0 }
      var stream = key.stream(slot: firstSlot + UInt64(epoch))
      stream.shuffle(&positions)
      return positions
    case .explicit(let epochs):
      precondition(epoch < epochs.count, "no order for epoch \(epoch)")
      precondition(epochs[epoch].count == shardCount, "an order lists each sample of the shard")
      return epochs[epoch]
    case .cycle(let epochs, let first):
      let place = (first + epoch) % epochs.count
      precondition(epochs[place].count == shardCount, "an order lists each sample of the shard")
      return epochs[place]
    }
  }
}
