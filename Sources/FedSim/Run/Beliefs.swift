/// What the server believes of devices by their heartbeats, for its selector where that asks for
/// it. Heartbeats are counted in closed form, so the question is answered when it is asked, and the
/// answer changes nothing.
enum Beliefs {
  /// Before an event in which the selector may be asked: what is believed of the devices that it
  /// may be asked about.
  static func tell(
    before event: Event, _ devices: borrowing Devices, _ server: inout Server, _ cx: inout Context
  ) {
    switch event {
    case .arrival(let device, _, _): tell(Int(device), devices, &server, &cx)
    case .serverTimer(.served(let number)):
      if server.service.requests.contains(number) {
        tell(Int(server.service.requests[number].device), devices, &server, &cx)
      }
    case .serverTimer, .server: break
    default: return
    }
    for checkIn in server.waiting.inOrder() { tell(checkIn.device, devices, &server, &cx) }
  }

  private static func tell(
    _ device: Int, _ devices: borrowing Devices, _ server: inout Server, _ cx: inout Context
  ) {
    let belief = Heartbeat.belief(of: device, devices, cx)
    Facts.believe(belief.presence, battery: belief.battery, of: device, &server)
  }
}
