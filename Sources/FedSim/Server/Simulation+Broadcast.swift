extension Simulation {
  /// Tells the selector what became of a device, if it wants to know.
  mutating func tell(_ news: DeviceNews, of device: Int) {
    let selector = inputs.server.selector.value
    guard selector.needs.contains(.news) else { return }
    let view = serverView
    selector.hear(news, from: device, view, with: &server.memories.selector)
  }

  /// The updates of devices that were held are aggregated, or given up: the devices are answered as
  /// if they had asked now.
  ///
  /// Order: of the fleet.
  mutating func releaseWaiting() {
    var place = 0
    while place < server.waiting.count {
      let held = server.waiting[place]
      guard devices[held.device].pendingCopies == 0 else {
        place += 1
        continue
      }
      let request = server.remove(at: place)
      let checkIn = CheckIn(device: held.device, heldVersion: held.heldVersion)
      switch admission(of: checkIn) {
      case .accept:
        letIn(held.device, request.participation)
        answerCheck(held.device, request.generation, .accepted)
      case .reject, .wait:
        answerCheck(held.device, request.generation, .rejected)
      }
      letGo(request.participation)
    }
  }
}
