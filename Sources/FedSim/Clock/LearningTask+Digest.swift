import Learning
import Numerics

extension LearningTask {
  /// Digest of what files can change behind an unchanged scenario: samples, labels, partition,
  /// initial weights and batch orders.
  public var digest: UInt64 {
    var digest = Digest()
    for data in [train, test] {
      switch data.features {
      case .bytes(let bytes): bytes.withUnsafeBytes { digest.combine(bytes: $0) }
      case .floats(let floats): floats.withUnsafeBytes { digest.combine(bytes: $0) }
      }
      data.labels.withUnsafeBytes { digest.combine(bytes: $0) }
    }
    for lists in [partition.shards, partition.validation, clientTests] where !lists.isEmpty {
      digest.combine(UInt64(lists.count))
      for list in lists { list.withUnsafeBytes { digest.combine(bytes: $0) } }
    }
    initial.combine(into: &digest)
    for client in orders ?? [] {
      for epoch in client { epoch.withUnsafeBytes { digest.combine(bytes: $0) } }
    }
    return digest.value
  }
}
