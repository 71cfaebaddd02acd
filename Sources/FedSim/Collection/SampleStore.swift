/// The store that raw data are sent to.
enum SampleStore {
  /// The store acts on a request that has reached it.
  static func serve(
    _ device: Int, _ generation: UInt32, _ request: CentralRequest, _ cx: inout Context
  ) {
    switch request {
    case .file(let file):
      if cx.collection.files[file].createdAt > cx.collection.collectors[device].filesRefusedUntil {
        store(file, &cx)
      }
      Requests.answer(device, generation, .central(.kept), &cx)
    case .item(let file):
      if cx.collection.files[file].createdAt > cx.collection.collectors[device].itemsRefusedUntil {
        storeItem(file, &cx)
      }
      Requests.answer(device, generation, .central(.kept), &cx)
    case .model(let model):
      let version = Collecting.servedVersion(of: Int(model), to: device, cx)
      Requests.answer(
        device, generation, .central(version > 0 ? .model(model, version: version) : .noModel), &cx)
    case .remove(let scope):
      removeByName(device, scope, &cx)
    }
  }

  /// Puts a file into the store; another one of its name goes.
  private static func store(_ file: Int32, _ cx: inout Context) {
    let device = Int(cx.collection.files[file].device)
    guard !cx.collection.files[file].inStore.isThere else {
      return cx.collection.tallies.repeatedFiles += 1
    }
    let (user, second) = (cx.collection.files[file].user, cx.collection.files[file].second)
    for old in cx.collection.collectors[device].stored
    where cx.collection.files[old].user == user && cx.collection.files[old].second == second {
      cx.collection.tallies.overwrittenFiles += 1
      unstore(old, .overwritten, &cx)
    }
    cx.collection.files[file].inStore.isThere = true
    cx.collection.files[file].inStore.since = cx.now
    cx.collection.collectors[device].stored.append(file)
    cx.collection.collectors[device].counts.stored += 1
    cx.collection.store.append(file)
    cx.note(device, .central(.stored(file: Int(file))))
    countNew(file, &cx)
  }

  /// A file is in the store no more.
  private static func unstore(
    _ file: Int32, _ outcome: FileOutcome, _ cx: inout Context
  ) {
    let device = Int(cx.collection.files[file].device)
    uncountNew(file, &cx)
    cx.collection.files[file].inStore.isThere = false
    cx.collection.files[file].fallback = outcome
    cx.collection.collectors[device].stored.removeAll { $0 == file }
    SampleFiles.settle(file, &cx)
  }

  /// Puts metadata into the store; another item of the same keys goes.
  private static func storeItem(_ file: Int32, _ cx: inout Context) {
    let record = cx.collection.files[file]
    let device = Int(record.device)
    cx.collection.tallies.items += 1
    cx.note(device, .central(.itemStored(file: Int(file))))
    let item = Collector.Item(
      user: record.user, second: record.second, file: file, createdAt: record.createdAt)
    if let place = cx.collection.collectors[device].items.firstIndex(where: {
      $0.user == item.user && $0.second == item.second
    }) {
      if cx.collection.collectors[device].items[place].file != file {
        cx.collection.tallies.overwrittenItems += 1
      }
      cx.collection.collectors[device].items[place] = item
    } else {
      cx.collection.collectors[device].items.append(item)
    }
    for stored in cx.collection.collectors[device].stored
    where cx.collection.files[stored].user == item.user
      && cx.collection.files[stored].second == item.second
    {
      countNew(stored, &cx)
    }
  }

  /// Whether there is an item with a file's keys.
  static func hasItem(_ file: Int32, _ cx: borrowing Context) -> Bool {
    let (user, second) = (cx.collection.files[file].user, cx.collection.files[file].second)
    return cx.collection.collectors[Int(cx.collection.files[file].device)].items.contains {
      $0.user == user && $0.second == second
    }
  }

  // MARK: Samples that are new to models

  /// A stored file may be read: its samples are new to the models that it is for.
  private static func countNew(_ file: Int32, _ cx: inout Context) {
    guard let settings = cx.inputs.server.central, !cx.collection.files[file].inStore.isCounted
    else {
      return
    }
    if settings.requiresMetadata, !hasItem(file, cx) { return }
    cx.collection.files[file].inStore.isCounted = true
    addNew(file, Int(cx.collection.files[file].count), &cx)
    guard let wanted = settings.samples else { return }
    for model in models(of: file, cx)
    where cx.collection.models[model].newSamples >= wanted {
      CentralTraining.beginCentralTraining(model, isDue: false, &cx)
    }
  }

  private static func uncountNew(_ file: Int32, _ cx: inout Context) {
    guard cx.collection.files[file].inStore.isCounted else { return }
    cx.collection.files[file].inStore.isCounted = false
    addNew(file, -Int(cx.collection.files[file].count), &cx)
  }

