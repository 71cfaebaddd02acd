import Numerics

/// Requests that the server has and has not yet handled, where it takes time for each.
///
/// They are numbered as they come, and begun in this order: those from `next` on wait.
struct Service: Codable {
  /// How requests are served; nil: at once, and nothing below is ever looked at.
  @Rebuilt var settings: ServiceSettings? = nil
  /// The keys of service times, by group.
  var timeKeys: [StreamKey] = []
  var requests = SlotMap<ServiceRequest>()
  /// The first request that no worker has begun.
  var next: Int32 = 0
  /// How many workers serve one.
  var busy = 0
  /// How many requests of each device came: the slot of the next one's service time.
  var came: [UInt32] = []
  /// The latest request of each device that is here; −1: none.
  var latest: [Int32] = []
  var tallies = ServiceTallies()

  /// How many requests wait for a worker.
  var waiting: Int { requests.count - Int(next) }

  /// Takes in a request and says its number.
  mutating func add(_ request: ServiceRequest) {
    let device = Int(request.device)
    latest[device] = Int32(requests.count)
    came[device] &+= 1
    requests.append(request)
    tallies.requests += 1
  }

  /// Takes out a request.
  ///
  /// Complexity: O(requests of its device that are here).
  mutating func remove(_ number: Int32) -> ServiceRequest {
    let request = requests[number]
    requests.remove(number)
    if latest[Int(request.device)] == number {
      latest[Int(request.device)] = request.before
      return request
    }
    var later = latest[Int(request.device)]
    while requests[later].before != number { later = requests[later].before }
    requests[later].before = request.before
    return request
  }
}

/// A request from its arrival at the server to its being handled.
struct ServiceRequest: Codable {
  let device: Int32
  let generation: UInt32
  let request: Request
  let cameAt: SimTime
  /// The number of the device's request among its own.
  let slot: UInt32
  /// The device's request before that is still here; −1: none.
  var before: Int32
  /// Whether the device no longer waits for the answer, as far as the server knows.
  var isAbandoned = false
  /// What is heard once it is handled: that the stream which it came over is broken.
  var disconnections: [Request] = []
}

/// Requests that reached a server that takes time for each, counted.
public struct ServiceTallies: Sendable, Equatable, Codable {
  /// Requests that came; each was handled, was lost, or is there at the end.
  public internal(set) var requests = 0
  /// Requests that were handled.
  public internal(set) var served = 0
  /// Requests that were lost as the server went down.
  public internal(set) var lost = 0
  /// Requests that had to wait before a worker began them.
  public internal(set) var delayed = 0
  /// The most requests that ever waited at once.
  public internal(set) var longestQueue = 0
  /// How long requests waited before a worker began them, in all.
  public internal(set) var waited = SimDuration.zero
}

extension ServiceTallies {
  package var named: [(name: String, count: Int, text: String)] {
    [
      ("serviceRequests", requests, "requests that reached the server and needed a worker"),
      ("serviceServed", served, "requests that the server processed"),
      ("serviceLost", lost, "requests lost because the server went down"),
      ("serviceDelayed", delayed, "requests that waited for a worker"),
      ("serviceLongestQueue", longestQueue, "maximum number of requests waiting for a worker"),
    ]
  }
}
