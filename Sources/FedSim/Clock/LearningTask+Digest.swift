import Learning
import Numerics

extension LearningTask {
  /// Digest of what files can change behind an unchanged scenario: samples, labels, partition,
  /// initial weights, batch orders and files of models.
  public var digest: UInt64 {
    var digest = Digest()
    for data in [train, test] {
      switch data.features {
      case .bytes(let bytes): bytes.withUnsafeBytes { digest.combine(bytes: $0) }
      case .floats(let floats): floats.withUnsafeBytes { digest.combine(bytes: $0) }
      }
      switch data.targets {
      case .classes: data.labels.withUnsafeBytes { digest.combine(bytes: $0) }
      case .values(let values): values.numbers.withUnsafeBytes { digest.combine(bytes: $0) }
      case .tokens(let tokens):
        digest.combine(UInt64(bitPattern: Int64(tokens.unscored ?? -1)))
        tokens.labels.withUnsafeBytes { digest.combine(bytes: $0) }
      }
    }
    for lists in [partition.shards, partition.validation, clientTests] where !lists.isEmpty {
      digest.combine(UInt64(lists.count))
      for list in lists { list.withUnsafeBytes { digest.combine(bytes: $0) } }
    }
    initial.combine(into: &digest)
    for client in orders ?? [] {
      for epoch in client { epoch.withUnsafeBytes { digest.combine(bytes: $0) } }
    }
    for file in modelDigests { digest.combine(bytes: Array(file.utf8)) }
    return digest.value
  }
}
