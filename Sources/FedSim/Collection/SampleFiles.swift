import Learning
import Numerics

/// Files of samples on a device, from their formatting to their end.
enum SampleFiles {
  // MARK: Formatting

  /// Samples that have reached a device by now.
  static func arrivedSamples(_ device: Int, _ cx: borrowing Context)
    -> Int
  {
    Roster.samples(
      group: cx.members.group(of: device), ordinal: cx.members.ordinal(of: device),
      client: Int(cx.members.clients[device]), at: cx.now, cx)
  }

  /// Samples of a device by their places in the order in which they came.
  static func arrivals(
    _ device: Int, _ places: Range<Int>, _ cx: borrowing Context
  ) -> [Int32] {
    guard !places.isEmpty else { return [] }
    let shard = cx.inputs.task.partition.shards[Int(cx.members.clients[device])]
    guard cx.inputs.fleet[cx.members.group(of: device)].arrival != nil else {
      return Array(shard[places])
    }
    let order = Roster.arrivalOrder(device, cx)
    return places.map { shard[Int(order[$0])] }
  }

  /// Formats what is new to a data object, if it is enough and the app has waited long enough.
  static func formatNext(
    _ device: Int, _ object: Int, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard object < cx.collection.collectors[device].taken.count else {
      cx.collection.collectors[device].stage = .fetch(0)
      return
    }
    cx.collection.collectors[device].stage = .object(object + 1)
    let settings = Collecting.collection(of: device, cx)
    let first = Int(cx.collection.collectors[device].taken[object])
    let arrived = arrivedSamples(device, cx)
    let hasLostData = !devices.identities.isEmpty && devices.identities.devices[device].hasLostData
    guard arrived - first >= settings.minimumSamples, !hasLostData else { return }
    let wait = cx.collection.collectors[device].notBefore
    guard wait <= cx.now else {
      cx.collection.collectors[device].stage = .object(object)
      return Session.pause(device, for: wait - cx.now, then: .check, &devices, &cx)
    }
    let file = format(device, object, first..<arrived, settings, &devices, &cx)
    cx.collection.collectors[device].notBefore = cx.now + settings.spacing
    cx.collection.collectors[device].current = file
    if settings.metadata != nil { cx.collection.collectors[device].stage = .item(object) }
    sendFile(device, file, &devices, &cx)
  }

  /// Writes samples to a new file on the device's disk.
  private static func format(
    _ device: Int, _ object: Int, _ places: Range<Int>, _ settings: CollectionSettings,
    _ devices: inout Devices, _ cx: inout Context
  ) -> Int32 {
    let samples = arrivals(device, places, cx)
    let bytes = cx.collection.csvBytes(samples, settings, of: cx.inputs.task.train)
    let file = Int32(cx.collection.files.count)
    let record = FileRecord(
      device: Int32(device), object: Int32(object), user: cx.collection.collectors[device].user,
      first: Int32(places.lowerBound), count: Int32(places.count), bytes: bytes,
      second: DeviceClock.localSeconds(device, at: cx.now, devices, cx), createdAt: cx.now)
    // A file of the same name is written over.
    for old in cx.collection.collectors[device].kept
    where cx.collection.files[old].second == record.second
      && cx.collection.files[old].user == record.user
    {
      giveUp(device, old, .overwritten, &cx)
    }
    cx.collection.files.append(record)
    cx.collection.ledger.open()
    cx.collection.openSamples += places.count
    cx.collection.collectors[device].taken[object] = Int32(places.upperBound)
    cx.collection.collectors[device].kept.append(file)
    cx.collection.collectors[device].bytes += bytes
    cx.collection.collectors[device].mostBytes = max(
      cx.collection.collectors[device].mostBytes, cx.collection.collectors[device].bytes)
    cx.collection.collectors[device].counts.files += 1
    cx.collection.collectors[device].counts.samples += places.count
    cx.note(
      device, .central(.formatted(file: Int(file), samples: places.count, bytes: bytes)))
    return file
  }

  /// Characters that Swift prints of a number.
  static func width(_ value: Double) -> Int64 { Int64(value.description.utf8.count) }

  // MARK: Uploads

