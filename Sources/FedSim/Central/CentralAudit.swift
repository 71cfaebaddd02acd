extension Simulation {
  /// Ends every file that is still open.
  mutating func finishCentral() {
    guard central.isOn else { return }
    for device in devices.indices { central.collectors[device].queue = [] }
    for file in central.files.numbers {
      central.files[file].isSending = false
      central.files[file].isSendingItem = false
      resolve(file: file, central.files[file].isStored ? .unread : .unfinishedAtEnd)
    }
  }

  /// Recounts what is collected and stored, from the state itself; each line is a broken sum.
  ///
  /// Complexity: O(files that live + devices that collect).
  func centralImpossibilities() -> [String] {
    guard central.isOn else { return [] }
    var found: [String] = []
    func expect(_ name: String, _ counted: Int, _ recounted: Int) {
      if counted != recounted { found.append("\(name): counted \(counted), found \(recounted)") }
    }
    let numbers = central.files.numbers
    let open = numbers.filter { central.files[$0].outcome == nil }
    expect("files formatted", central.ledger.opened, central.files.count)
    expect("open files", central.ledger.stillOpen, open.count)
    expect(
      "samples of open files", central.openSamples,
      open.reduce(0) { $0 + Int(central.files[$1].count) })
    var (formatted, taken, bytes, listed, stored) = (0, 0, 0, 0, 0)
    for collector in central.collectors {
      formatted += collector.counts.samples
      taken += collector.taken.reduce(0) { $0 + Int($1) }
      bytes += Int(collector.bytes)
      listed += collector.log.count
      stored += collector.stored.count
    }
    expect(
      "samples formatted", formatted, central.samples.reduce(central.openSamples, +))
    expect("samples taken", taken, formatted + central.tallies.clearedSamples)
    let living = numbers.map { central.files[$0] }
    expect(
      "bytes on disks", bytes, living.reduce(0) { $1.isKept ? $0 + Int($1.bytes) : $0 })
    expect("files in error logs", listed, living.count { $0.isListed })
    expect("files in the store", stored, living.count { $0.isStored })
    for file in open where !cx.isOver {
      let record = central.files[file]
      if !record.isWanted, !record.isSending, record.copiesOnTheWay == 0, !record.isStored {
        found.append("file \(file) is nowhere and has no end")
      }
    }
    for file in numbers where central.files[file].isSending && !cx.isOver {
      let purpose = devices[Int(central.files[file].device)].transfer?.purpose
      if purpose != .central(.file(file)) { found.append("file \(file) is sent by nobody") }
    }
    for model in central.models.indices where cx.inputs.server.central != nil {
      let bit: UInt64 = 1 << UInt64(model)
      let fresh = numbers.filter {
        central.files[$0].isCounted && central.files[$0].readBy & bit == 0
          && models(of: $0).contains(model)
      }
      expect(
        "samples new to model \(model)", central.models[model].newSamples,
        fresh.reduce(0) { $0 + Int(central.files[$1].count) })
    }
    return found
  }

  /// What a device that collects cannot be.
  func collectorImpossibilities(_ device: Int) -> [String] {
    guard collects(device) else { return [] }
    let collector = central.collectors[device]
    var found: [String] = []
    func never(_ isSo: Bool, _ what: String) {
      if isSo { found.append("\(path(of: device)) \(what)") }
    }
    let arrived = arrivedSamples(device)
    never(collector.taken.contains { Int($0) > arrived }, "has formatted what never came")
    never(collector.bytes < 0 || collector.mostBytes < collector.bytes, "counts bytes wrongly")
    never(
      devices[device].attempt != nil || devices[device].run != nil
        || !devices[device].outbox.isEmpty, "collects and trains")
    never(
      collector.log.contains { !central.files[$0].isKept || !central.files[$0].isWanted },
      "logs what it does not have")
    never(devices[device].session == nil && !collector.queue.isEmpty, "sends without a session")
    never(devices[device].session == nil && collector.compiling != nil, "compiles without one")
    return found
  }
}
