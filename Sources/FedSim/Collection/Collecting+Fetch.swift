/// Sessions of devices that collect raw data.
enum Collecting {
  /// The version that the server has for a device; 0: none.
  static func servedVersion(of model: Int, to device: Int, _ cx: borrowing Context) -> Int32 {
    guard cx.collection.models[model].scope == .user else {
      return cx.collection.models[model].version
    }
    let user = cx.collection.collectors[device].user
    return cx.collection.collectors[device].own.first { $0.model == model && $0.user == user }?
      .version
      ?? 0
  }

  /// Fetches the next model, if it is time for it.
  static func fetchNext(_ device: Int, _ place: Int, _ devices: inout Devices, _ cx: inout Context)
  {
    guard let settings = collection(of: device, cx).fetch,
      place < cx.collection.collectors[device].models.count
    else {
      cx.collection.collectors[device].stage = .done
      return
    }
    cx.collection.collectors[device].stage = .fetch(place + 1)
    let state = cx.collection.collectors[device].models[place]
    guard state.nextFetch <= cx.now, cx.network[device].isConnected else { return }
    let model = cx.collection.fetched[cx.members.group(of: device)][place]
    if state.hasFile, collection(of: device, cx).mode == .asCoded {
      // A download to where a file is fails before it begins.
      cx.collection.collectors[device].models[place].nextFetch = cx.now + settings.every
      return fetchFailed(device, model, &cx)
    }
    let request = CentralRequest.model(Int32(model))
    Requesting.startRequest(
      device, .central(request), .central(request), bytes: cx.inputs.server.messageBytes, &devices,
      &cx)
  }

  /// A model was not fetched.
  static func fetchFailed(_ device: Int, _ model: Int, _ cx: inout Context) {
    cx.collection.tallies.failedFetches += 1
    cx.note(device, .central(.fetchFailed(model: model)))
  }

  /// A model's file has come: it is compiled.
  static func modelFetched(
    _ device: Int, _ model: Int, _ version: Int32, _ cx: inout Context
  ) {
    guard let settings = collection(of: device, cx).fetch,
      let place = cx.collection.fetched[cx.members.group(of: device)].firstIndex(of: model)
    else { return }
    cx.collection.tallies.fetches += 1
    cx.collection.collectors[device].models[place].hasFile = true
    cx.collection.collectors[device].models[place].nextFetch = cx.now + settings.every
    cx.collection.collectors[device].compiling = .init(
      model: place, version: version, until: cx.now + settings.compile)
    finishCompiling(device, &cx)
  }

  /// What was compiled long enough is in use.
  static func finishCompiling(_ device: Int, _ cx: inout Context) {
    guard let compiling = cx.collection.collectors[device].compiling, compiling.until <= cx.now
    else {
      return
    }
    let (place, version) = (compiling.model, compiling.version)
    cx.collection.collectors[device].compiling = nil
    let settings = collection(of: device, cx)
    if settings.fetch?.removesFile ?? (settings.mode == .asDocumented) {
      cx.collection.collectors[device].models[place].hasFile = false
    }
    let before = cx.collection.collectors[device].models[place].inUse
    cx.collection.collectors[device].models[place].inUse = version
    let model = cx.collection.fetched[cx.members.group(of: device)][place]
    cx.note(device, .central(.inUse(model: model, version: Int(version))))
    guard version != before else { return }
    let row = cx.collection.models[model].places[Int(version) - 1]
    cx.collection.versions[row].adoptions += 1
    cx.collection.versions[row].adoptionTime =
      cx.collection.versions[row].adoptionTime + (cx.now - cx.collection.versions[row].publishedAt)
  }

  /// The size of a model on the wire.
  static func bytes(ofModel model: Int32, _ cx: borrowing Context) -> Int64 {
    Int64(cx.collection.models[Int(model)].task.network.layout.count)
      * Int64(cx.inputs.server.bytesPerParameter)
  }
}