  private static func addNew(
    _ file: Int32, _ samples: Int, _ cx: inout Context
  ) {
    for model in models(of: file, cx)
    where cx.collection.files[file].inStore.readBy >> UInt64(model) & 1 == 0 {
      cx.collection.models[model].newSamples += samples
    }
  }

  /// The models that a file is for.
  static func models(of file: Int32, _ cx: borrowing Context) -> [Int] {
    let record = cx.collection.files[file]
    return cx.collection.objects[cx.members.group(of: Int(record.device))][Int(record.object)]
  }

  // MARK: Erasure

  /// A person has all that was collected of them erased.
  static func eraseCollected(
    _ device: Int, _ scope: Erasure, _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.note(device, .erased(scope))
    if Collecting.collection(of: device, cx).mode == .asCoded {
      guard cx.network[device].isConnected else { return cx.collection.tallies.failedErasures += 1 }
      cx.network[device].generation += 1
      return cx.schedule(
        .arrival(
          device: Int32(device), generation: cx.network[device].generation,
          .central(.remove(scope))),
        .serverArrival, at: cx.now + cx.network[device].rates.oneWay, by: device)
    }
    if scope.coversFiles {
      for file in cx.collection.collectors[device].kept {
        SampleFiles.giveUp(device, file, .erased, &cx)
      }
      if case .central(.file) = cx.network[transferOf: device]?.purpose {
        Requesting.giveUpTransfer(device, &devices, &cx)
      }
    }
    if scope.coversMetadata {
      cx.collection.collectors[device].current = -1
      if case .central(.item) = cx.network[transferOf: device]?.purpose {
        Requesting.giveUpTransfer(device, &devices, &cx)
      }
    }
    if scope == .all { SampleFiles.clearData(device, &cx) }
    Erasing.oweErasure(device, scope, &cx)
    if devices[device].session != nil { Session.proceed(device, &devices, &cx) }
  }

  /// The store hears of an erasure: what was made until then is gone, and so is what comes of it.
  static func removeStored(
    _ device: Int, _ scope: Erasure, until time: SimTime, _ cx: inout Context
  ) {
    let user = cx.collection.collectors[device].user
    if scope.coversMetadata {
      cx.collection.collectors[device].itemsRefusedUntil = time
      let before = cx.collection.collectors[device].items.count
      cx.collection.collectors[device].items.removeAll { $0.user == user && $0.createdAt <= time }
      cx.collection.tallies.erasedItems += before - cx.collection.collectors[device].items.count
      if cx.inputs.server.central?.requiresMetadata == true {
        for file in cx.collection.collectors[device].stored where !hasItem(file, cx) {
          uncountNew(file, &cx)
        }
      }
    }
    guard scope.coversFiles else { return }
    cx.collection.collectors[device].filesRefusedUntil = time
    for file in cx.collection.collectors[device].stored
    where cx.collection.files[file].user == user && cx.collection.files[file].createdAt <= time {
      cx.collection.tallies.erasedFiles += 1
      unstore(file, .erased, &cx)
    }
  }

  /// What the code removes: of what is in the store now, the first thousand files whose names
  /// begin with the user's; its request for metadata is one that the database refuses.
  ///
  /// Order: by name, as the store lists them. Source: SwiftyForesight, `CloudManager`.
  private static func removeByName(
    _ device: Int, _ scope: Erasure, _ cx: inout Context
  ) {
    if scope.coversMetadata { cx.collection.tallies.failedErasures += 1 }
    guard scope.coversFiles else { return }
    let prefix = userID(of: device, user: cx.collection.collectors[device].user, cx)
    var found: [(name: String, file: Int32)] = []
    for other in cx.members.indices {
      for file in cx.collection.collectors[other].stored {
        let name = fileName(of: file, cx)
        if name.hasPrefix(prefix) { found.append((name, file)) }
      }
    }
    found.sort { ($0.name, $0.file) < ($1.name, $1.file) }
    for (_, file) in found.prefix(1000) {
      cx.collection.tallies.erasedFiles += 1
      if Int(cx.collection.files[file].device) != device {
        cx.collection.tallies.erasedOfOthers += 1
      }
      unstore(file, .erased, &cx)
    }
  }

  // MARK: Names

  /// What a device's user is called.
  static func userID(
    of device: Int, user: Int32, _ cx: borrowing Context
  ) -> String {
    Roster.path(of: device, cx).replacing("/", with: "-")
      + (user == 0 ? "" : "-\(user + 1)")
  }

  /// The name of a file on the device and in the store.
  static func fileName(of file: Int32, _ cx: borrowing Context)
    -> String
  {
    let record = cx.collection.files[file]
    let device = Int(record.device)
    return userID(of: device, user: record.user, cx) + "_"
      + DeviceClock.digits(ofSecond: record.second)
      + (Collecting.collection(of: device, cx).mode == .asCoded ? "_data.csv" : ".csv")
  }
}
