/// The devices of the fleet and their clients: every room may read this; it holds no state of a
/// device.
struct Members: Codable {
  /// The number of each group's first device, and the number of devices at the end.
  private var firsts: [Int32] = [0]
  /// The client of the partition whose data each device has.
  private(set) var clients: [Int32] = []
  /// Samples that each device had when its last training was planned.
  var sampleCounts: [Int32] = []

  /// How many devices there are.
  var count: Int { clients.count }
  /// Their numbers, in the order of the fleet.
  var indices: Range<Int> { clients.indices }

  /// Adds a device at the end, of the last group or of the next one.
  mutating func append(group: Int, client: Int32, sampleCount: Int32) {
    while firsts.count <= group { firsts.append(Int32(clients.count)) }
    clients.append(client)
    sampleCounts.append(sampleCount)
  }

  /// The group of a device. Complexity: O(log(groups)).
  func group(of device: Int) -> Int {
    var (low, high) = (0, firsts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(firsts[middle]) <= device { low = middle } else { high = middle }
    }
    return low
  }

  /// The number of a device within its group. Complexity: O(log(groups)).
  func ordinal(of device: Int) -> Int { device - Int(firsts[group(of: device)]) }
}
