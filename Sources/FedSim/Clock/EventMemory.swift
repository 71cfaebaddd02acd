import Learning

/// Memory of lists, in few sizes: a list that grows or shrinks leaves what others can use.
final class EventMemory {
  /// As many as a phone has waiting, most of the time.
  static let least = 6
  private static let piece = 1 << 14
  // Each is reached through the lists alone, which keep others away.
  @exclusivity(unchecked) private var pieces: [UnsafeMutablePointer<EventSlot>] = []
  /// What is left of the last piece.
  @exclusivity(unchecked) private var rest = 0
  /// Memory that was given back, by its size.
  @exclusivity(unchecked) private var free: [[UnsafeMutablePointer<EventSlot>]] = []

  /// The least memory of each actor in the devices' rows, the server's first; nil: there are none.
  private let homes: (rows: DeviceRows, memory: UnsafeMutableRawPointer)?

  init() { homes = nil }

  /// Memory where lists that are short are in their devices' rows; nil while columns are measured.
  init?(in rows: DeviceRows) {
    let memory = rows.column(
      bytes: Self.least * MemoryLayout<EventSlot>.stride,
      alignment: MemoryLayout<EventSlot>.alignment, device: -1)
    guard let memory else { return nil }
    homes = (rows, memory)
  }

  /// How many slots a size has. Few sizes: what one has had at its height, no other gets.
  @inline(__always)
  static func capacity(_ size: Int) -> Int { least << size }

  /// Memory for an actor's list.
  func take(_ size: Int, for actor: Int) -> UnsafeMutablePointer<EventSlot> {
    guard size == 0, let homes, actor <= homes.rows.count else { return take(size) }
    return (homes.memory + actor * homes.rows.stride).assumingMemoryBound(to: EventSlot.self)
  }

  /// Takes memory back; what is in a row stays its actor's.
  func give(_ slots: UnsafeMutablePointer<EventSlot>, _ size: Int, of actor: Int) {
    if size > 0 || homes == nil || actor > homes!.rows.count { give(slots, size) }
  }

  private func take(_ size: Int) -> UnsafeMutablePointer<EventSlot> {
    if size < free.count, let slots = free[size].popLast() { return slots }
    let capacity = Self.capacity(size)
    if rest < capacity { grow(atLeast: capacity) }
    rest -= capacity
    return pieces[pieces.count - 1] + rest
  }

  private func give(_ slots: UnsafeMutablePointer<EventSlot>, _ size: Int) {
    while free.count <= size { free.append([]) }
    free[size].append(slots)
  }

  private func grow(atLeast capacity: Int) {
    while rest >= Self.least {
      rest -= Self.least
      give(pieces[pieces.count - 1] + rest, 0)
    }
    rest = max(Self.piece, capacity)
    let piece = UnsafeMutablePointer<EventSlot>.allocate(capacity: rest)
    HostMemory.preferLargePages(piece, rest * MemoryLayout<EventSlot>.stride)
    pieces.append(piece)
  }

  deinit { for piece in pieces { piece.deallocate() } }
}
