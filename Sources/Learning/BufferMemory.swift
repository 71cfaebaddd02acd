import Synchronization

/// Memory of parameter buffers that are gone, kept for the next of the same size.
///
/// Fresh memory costs a page fault every 4 KiB, which a small training feels; memory used a moment
/// ago is still in a cache. Buffers of one size are cut from slabs of large pages, since the rows
/// of a layer's weights are on more small ones than a processor can keep in mind. The process has
/// one such store, as it has one heap; no value depends on what it holds. Buffers begin at
/// different places of a page, so that many of one size do not compete for the same lines of a
/// cache.
///
/// A slab goes when all of its blocks are here and another size needs the room. Their number
/// is limited: further buffers have separate memory, which goes where much is kept already.
package enum BufferMemory {
  /// A piece of memory; its floats begin at a multiple of 64 bytes.
  struct Block: Sendable {
    fileprivate let slab: Slab
    fileprivate let offset: Int
    fileprivate let byteCount: Int

    var floats: UnsafeMutablePointer<Float> {
      (slab.start + offset).assumingMemoryBound(to: Float.self)
    }
  }

  /// Memory of one block or of several, which goes when the last of them does.
  fileprivate final class Slab: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    /// How many blocks it has.
    let count: Int
    /// How many of them nobody uses; guarded by the store's lock.
    var free: Int
    /// What is done with memory from elsewhere when nobody uses it any more; nil: it is ours.
    let giveBack: (@Sendable () -> Void)?

    /// Memory from elsewhere, such as what two processes share.
    init(_ start: UnsafeMutablePointer<Float>, giveBack: @escaping @Sendable () -> Void) {
      self.start = UnsafeMutableRawPointer(start)
      (count, free, self.giveBack) = (1, 0, giveBack)
    }

    init(byteCount: Int, alignment: Int, count: Int = 1) {
      start = .allocate(byteCount: byteCount, alignment: alignment)
      start.bindMemory(to: Float.self, capacity: byteCount / MemoryLayout<Float>.stride)
      (self.count, free, giveBack) = (count, 0, nil)
      if alignment == largePage { HostMemory.preferLargePages(start, byteCount) }
    }

    var isCut: Bool { count > 1 }

    deinit {
      if let giveBack { return giveBack() }
      start.deallocate()
      if isCut { cutBytes.wrappingSubtract(slabSize, ordering: .relaxed) }
    }
  }

  /// Free blocks of one size, the one freed last at the end.
  private struct Shelf {
    let byteCount: Int
    var blocks: [Block] = []
    /// When it was last reached for.
    var used = 0

    /// Takes out the blocks of slabs that nobody uses any part of.
    mutating func takeIdle(_ belongs: (Block) -> Bool = { _ in true }) -> [Block] {
      let isIdle = { (block: Block) in block.slab.free == block.slab.count && belongs(block) }
      let idle = blocks.filter(isIdle)
      blocks.removeAll(where: isIdle)
      return idle
    }
  }

  private struct State {
    var shelves: [Shelf] = []
    /// Bytes of free blocks with their own memory.
    var keptBytes = 0
    var made = 0
    var clock = 0

    /// Puts free blocks of one size onto their shelf; returns what is to go for it.
    mutating func put(_ blocks: some Sequence<Block>, _ byteCount: Int) -> [Block] {
      clock += 1
      if let place = shelves.firstIndex(where: { $0.byteCount == byteCount }) {
        shelves[place].blocks += blocks
        shelves[place].used = clock
        return []
      }
      shelves.append(Shelf(byteCount: byteCount, blocks: Array(blocks), used: clock))
      guard shelves.count > mostSizes else { return [] }
      // A shelf may have nothing to give: others use parts of all its slabs.
      for place in shelves.indices.sorted(by: { shelves[$0].used < shelves[$1].used }) {
        let idle = shelves[place].takeIdle()
        guard !idle.isEmpty else { continue }
        for block in idle where !block.slab.isCut { keptBytes -= block.byteCount }
        if shelves[place].blocks.isEmpty { shelves.remove(at: place) }
        return idle
      }
      return []
    }
  }

  private static let state = Mutex(State())
  private static let cutBytes = Atomic<Int>(0)
  private static let pageSize = 4096
  private static let largePage = 1 << 21
  private static let slabSize = 1 << 22
  /// By how much a buffer begins later in its page than the one before.
  private static let shift = 320
  private static let mostKeptBytes = 256 << 20
  private static let mostSizes = 8
  /// The most bytes of all slabs.
  package static let mostSlabBytes = 128 << 20

  /// The bytes of all slabs.
  package static var slabBytes: Int { cutBytes.load(ordering: .relaxed) }

  /// Memory from elsewhere for `count` floats, which is never kept here.
  static func foreign(
    _ start: UnsafeMutablePointer<Float>, count: Int, giveBack: @escaping @Sendable () -> Void
  ) -> Block {
    Block(
      slab: Slab(start, giveBack: giveBack), offset: 0,
      byteCount: count * MemoryLayout<Float>.stride)
  }

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
      state.clock += 1
      state.shelves[place].used = state.clock
      block.slab.free -= 1
      if !block.slab.isCut { state.keptBytes -= byteCount }
      return (block, 0)
    }
    return block ?? cut(byteCount) ?? make(byteCount, number)
  }

  /// The `number`-th block with its own memory.
  private static func make(_ byteCount: Int, _ number: Int) -> Block {
    guard byteCount >= pageSize else {
      return Block(slab: Slab(byteCount: byteCount, alignment: 64), offset: 0, byteCount: byteCount)
    }
    let alignment = byteCount >= largePage ? largePage : pageSize
    let slab = Slab(byteCount: byteCount + pageSize, alignment: alignment)
    return Block(slab: slab, offset: number * shift % pageSize, byteCount: byteCount)
  }

  /// The first block of a new slab, whose others are kept; nil where there is no room for one, or a
  /// block is no small part of it.
  private static func cut(_ byteCount: Int) -> Block? {
    let stride = (byteCount + pageSize - 1) / pageSize * pageSize + shift
    guard byteCount >= pageSize, 2 * stride <= slabSize, reserve() else { return nil }
    let slab = Slab(byteCount: slabSize, alignment: largePage, count: slabSize / stride)
    let blocks = (0..<slab.count).map {
      Block(slab: slab, offset: $0 * stride, byteCount: byteCount)
    }
    slab.free = slab.count - 1
    // The first to be taken comes last.
    let dropped = state.withLock { $0.put(blocks.dropFirst().reversed(), byteCount) }
    withExtendedLifetime(dropped) {}  // Memory goes without the lock.
    return blocks[0]
  }

  /// Whether there is room for a slab, which is taken then; slabs of which nobody uses anything go
  /// for it.
  private static func reserve() -> Bool {
    for isLast in [false, true] {
      let bytes = cutBytes.wrappingAdd(slabSize, ordering: .relaxed).newValue
      if bytes <= mostSlabBytes { return true }
      cutBytes.wrappingSubtract(slabSize, ordering: .relaxed)
      if isLast { break }
      let idle = state.withLock { state in
        state.shelves.indices.flatMap { state.shelves[$0].takeIdle(\.slab.isCut) }
      }
      if idle.isEmpty { break }
    }
    return false
  }

  /// Takes a block back that nobody uses any more.
  static func give(_ block: Block) {
    if block.slab.giveBack != nil { return }
    let dropped = state.withLock { state -> [Block] in
      if !block.slab.isCut {
        guard state.keptBytes + slabBytes + block.byteCount <= mostKeptBytes else {
          return [block]
        }
        state.keptBytes += block.byteCount
      }
      block.slab.free += 1
      return state.put(CollectionOfOne(block), block.byteCount)
    }
    withExtendedLifetime(dropped) {}  // Memory goes without the lock.
  }
}
