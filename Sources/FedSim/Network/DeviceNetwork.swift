import Learning

/// The network: the only way between devices and server.
///
/// A device begins a request here and finds its answer here. The server sees the number of a
/// request and what it carries; it may hold, queue or postpone its answer, and lend it a model.
/// What it does to a request that the device has given up has no effect.
struct DeviceNetwork: Codable {
  private var lines = RecordArray<Line>()
  private var transfers = Slots<Transfer>()
  /// The server's own connection.
  var server = ServerLine()
  /// Tokens, and what the server knows of the apps that hold them.
  var accounts = Accounts()
  /// Erasures that users asked for, and which of them the server knows; empty without erasures.
  var erasures: [ErasureNotice] = []
  /// Bytes over cellular networks, from the first on; empty where no group limits them.
  var cellularDays: [CellularDay] = []
  /// The update that a device's system is to send, −1: none; empty where no group has such.
  var handedOver: [Int32] = []
  /// What speed tests found, as devices tell the server; empty where there are none.
  var speeds: [MeasuredSpeeds] = []

  /// How many devices have a line.
  var count: Int { lines.count }

  /// The end of a device, read and changed where it is.
  subscript(device: Int) -> Line {
    @inline(__always) unsafeAddress { lines.address(device) }
    @inline(__always) unsafeMutableAddress { lines.mutableAddress(device) }
  }

  /// The request that a device has under way; `open` and `close` begin and end one, and nothing is
  /// written here where there is none.
  subscript(transferOf device: Int) -> Transfer? {
    @inline(__always) unsafeAddress { transfers.address(lines[device].place) }
    @inline(__always) unsafeMutableAddress {
      precondition(lines[device].place > 0, "device \(device) has no request under way")
      return transfers.mutableAddress(lines[device].place)
    }
  }

  /// Adds a device with its links.
  mutating func append(_ links: Links) { lines.append(Line(links: links)) }

  /// A device begins a request; its first plan has the number of the request.
  mutating func open(_ transfer: Transfer, of device: Int) {
    precondition(lines[device].place == 0, "one request at a time")
    lines[device].place = transfers.insert(transfer)
  }

  /// A device's request is over.
  mutating func close(_ device: Int) -> Transfer {
    let place = lines[device].place
    lines[device].place = 0
    return transfers.remove(place)
  }

  /// Puts what was saved in place of what was made from the same inputs, but for what no archive
  /// holds.
  mutating func restore(_ saved: DeviceNetwork) {
    let service = accounts.service
    var lines = lines
    self = saved
    for device in lines.indices {
      let links = lines[device].links
      lines[device] = saved.lines[device]
      lines[device].links = links
    }
    self.lines = lines
    accounts.service = service
  }

  /// Moves what there will be of each device into its row.
  mutating func move(to rows: DeviceRows) { lines.move(to: rows) }

  /// Asks for the memory of a device's request, if it has one under way.
  func prefetchTransfer(_ device: Int) { transfers.prefetch(lines[device].place) }
}

extension DeviceNetwork {
  // MARK: What the server does to a request that is still under way

  /// Whether a device still waits for the answer of a request.
  private func isUnderWay(_ request: UInt32, of device: Int) -> Bool {
    self[transferOf: device]?.id == request
  }

  /// The connection is held open until a cohort is formed.
  mutating func hold(_ request: UInt32, of device: Int) {
    if isUnderWay(request, of: device) { self[transferOf: device]!.isHeld = true }
  }

  /// The request waits for a worker of the server, or no longer does.
  mutating func setQueued(_ isQueued: Bool, _ request: UInt32, of device: Int) {
    if isUnderWay(request, of: device) { self[transferOf: device]!.isQueued = isQueued }
  }

  /// The answer comes when an aggregation is over.
  mutating func owe(_ request: UInt32, of device: Int) {
    if isUnderWay(request, of: device) { self[transferOf: device]!.isOwed = true }
  }

  /// How the sender of a message over a stream waits; nil: it does not, or no longer.
  func streamWait(_ request: UInt32, of device: Int) -> StreamWait? {
    isUnderWay(request, of: device) ? self[transferOf: device]!.wait : nil
  }

  /// Parameters travel with the answer.
  mutating func lend(_ model: ParameterBuffer, to request: UInt32, of device: Int) {
    if isUnderWay(request, of: device) { self[transferOf: device]!.body = model }
  }
}
