extension Simulation {
  /// Whether the fleet is so large that most of it is far from the processor's cores.
  var prefetches: Bool { devices.count > 2000 }

  /// Asks for the memory of the devices that will most likely be next; of the very next also for
  /// what is found through that memory.
  mutating func prefetchNext() {
    let (first, fresh) = cx.agenda.comingActors()
    for place in 0..<3 where fresh[place] > 0 {
      let device = Int(fresh[place]) - 1
      devices.prefetch(device)
      cx.network.prefetch(device)
      cx.books.activity.prefetch(device)
      cx.agenda.queue.prefetch(fresh[place])
    }
    guard first > 0 else { return }
    let device = Int(first) - 1
    cx.agenda.queue.prefetchEvents(first)
    devices[device].prefetchActiveState()
    cx.network.prefetchTransfer(device)
    cx.world.prefetch(group: Int(devices[device].group), ordinal: Int(devices[device].ordinal))
  }
}
