extension Simulation {
  /// Whether the fleet is so large that most of it is far from the processor.
  var prefetches: Bool { devices.count > 20_000 }

  /// Asks for the memory of the devices that will most likely be next.
  func prefetchNext() {
    let (first, second, third) = queue.comingActors
    for actor in [first, second, third] where actor > 0 {
      let device = Int(actor) - 1
      devices.prefetch(device)
      bodies.prefetch(device)
      apps.prefetch(device)
      queue.prefetch(actor)
    }
  }
}
