/// Who asks for work, who waits, and who is let in.
enum Lobby {
  /// Tells the selector what became of a device, if it wants to know.
  static func tell(_ news: DeviceNews, of device: Int, _ server: inout Server, _ cx: inout Context)
  {
    let selector = cx.inputs.server.selector.value
    guard selector.listens else { return }
    let view = Facts.serverView(server, cx)
    selector.hear(news, from: device, view, &server.memories.selector)
  }

  /// The updates of devices that were held are aggregated, or given up: the devices are answered as
  /// if they had asked now.
  ///
  /// Order: of the fleet.
  static func releaseWaiting(_ devices: inout Devices, _ server: inout Server, _ cx: inout Context)
  {
    var place = 0
    while place < server.waiting.count {
      let held = server.waiting[place]
      guard server.copies[held.device] == 0 else {
        place += 1
        continue
      }
      let request = server.remove(at: place)
      let checkIn = CheckIn(device: held.device, heldVersion: held.heldVersion)
      switch Facts.admission(of: checkIn, &server, &cx) {
      case .accept:
        Facts.letIn(held.device, request.participation, &server, &cx)
        answerCheck(held.device, request.generation, .accepted, &devices, &server, &cx)
      case .reject, .wait:
        answerCheck(held.device, request.generation, .rejected, &devices, &server, &cx)
      }
      cx.participations.letGo(request.participation)
    }
  }
}