  /// Sends a file, or finds that there is no link.
  static func sendFile(_ device: Int, _ file: Int32, _ devices: inout Devices, _ cx: inout Context)
  {
    guard cx.network[device].isConnected else { return fileFailed(device, file, nil, &cx) }
    cx.collection.files[file].isSending = true
    cx.note(device, .central(.uploadBegan(file: Int(file))))
    let bytes = cx.collection.files[file].bytes.addingReportingOverflow(
      cx.inputs.server.messageBytes)
    Requesting.startRequest(
      device, .central(.file(file)), .central(.file(file)),
      bytes: bytes.overflow ? .max : bytes.partialValue, &devices, &cx)
    App.completeEarly(device, &devices, &cx)
  }

  /// An upload failed: it is in the error log, unless nobody wants it or hears of it.
  static func fileFailed(
    _ device: Int, _ file: Int32, _ outcome: TransmissionOutcome?, _ cx: inout Context
  ) {
    cx.collection.files[file].isSending = false
    cx.collection.tallies.failedUploads += 1
    cx.collection.collectors[device].counts.failed += 1
    cx.note(device, .central(.uploadFailed(file: Int(file), outcome)))
    guard cx.collection.files[file].isWanted else { return settle(file, &cx) }
    if cx.collection.files[file].isLastTry { return forget(file, &cx) }
    if cx.collection.collectors[device].isLogCorrupt {
      clearLog(device, &cx)
      return giveUp(device, file, .cleared, &cx)
    }
    if !cx.collection.files[file].isListed {
      cx.collection.files[file].isListed = true
      cx.collection.collectors[device].log.append(file)
    }
    guard let limit = Collecting.collection(of: device, cx).clearAbove else { return }
    var bytes: Int64 = 0
    for listed in cx.collection.collectors[device].log {
      bytes += cx.collection.files[listed].bytes
    }
    if bytes > limit { clearLog(device, &cx) }
  }

  /// No list names a file any more: it stays on the disk.
  static func forget(_ file: Int32, _ cx: inout Context) {
    cx.collection.files[file].isWanted = false
    cx.collection.files[file].isLastTry = false
    cx.collection.files[file].fallback = .forgotten
    settle(file, &cx)
  }

  /// A file leaves the disk and the error log, and is not sent again.
  static func giveUp(_ device: Int, _ file: Int32, _ outcome: FileOutcome, _ cx: inout Context) {
    cx.collection.files[file].isWanted = false
    cx.collection.files[file].fallback = outcome
    cx.collection.collectors[device].queue.removeAll { $0 == file }
    unlist(device, file, &cx)
    unkeep(device, file, &cx)
    settle(file, &cx)
  }

  /// A file is in the error log no more.
  static func unlist(_ device: Int, _ file: Int32, _ cx: inout Context) {
    guard cx.collection.files[file].isListed else { return }
    cx.collection.files[file].isListed = false
    cx.collection.collectors[device].log.removeAll { $0 == file }
  }

  /// A file is on the disk no more.
  static func unkeep(_ device: Int, _ file: Int32, _ cx: inout Context) {
    guard cx.collection.files[file].isKept else { return }
    cx.collection.files[file].isKept = false
    cx.collection.collectors[device].bytes -= cx.collection.files[file].bytes
    cx.collection.collectors[device].kept.removeAll { $0 == file }
  }

  /// The app clears its error log and the files in it.
  static func clearLog(_ device: Int, _ cx: inout Context) {
    let files = cx.collection.collectors[device].log
    cx.collection.tallies.clearedLogs += 1
    cx.collection.collectors[device].isLogCorrupt = false
    cx.note(device, .central(.logCleared(files: files.count)))
    for file in files { giveUp(device, file, .cleared, &cx) }
  }

  /// The app throws away what it has and has not formatted.
  static func clearData(_ device: Int, _ cx: inout Context) {
    let arrived = Int32(arrivedSamples(device, cx))
    var cleared = 0
    for object in cx.collection.collectors[device].taken.indices {
      cleared += Int(max(0, arrived - cx.collection.collectors[device].taken[object]))
      cx.collection.collectors[device].taken[object] = max(
        arrived, cx.collection.collectors[device].taken[object])
    }
    cx.collection.tallies.clearedSamples += cleared
    cx.note(device, .central(.dataCleared(samples: cleared)))
  }

