/// Pending requests in the order in which a scan looks at them: refresh first, then by earliest
/// begin, then as submitted. The first two are stored in place, since hardly a device has more.
struct TaskRequests: RandomAccessCollection, Codable {
  private var first: TaskRequest?
  private var second: TaskRequest?
  private var others: [TaskRequest]?

  init() {}

  var startIndex: Int { 0 }
  var endIndex: Int {
    first == nil ? 0 : second == nil ? 1 : 2 + (others?.count ?? 0)
  }

  var count: Int { endIndex }

  /// The earliest begin of the request at a place, alone.
  func earliestBegin(_ place: Int) -> SimTime {
    place == 0
      ? first!.earliestBegin
      : place == 1 ? second!.earliestBegin : others![place - 2].earliestBegin
  }

  subscript(place: Int) -> TaskRequest {
    place == 0 ? first! : place == 1 ? second! : others![place - 2]
  }

  /// Takes a request in place of a pending one with the same identifier.
  mutating func insert(_ request: TaskRequest) {
    remove(request.identifier)
    guard let first else { return first = request }
    if second == nil {
      second = Self.isBefore(request, first) ? first : request
      if Self.isBefore(request, first) { self.first = request }
      return
    }
    var all = Array(self)
    all.insert(request, at: all.firstIndex { Self.isBefore(request, $0) } ?? all.count)
    assign(all)
  }

  /// Whether a new request is looked at before a pending one.
  private static func isBefore(_ request: TaskRequest, _ other: TaskRequest) -> Bool {
    other.kind == request.kind
      ? other.earliestBegin > request.earliestBegin : request.kind == .refresh
  }

  /// A request is used up.
  mutating func remove(_ identifier: Int16) {
    guard contains(where: { $0.identifier == identifier }) else { return }
    guard others != nil else {
      if first!.identifier == identifier { first = second }
      second = nil
      return
    }
    assign(filter { $0.identifier != identifier })
  }

  private mutating func assign(_ all: [TaskRequest]) {
    first = all.first
    second = all.count > 1 ? all[1] : nil
    others = all.count > 2 ? Array(all[2...]) : nil
  }
}
