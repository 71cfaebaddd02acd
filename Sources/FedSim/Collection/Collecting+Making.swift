import Learning
import Schema

extension Collecting {
  /// Makes what the settings ask for.
  static func makeCentral(_ cx: inout Context) {
    cx.collection.isOn = cx.inputs.fleet.contains { $0.collection != nil }
    guard cx.collection.isOn else { return }
    CentralTraining.makeCentralModels(&cx)
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
    for device in cx.members.indices {
      var collector = Collector()
      let group = cx.members.group(of: device)
      if cx.collection.collects[group] {
        collector.taken = Array(repeating: 0, count: cx.collection.objects[group].count)
        collector.models = cx.collection.fetched[group].map { _ in Collector.Model() }
      }
      cx.collection.collectors.append(collector)
    }
    CentralTraining.planCentralTraining(&cx)
  }
}

extension Collecting {
  /// Recounts what is collected and stored, from the state itself; each line is a broken sum.
  ///
  /// Complexity: O(files that live + devices that collect).
  static func centralImpossibilities(_ cx: Context) -> [String] {
    guard cx.collection.isOn else { return [] }
    var found: [String] = []
    func expect(_ name: String, _ counted: Int, _ recounted: Int) {
      if counted != recounted { found.append("\(name): counted \(counted), found \(recounted)") }
    }
    let numbers = cx.collection.files.numbers
    let open = numbers.filter { cx.collection.files[$0].outcome == nil }
    expect("files formatted", cx.collection.ledger.opened, cx.collection.files.count)
    expect("open files", cx.collection.ledger.stillOpen, open.count)
    expect(
      "samples of open files", cx.collection.openSamples,
      open.reduce(0) { $0 + Int(cx.collection.files[$1].count) })
    var (formatted, taken, bytes, listed, stored) = (0, 0, 0, 0, 0)
    for collector in cx.collection.collectors {
      formatted += collector.counts.samples
      taken += collector.taken.reduce(0) { $0 + Int($1) }
      bytes += Int(collector.bytes)
      listed += collector.log.count
      stored += collector.stored.count
    }
    expect(
      "samples formatted", formatted, cx.collection.samples.reduce(cx.collection.openSamples, +))
    expect("samples taken", taken, formatted + cx.collection.tallies.clearedSamples)
    let living = numbers.map { cx.collection.files[$0] }
    expect(
      "bytes on disks", bytes, living.reduce(0) { $1.isKept ? $0 + Int($1.bytes) : $0 })
    expect("files in error logs", listed, living.count { $0.isListed })
    expect("files in the store", stored, living.count { $0.inStore.isThere })
    for file in open where !cx.isOver {
      let record = cx.collection.files[file]
      if !record.isWanted, !record.isSending, record.copiesOnTheWay == 0, !record.inStore.isThere {
        found.append("file \(file) is in no place and has no outcome")
      }
    }
    for file in numbers where cx.collection.files[file].isSending && !cx.isOver {
      let purpose = cx.network[transferOf: Int(cx.collection.files[file].device)]?.purpose
      if purpose != .central(.file(file)) { found.append("file \(file) is sent by no device") }
    }
    for model in cx.collection.models.indices where cx.inputs.server.central != nil {
      let bit: UInt64 = 1 << UInt64(model)
      let fresh = numbers.filter {
        cx.collection.files[$0].inStore.isCounted
          && cx.collection.files[$0].inStore.readBy & bit == 0
          && SampleStore.models(of: $0, cx).contains(model)
      }
      expect(
        "samples new to model \(model)", cx.collection.models[model].newSamples,
        fresh.reduce(0) { $0 + Int(cx.collection.files[$1].count) })
    }
    return found
  }

  /// What a device that collects cannot be.
  static func collectorImpossibilities(_ device: Int, _ devices: Devices, _ cx: Context) -> [String]
  {
    guard Collecting.collects(device, cx) else { return [] }
    let collector = cx.collection.collectors[device]
    var found: [String] = []
    func never(_ isSo: Bool, _ what: String) {
      if isSo { found.append("\(Roster.path(of: device, cx)) \(what)") }
    }
    let arrived = SampleFiles.arrivedSamples(device, cx)
    never(
      collector.taken.contains { Int($0) > arrived }, "has formatted samples that never arrived")
    never(collector.bytes < 0 || collector.mostBytes < collector.bytes, "counts bytes wrongly")
    never(
      devices[device].attempt != nil || devices[device].run != nil
        || !devices[device].outbox.isEmpty, "collects and trains")
    never(
      collector.log.contains {
        !cx.collection.files[$0].isKept || !cx.collection.files[$0].isWanted
      },
      "logs what it does not have")
    never(devices[device].session == nil && !collector.queue.isEmpty, "sends without a session")
    never(
      devices[device].session == nil && collector.compiling != nil, "compiles without a session")
    return found
  }
}