  /// All that the app has on the device is lost.
  static func loseCollected(
    _ device: Int, _ outcome: FileOutcome, _ cx: inout Context
  ) {
    for file in cx.collection.collectors[device].kept { giveUp(device, file, outcome, &cx) }
    cx.collection.collectors[device].isLogCorrupt = false
    for model in cx.collection.collectors[device].models.indices {
      cx.collection.collectors[device].models[model] = Collector.Model()
    }
    if Collecting.collection(of: device, cx).userID == .userDefaults {
      cx.collection.collectors[device].user += 1
    }
  }

  // MARK: Metadata

  /// Sends the metadata of the file that was formatted last; it is not tried again.
  static func sendItem(
    _ device: Int, after object: Int, _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.collection.collectors[device].stage = .object(object + 1)
    let file = cx.collection.collectors[device].current
    // What was erased meanwhile has no metadata.
    guard file >= 0, cx.collection.files.contains(file) else { return }
    guard cx.network[device].isConnected else { return itemFailed(device, file, &cx) }
    let bytes = (Collecting.collection(of: device, cx).metadata?.bytes ?? 0)
      .addingReportingOverflow(
        cx.inputs.server.messageBytes)
    cx.collection.files[file].isSendingItem = true
    Requesting.startRequest(
      device, .central(.item(file)), .central(.item(file)),
      bytes: bytes.overflow ? .max : bytes.partialValue, &devices, &cx)
  }

  /// Metadata was not sent: no list keeps it.
  static func itemFailed(_ device: Int, _ file: Int32, _ cx: inout Context) {
    cx.collection.tallies.failedItems += 1
    cx.note(device, .central(.itemFailed(file: Int(file))))
    itemDone(file, &cx)
  }

  /// The device has done with the metadata of a file.
  static func itemDone(_ file: Int32, _ cx: inout Context) {
    cx.collection.files[file].isSendingItem = false
    settle(file, &cx)
  }

  // MARK: The end of a file

  /// A file ends where nobody has it or will send it; its record goes where nobody asks for it.
  static func settle(_ file: Int32, _ cx: inout Context) {
    guard cx.collection.files.contains(file) else { return }
    let record = cx.collection.files[file]
    guard !record.isWanted, !record.isSending, record.copiesOnTheWay == 0, !record.inStore.isThere
    else {
      return
    }
    if record.outcome == nil { resolve(file: file, record.fallback, &cx) }
    guard !record.isKept, !record.isSendingItem, record.itemsOnTheWay == 0 else { return }
    cx.collection.files.remove(file)
  }

  /// A file ends, once.
  static func resolve(file: Int32, _ outcome: FileOutcome, _ cx: inout Context) {
    guard cx.collection.files[file].outcome == nil else { return }
    cx.collection.files[file].outcome = outcome
    let (device, count) = (
      Int(cx.collection.files[file].device), Int(cx.collection.files[file].count)
    )
    cx.collection.ledger.close(outcome)
    cx.collection.samples[FileOutcome.allCases.firstIndex(of: outcome)!] += count
    cx.collection.openSamples -= count
    if outcome == .trained { cx.collection.collectors[device].counts.trained += 1 }
    cx.note(device, .central(.ended(file: Int(file), outcome)))
  }
}

extension SampleFiles {
  /// A scripted event of an app that collects; false where it found nothing to act on.
  static func injectCollection(
    _ action: InjectionSettings.Verb, _ device: Int, _ cx: inout Context
  ) -> Bool {
    guard Collecting.collects(device, cx) else { return false }
    switch action {
    case .clearData: clearData(device, &cx)
    case .clearErrorLogs: clearLog(device, &cx)
    case .corruptErrorLogs:
      guard Collecting.collection(of: device, cx).mode == .asCoded else { return false }
      cx.collection.collectors[device].isLogCorrupt = true
    case .launch, .expire, .kill, .dropLink, .throw, .submit, .forceQuit, .open, .reinstall,
      .reboot, .erase, .poison, .reconnect, .wrongURL:
      return false
    }
    return true
  }
}
