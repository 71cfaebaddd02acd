import Synchronization

/// Memory of parameter buffers that are gone, kept for the next of the same size.
///
/// Fresh memory costs a page fault every 4 KiB, which a small training feels; memory used a moment
/// ago is still in a cache. The process has one such store, as it has one heap; no value depends on
/// what it holds. Buffers begin at different places of a page, so that many of one size do not
/// compete for the same lines of a cache.
enum BufferMemory {
  /// A piece of memory; its floats begin at a multiple of 64 bytes.
  struct Block: Sendable {
    fileprivate let address: UInt
    fileprivate let offset: Int
    fileprivate let byteCount: Int

    var floats: UnsafeMutablePointer<Float> {
      let start = UnsafeMutableRawPointer(bitPattern: address)! + offset
      return start.assumingMemoryBound(to: Float.self)
    }
  }

  /// Free blocks of one size, the one freed last at the end.
  private struct Shelf {
    let byteCount: Int
    var blocks: [Block] = []
  }

  private struct State {
    var shelves: [Shelf] = []
    var keptBytes = 0
    var made = 0
  }

  private static let state = Mutex(State())
  private static let pageSize = 4096
  private static let mostKeptBytes = 256 << 20
  private static let mostSizes = 8

  /// A block for `count` floats; what they are is unspecified.
  static func take(count: Int) -> Block {
    let byteCount = max(64, count * MemoryLayout<Float>.stride)
    let (block, number) = state.withLock { state -> (Block?, Int) in
      guard let place = state.shelves.firstIndex(where: { $0.byteCount == byteCount }),
        let block = state.shelves[place].blocks.popLast()
      else {
        state.made &+= 1
        return (nil, state.made)
      }
      state.keptBytes -= byteCount
      return (block, 0)
    }
    if let block { return block }
    let isLarge = byteCount >= pageSize
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: byteCount + (isLarge ? pageSize : 0), alignment: isLarge ? pageSize : 64)
    memory.bindMemory(to: Float.self, capacity: byteCount / MemoryLayout<Float>.stride)
    return Block(
      address: UInt(bitPattern: memory), offset: isLarge ? number * 5 % 64 * 64 : 0,
      byteCount: byteCount)
  }

  /// Takes a block back that nobody uses any more.
  static func give(_ block: Block) {
    let dropped = state.withLock { state -> [Block] in
      guard state.keptBytes + block.byteCount <= mostKeptBytes else { return [block] }
      state.keptBytes += block.byteCount
      if let place = state.shelves.firstIndex(where: { $0.byteCount == block.byteCount }) {
        state.shelves[place].blocks.append(block)
        return []
      }
      state.shelves.append(Shelf(byteCount: block.byteCount, blocks: [block]))
      guard state.shelves.count > mostSizes else { return [] }
      let oldest = state.shelves.removeFirst()
      state.keptBytes -= oldest.byteCount * oldest.blocks.count
      return oldest.blocks
    }
    for block in dropped { UnsafeMutableRawPointer(bitPattern: block.address)!.deallocate() }
  }
}
