extension Simulation {
  /// Makes what the settings ask for.
  mutating func makeCentral() {
    cx.collection.isOn = cx.inputs.fleet.contains { $0.collection != nil }
    guard cx.collection.isOn else { return }
    makeCentralModels()
    let names = cx.collection.models.map(\.task.name)
    cx.collection.collects = cx.inputs.fleet.map { $0.collection != nil }
    for group in cx.inputs.fleet {
      let wanted = group.collection?.models ?? names
      let places = wanted.compactMap { names.firstIndex(of: $0) }
      cx.collection.fetched.append(places)
      let isShared = group.collection?.objects == .shared || places.isEmpty
      cx.collection.objects.append(isShared ? [places] : places.map { [$0] })
    }
    if case .bytes = cx.inputs.task.train.features {
      cx.collection.byteWidths = (0...255).map { SampleFiles.width(Double($0) / 255) }
    }
    for device in devices.indices {
      var collector = Collector()
      let group = Int(devices[device].group)
      if cx.collection.collects[group] {
        collector.taken = Array(repeating: 0, count: cx.collection.objects[group].count)
        collector.models = cx.collection.fetched[group].map { _ in Collector.Model() }
      }
      cx.collection.collectors.append(collector)
    }
    CentralTraining.planCentralTraining(&cx)
  }
}
