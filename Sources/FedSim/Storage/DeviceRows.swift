import Learning

/// Memory with a row for each device, in which tables have columns: what is known of a device is in
/// few lines of one page, and is asked for in one go.
///
/// A fleet that does not fit into a cache is played as fast as this memory arrives. In separate
/// tables, a device's records would be in a dozen pages. Small fleets have no rows
/// (`Shortcuts.devicesWithoutRows`).
final class DeviceRows {
  /// How many devices there are.
  let count: Int
  /// The bytes from a row to the next.
  private(set) var stride = 0
  /// The row before the first one, which is the server's; nil while columns are measured.
  private var memory: UnsafeMutableRawPointer?
  /// The bytes of a row that have a column.
  private var taken = 0

  private init(count: Int) { self.count = count }

  deinit { memory?.deallocate() }

  /// Makes rows for tables that `move` moves into them. It is called twice: the first time, the
  /// columns are measured and the tables stay where they are.
  static func make(count: Int, _ move: (DeviceRows) -> Void) -> DeviceRows {
    let rows = DeviceRows(count: count)
    move(rows)
    rows.stride = (rows.taken + 15) / 16 * 16
    rows.taken = 0
    let bytes = (count + 1) * rows.stride
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 1 << 21)
    HostMemory.preferLargePages(memory, bytes)
    rows.memory = memory
    move(rows)
    return rows
  }

  /// The place of the next column in a device's row; nil while columns are measured. The device
  /// before the first one is the server.
  func column(bytes: Int, alignment: Int, device: Int = 0) -> UnsafeMutableRawPointer? {
    let place = (taken + alignment - 1) / alignment * alignment
    taken = place + bytes
    return memory.map { $0 + (device + 1) * stride + place }
  }

  /// Columns that begin at one place: those of groups, no device being in two.
  func columns(ofGroups count: Int, _ move: (_ group: Int) -> Void) {
    let first = taken
    var most = taken
    for group in 0..<count {
      taken = first
      move(group)
      most = max(most, taken)
    }
    taken = most
  }

  /// Asks for the memory of a device.
  @inline(__always)
  func prefetch(_ device: Int) { HostMemory.prefetch(memory! + (device + 1) * stride, stride) }
}
