extension Collecting {
  /// Whether a device collects for central training and trains nothing itself.
  @inline(__always)
  static func collects(_ device: Int, _ cx: borrowing Context) -> Bool {
    guard cx.collection.isOn else { return false }
    return cx.collection.collects[cx.members.group(of: device)]
  }

  /// What a device's group says of collecting.
  static func collection(of device: Int, _ cx: borrowing Context)
    -> CollectionSettings
  {
    cx.inputs.fleet[cx.members.group(of: device)].collection!
  }

  // MARK: Sessions

  /// The app of a device that collects begins to run.
  static func beginCollecting(
    _ device: Int, _ session: Session, soft: SimTime, _ devices: inout Devices, _ cx: inout Context
  ) {
    devices[device].session = session
    if session.kind.isTask { App.taskBegan(device, &devices, &cx) }
    if !session.kind.isPoll, !Surroundings.conditionsHold(device, devices, &cx) {
      cx.books.tallies.ineligibleSessions += 1
      return Session.endSession(device, .ineligible, &devices, &cx)
    }
    if let dialect = cx.dialect(of: devices[device].group),
      let end = dialect.beforeSession(device, &devices, &cx)
    {
      return Session.endSession(device, end, &devices, &cx)
    }
    Session.scheduleExpiries(device, session.generation, soft: soft, hard: session.hard, &cx)
    cx.collection.collectors[device].stage = .start
    Session.proceed(device, &devices, &cx)
  }

  /// Does what comes next in a session of a device that collects, until something is under way.
  ///
  /// Order: failed uploads again, then each data object's file and its metadata, then models.
  static func collect(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let generation = devices[device].session?.generation else { return }
    finishCompiling(device, &cx)
    while let session = devices[device].session, session.generation == generation,
      cx.network[transferOf: device] == nil, !session.isPausing, !session.isStuck
    {
      if session.isExpiring { return Session.endExpired(device, &devices, &cx) }
      if let compiling = cx.collection.collectors[device].compiling {
        return Session.pause(device, for: compiling.until - cx.now, then: .check, &devices, &cx)
      }
      switch cx.collection.collectors[device].stage {
      case .start: beginRetry(device, session.kind, &cx)
      case .retry:
        if cx.collection.collectors[device].queue.isEmpty {
          cx.collection.collectors[device].stage = .object(0)
        } else {
          SampleFiles.sendFile(
            device, cx.collection.collectors[device].queue.removeFirst(), &devices, &cx)
        }
      case .object(let object): SampleFiles.formatNext(device, object, &devices, &cx)
      case .item(let object): SampleFiles.sendItem(device, after: object, &devices, &cx)
      case .fetch(let place): fetchNext(device, place, &devices, &cx)
      case .done:
        cx.collection.collectors[device].stage = .start
        if cx.inputs.fleet[cx.members.group(of: device)].participation.repeats, !session.kind.isPoll
        {
          return Session.rest(device, .completed, &devices, &cx)
        }
        return Session.endSession(device, .completed, &devices, &cx)
      }
    }
  }

  /// Sends what failed before, where the app does so in a session of this kind.
  private static func beginRetry(
    _ device: Int, _ kind: SessionKind, _ cx: inout Context
  ) {
    cx.collection.collectors[device].stage = .retry
    let settings = collection(of: device, cx)
    let retries =
      settings.retry == .everySession || settings.retry == .onActivation && kind == .activation
    guard retries, !cx.collection.collectors[device].log.isEmpty else { return }
    if cx.collection.collectors[device].isLogCorrupt { return SampleFiles.clearLog(device, &cx) }
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
  static func endCollecting(_ device: Int, _ cx: inout Context) {
    for file in cx.collection.collectors[device].queue where cx.collection.files[file].isLastTry {
      SampleFiles.forget(file, &cx)
    }
    cx.collection.collectors[device].queue = []
    cx.collection.collectors[device].compiling = nil
    cx.collection.collectors[device].stage = .start
  }

  /// The process of the app ends: nobody hears any more how its uploads end.
  static func loseCollecting(_ device: Int, _ cx: inout Context) {
    guard collection(of: device, cx).mode == .asCoded else { return }
    if case .central(.file(let file)) = cx.network[transferOf: device]?.purpose {
      SampleFiles.forget(file, &cx)
    }
  }

  // MARK: Transfers

  /// All bytes of a request to the store are sent.
  static func centralLeft(_ request: CentralRequest, _ cx: inout Context) {
    switch request {
    case .file(let file): cx.collection.files[file].copiesOnTheWay += 1
    case .item(let file): cx.collection.files[file].itemsOnTheWay += 1
    case .model, .remove: break
    }
  }

  /// A request to the store ended, handled or not.
  static func centralCame(_ request: CentralRequest, _ cx: inout Context) {
    switch request {
    case .file(let file):
      cx.collection.files[file].copiesOnTheWay -= 1
      SampleFiles.settle(file, &cx)
    case .item(let file):
      cx.collection.files[file].itemsOnTheWay -= 1
      SampleFiles.settle(file, &cx)
    case .model, .remove: break
    }
  }

  /// A request to the store failed, on its way or by an answer that refuses it.
  static func centralFailed(
    _ device: Int, _ request: CentralRequest, _ outcome: TransmissionOutcome,
    _ cx: inout Context
  ) {
    switch request {
    case .file(let file): SampleFiles.fileFailed(device, file, outcome, &cx)
    case .item(let file): SampleFiles.itemFailed(device, file, &cx)
    case .model(let model): fetchFailed(device, Int(model), &cx)
    case .remove: break
    }
  }

  /// A request to the store was answered.
  static func centralAnswered(
    _ device: Int, _ request: CentralRequest, _ response: CentralResponse, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    switch (request, response) {
    case (.file(let file), _):
      cx.collection.files[file].isSending = false
      cx.collection.files[file].isWanted = false
      SampleFiles.unlist(device, file, &cx)
      SampleFiles.unkeep(device, file, &cx)
      SampleFiles.settle(file, &cx)
    case (.item(let file), _): SampleFiles.itemDone(file, &cx)
    case (_, .model(let model, let version)):
      modelFetched(device, Int(model), version, &cx)
    case (.model, _), (.remove, _): break
    }
    Session.proceed(device, &devices, &cx)
  }
}
