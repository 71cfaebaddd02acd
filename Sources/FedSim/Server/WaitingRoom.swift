/// Devices that wait for a cohort, in the order of the fleet, and their requests.
///
/// Those that came last are in a separate list, which is merged into the other where places
/// count, or where it is long: of 100,000 that wait, an arrival moves a few. Complexity: O(log n)
/// for a search; an arrival O(`mostLate`) and its share of a merge.
package struct WaitingRoom: Codable {
  /// A request that is answered once its device is let in.
  package struct Request: Codable {
    let generation: UInt32
    package let participation: Int32

    package init(generation: UInt32, participation: Int32) {
      self.generation = generation
      self.participation = participation
    }
  }

  private var rows = Rows()
  private var late = Rows()
  private static let mostLate = 1024

  /// Nobody waits.
  package init() {}

  package var count: Int { rows.count + late.count }
  package var isEmpty: Bool { rows.count == 0 && late.count == 0 }

  /// The device at a place; all are in order (`inOrder`).
  package subscript(place: Int) -> CheckIn {
    precondition(late.count == 0, "places are those of the devices in order")
    return rows.checkIns[place]
  }

  /// The request of a device that waits.
  package func request(of device: Int) -> Request? {
    rows.request(of: device) ?? late.request(of: device)
  }

  /// All devices, in no order.
  package func forEachDevice(_ body: (Int) -> Void) {
    for checkIn in rows.checkIns { body(checkIn.device) }
    for checkIn in late.checkIns { body(checkIn.device) }
  }

  /// All devices in the order of the fleet, which their places are of.
  package mutating func inOrder() -> [CheckIn] {
    rows.take(&late)
    return rows.checkIns
  }

  /// The request of the device at a place; all are in order (`inOrder`).
  package func request(at place: Int) -> Request {
    precondition(late.count == 0, "places are those of the devices in order")
    return rows.requests[place]
  }

  /// Adds a device that does not wait.
  package mutating func insert(_ checkIn: CheckIn, _ request: Request) {
    late.insert(checkIn, request)
    if late.count == Self.mostLate { rows.take(&late) }
  }

  /// Takes out a device, if it waits.
  package mutating func remove(_ device: Int) -> Request? {
    rows.remove(device) ?? late.remove(device)
  }

  /// Takes out the devices at some places, in ascending order; all are in order (`inOrder`).
  package mutating func remove(at places: [Int]) {
    precondition(late.count == 0, "places are those of the devices in order")
    rows.remove(at: places)
  }

  /// Takes out all devices.
  package mutating func removeAll() { self = WaitingRoom() }
}

/// Devices and their requests, sorted by device.
private struct Rows: Codable {
  var checkIns: [CheckIn] = []
  var requests: [WaitingRoom.Request] = []

  var count: Int { checkIns.count }

  func request(of device: Int) -> WaitingRoom.Request? {
    let place = place(of: device)
    return isThere(device, at: place) ? requests[place] : nil
  }

  mutating func insert(_ checkIn: CheckIn, _ request: WaitingRoom.Request) {
    let place = place(of: checkIn.device)
    checkIns.insert(checkIn, at: place)
    requests.insert(request, at: place)
  }

  mutating func remove(_ device: Int) -> WaitingRoom.Request? {
    let place = place(of: device)
    guard isThere(device, at: place) else { return nil }
    checkIns.remove(at: place)
    return requests.remove(at: place)
  }

  mutating func remove(at places: [Int]) {
    guard var kept = places.first else { return }
    var gone = 0
    for place in kept..<count {
      if gone < places.count, places[gone] == place {
        gone += 1
      } else {
        checkIns[kept] = checkIns[place]
        requests[kept] = requests[place]
        kept += 1
      }
    }
    checkIns.removeLast(gone)
    requests.removeLast(gone)
  }

  /// Moves all rows of another list, whose devices are not here, into this one.
  mutating func take(_ others: inout Rows) {
    guard others.count > 0 else { return }
    var (kept, left) = (count, others.count)
    // Room for them; from the last on, each row then moves once.
    checkIns.append(contentsOf: others.checkIns)
    requests.append(contentsOf: others.requests)
    var place = count
    while left > 0 {
      place -= 1
      if kept > 0, checkIns[kept - 1].device > others.checkIns[left - 1].device {
        kept -= 1
        checkIns[place] = checkIns[kept]
        requests[place] = requests[kept]
      } else {
        left -= 1
        checkIns[place] = others.checkIns[left]
        requests[place] = others.requests[left]
      }
    }
    others.checkIns.removeAll(keepingCapacity: true)
    others.requests.removeAll(keepingCapacity: true)
  }

  private func isThere(_ device: Int, at place: Int) -> Bool {
    place < count && checkIns[place].device == device
  }

  /// Where a device is, or would be.
  private func place(of device: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if checkIns[middle].device < device { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
