extension Simulation {
  /// Whether a device collects for central training and trains nothing itself.
  @inline(__always)
  func collects(_ device: Int) -> Bool {
    cx.collection.isOn && cx.collection.collects[Int(devices[device].group)]
  }

  /// What a device's group says of collecting.
  func collection(of device: Int) -> CollectionSettings {
    cx.inputs.fleet[Int(devices[device].group)].collection!
  }

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
      cx.collection.byteWidths = (0...255).map { Self.width(Double($0) / 255) }
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
    planCentralTraining()
  }

  // MARK: Sessions

  /// The app of a device that collects begins to run.
  mutating func beginCollecting(_ device: Int, _ session: Session, soft: SimTime) {
    devices[device].session = session
    if session.kind.isTask { taskBegan(device) }
    if !session.kind.isPoll, !conditionsHold(device) {
      cx.books.tallies.ineligibleSessions += 1
      return endSession(device, .ineligible)
    }
    if cx.features.isOn, let end = disconnection(device) { return endSession(device, end) }
    scheduleExpiries(device, session.generation, soft: soft, hard: session.hard)
    cx.collection.collectors[device].stage = .start
    proceed(device)
  }

  /// Does what comes next in a session of a device that collects, until something is under way.
  ///
  /// Order: failed uploads again, then each data object's file and its metadata, then models.
  mutating func collect(_ device: Int) {
    guard let generation = devices[device].session?.generation else { return }
    finishCompiling(device)
    while let session = devices[device].session, session.generation == generation,
      devices[device].transfer == nil, !session.isPausing, !session.isStuck
    {
      if session.isExpiring { return endExpired(device) }
      if let compiling = cx.collection.collectors[device].compiling {
        return pause(device, for: compiling.until - cx.now, then: .check)
      }
      switch cx.collection.collectors[device].stage {
      case .start: beginRetry(device, session.kind)
      case .retry:
        if cx.collection.collectors[device].queue.isEmpty {
          cx.collection.collectors[device].stage = .object(0)
        } else {
          sendFile(device, cx.collection.collectors[device].queue.removeFirst())
        }
      case .object(let object): formatNext(device, object)
      case .item(let object): sendItem(device, after: object)
      case .fetch(let place): fetchNext(device, place)
      case .done:
        cx.collection.collectors[device].stage = .start
        if group(of: device).participation.repeats, !session.kind.isPoll {
          return rest(device, .completed)
        }
        return endSession(device, .completed)
      }
    }
  }

  /// Sends what failed before, where the app does so in a session of this kind.
  private mutating func beginRetry(_ device: Int, _ kind: SessionKind) {
    cx.collection.collectors[device].stage = .retry
    let settings = collection(of: device)
    let retries =
      settings.retry == .everySession || settings.retry == .onActivation && kind == .activation
    guard retries, !cx.collection.collectors[device].log.isEmpty else { return }
    if cx.collection.collectors[device].isLogCorrupt { return clearLog(device) }
    cx.collection.tallies.retries += 1
    cx.collection.collectors[device].queue = cx.collection.collectors[device].log
    cx.note(device, .central(.retried(files: cx.collection.collectors[device].queue.count)))
    guard settings.mode == .asCoded else { return }
    // The list is written back before any result is known.
    for file in cx.collection.collectors[device].queue {
      cx.collection.files[file].isListed = false
      cx.collection.files[file].isLastTry = true
    }
    cx.collection.collectors[device].log = []
  }

  /// The session of a device that collects ends: what it was at is not done.
  mutating func endCollecting(_ device: Int) {
    for file in cx.collection.collectors[device].queue where cx.collection.files[file].isLastTry {
      forget(file)
    }
    cx.collection.collectors[device].queue = []
    cx.collection.collectors[device].compiling = nil
    cx.collection.collectors[device].stage = .start
  }

  /// The process of the app ends: nobody hears any more how its uploads end.
  mutating func loseCollecting(_ device: Int) {
    guard collection(of: device).mode == .asCoded else { return }
    if case .central(.file(let file)) = devices[device].transfer?.purpose { forget(file) }
  }

  // MARK: Transfers

  /// All bytes of a request to the store are sent.
  mutating func centralLeft(_ request: CentralRequest) {
    switch request {
    case .file(let file): cx.collection.files[file].copiesOnTheWay += 1
    case .item(let file): cx.collection.files[file].itemsOnTheWay += 1
    case .model, .remove: break
    }
  }

  /// A request to the store came to its end, handled or not.
  mutating func centralCame(_ request: CentralRequest) {
    switch request {
    case .file(let file):
      cx.collection.files[file].copiesOnTheWay -= 1
      settle(file)
    case .item(let file):
      cx.collection.files[file].itemsOnTheWay -= 1
      settle(file)
    case .model, .remove: break
    }
  }

  /// A request to the store failed, on its way or by an answer that refuses it.
  mutating func centralFailed(
    _ device: Int, _ request: CentralRequest, _ outcome: TransmissionOutcome
  ) {
    switch request {
    case .file(let file): fileFailed(device, file, outcome)
    case .item(let file): itemFailed(device, file)
    case .model(let model): fetchFailed(device, Int(model))
    case .remove: break
    }
  }

  /// A request to the store was answered.
  mutating func centralAnswered(
    _ device: Int, _ request: CentralRequest, _ response: CentralResponse
  ) {
    switch (request, response) {
    case (.file(let file), _):
      cx.collection.files[file].isSending = false
      cx.collection.files[file].isWanted = false
      unlist(device, file)
      unkeep(device, file)
      settle(file)
    case (.item(let file), _): itemDone(file)
    case (_, .model(let model, let version)): modelFetched(device, Int(model), version)
    case (.model, _), (.remove, _): break
    }
    proceed(device)
  }
}
