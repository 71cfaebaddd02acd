import Synchronization

/// Memory of parameter buffers that are gone, kept for the next of the same size.
///
/// Fresh memory costs a page fault every 4 KiB, which a small training feels; memory used a moment
/// ago is still in a cache. Buffers of one size are cut from slabs of large pages, since the rows
/// of a layer's weights lie on more small ones than a processor can keep in mind. The process has
/// one such store, as it has one heap; no value depends on what it holds. Buffers begin at
/// different places of a page, so that many of one size do not compete for the same lines of a
/// cache.
enum BufferMemory {
  /// A piece of memory; its floats begin at a multiple of 64 bytes.
  struct Block: Sendable {
    fileprivate let slab: Slab
    fileprivate let offset: Int
    fileprivate let byteCount: Int

    var floats: UnsafeMutablePointer<Float> {
      (slab.start + offset).assumingMemoryBound(to: Float.self)
    }
  }

  /// Memory that goes when its last block does.
  fileprivate final class Slab: @unchecked Sendable {
    let start: UnsafeMutableRawPointer

    init(byteCount: Int, alignment: Int) {
      start = .allocate(byteCount: byteCount, alignment: alignment)
      start.bindMemory(to: Float.self, capacity: byteCount / MemoryLayout<Float>.stride)
      if alignment == largePage { HostMemory.preferLargePages(start, byteCount) }
    }

    deinit { start.deallocate() }
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
  private static let largePage = 1 << 21
  private static let slabBytes = 1 << 22
  /// By how much a buffer begins later in its page than the one before.
  private static let shift = 320
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
    return block ?? make(byteCount, number)
  }

  /// The `number`-th block that nobody has left; further ones of its slab are kept.
  private static func make(_ byteCount: Int, _ number: Int) -> Block {
    guard byteCount >= pageSize else {
      return Block(slab: Slab(byteCount: byteCount, alignment: 64), offset: 0, byteCount: byteCount)
    }
    let stride = (byteCount + pageSize - 1) / pageSize * pageSize + shift
    guard 2 * stride <= slabBytes else {
      let slab = Slab(byteCount: byteCount + pageSize, alignment: largePage)
      return Block(slab: slab, offset: number * shift % pageSize, byteCount: byteCount)
    }
    let slab = Slab(byteCount: slabBytes, alignment: largePage)
    let blocks = (0..<slabBytes / stride).map {
      Block(slab: slab, offset: $0 * stride, byteCount: byteCount)
    }
    // The first to be taken comes last.
    for block in blocks.dropFirst().reversed() { give(block) }
    return blocks[0]
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
    withExtendedLifetime(dropped) {}  // Memory goes without the lock.
  }
}
