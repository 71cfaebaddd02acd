/// Devices in the order of a phase and, within one phase, of their numbers.
///
/// The keys are in blocks of a limited size, so that none moves many others. Complexity: O(log n)
/// for a search, O(block) for a change.
package struct PhaseList: Codable {
  /// A phase in microseconds and a device, in one number that orders them.
  package struct Key: Codable, Comparable {
    private let bits: UInt64

    static let phaseLimit: Int64 = 1 << 40
    static let deviceLimit = 1 << 24

    /// The device may be one beyond the last, for a search.
    package init(phase: Int64, device: Int) {
      precondition(phase < Self.phaseLimit && device <= Self.deviceLimit, "a key has 64 bits")
      bits = UInt64(phase) << 24 + UInt64(device)
    }

    var phase: Int64 { Int64(bits >> 24) }
    var device: Int { Int(bits & 0xFF_FFFF) }

    package static func < (a: Key, b: Key) -> Bool { a.bits < b.bits }
  }

  private var blocks: [[Key]] = []
  private static let most = 512

  /// An empty list.
  package init() {}

  /// The first key of all.
  package var first: Key? { blocks.first?.first }

  /// The first key that is this one or comes after it.
  package func first(from key: Key) -> Key? {
    let block = block(of: key)
    guard block < blocks.count else { return nil }
    return blocks[block][place(of: key, in: block)]
  }

  /// Adds a key that is not there.
  package mutating func insert(_ key: Key) {
    var block = block(of: key)
    if block == blocks.count {
      if block == 0 || blocks[block - 1].count >= Self.most {
        blocks.append([key])
        return
      }
      block -= 1
    }
    blocks[block].insert(key, at: place(of: key, in: block))
    guard blocks[block].count > Self.most else { return }
    let half = Array(blocks[block][(Self.most / 2)...])
    blocks[block].removeSubrange((Self.most / 2)...)
    blocks.insert(half, at: block + 1)
  }

  /// Takes out a key that is there.
  package mutating func remove(_ key: Key) {
    let block = block(of: key)
    let removed = blocks[block].remove(at: place(of: key, in: block))
    precondition(removed == key, "the key is there")
    if blocks[block].isEmpty { blocks.remove(at: block) }
  }

  /// The first block whose last key is this one or comes after it.
  private func block(of key: Key) -> Int {
    var (low, high) = (0, blocks.count)
    while low < high {
      let middle = (low + high) / 2
      if blocks[middle][blocks[middle].count - 1] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Where a key is in a block, or would be.
  private func place(of key: Key, in block: Int) -> Int {
    var (low, high) = (0, blocks[block].count)
    while low < high {
      let middle = (low + high) / 2
      if blocks[block][middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
