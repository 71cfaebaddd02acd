import Numerics

extension Service {
  /// Makes what the settings ask for.
  static func makeService(_ server: inout Server, _ cx: inout Context) {
    guard let settings = cx.inputs.server.service else { return }
    server.service.settings = settings
    server.service.timeKeys = cx.inputs.fleet.map {
      StreamKey(seed: cx.inputs.seeds.policy, purpose: "service", group: $0.name)
    }
    server.service.came = Array(repeating: 0, count: cx.members.count)
    server.service.latest = Array(repeating: -1, count: cx.members.count)
  }

  /// What cannot be in the server's queue.
  static func serviceImpossibilities(
    _ server: borrowing Server, _ cx: borrowing Context
  ) -> [String] {
    guard let settings = server.service.settings else { return [] }
    var found: [String] = []
    let tallies = server.service.tallies
    if tallies.requests != tallies.served + tallies.lost + server.service.requests.living {
      found.append("a request has vanished from the server's queue")
    }
    if server.service.busy + server.service.waiting != server.service.requests.living {
      found.append("the server's count of busy workers is wrong")
    }
    if server.service.busy > settings.workers
      || server.service.waiting > 0 && server.service.busy < settings.workers
    {
      found.append("a worker is idle while a request waits, or serves two requests")
    }
    if !cx.network.server.isReachable, server.service.requests.living > 0 {
      found.append("a request waits at a server that is down")
    }
    for device in cx.members.indices where cx.network[transferOf: device]?.isQueued == true {
      let id = cx.network[transferOf: device]!.id
      var number = server.service.latest[device]
      while number >= 0, server.service.requests[number].generation != id {
        number = server.service.requests[number].before
      }
      if number < 0 {
        found.append(
          "\(Roster.path(of: device, cx)) waits for an answer, but is in no queue")
      }
    }
    return found
  }
}
