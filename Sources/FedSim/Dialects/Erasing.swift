/// Erasure of what a user has sent.
enum Erasing {
  /// A person has all of their updates erased, or what the server remembers, or both: on the device
  /// at once, at the server when it hears of it.
  static func erase(_ device: Int, _ scope: Erasure, _ devices: inout Devices, _ cx: inout Context)
  {
    if Collecting.collects(device, cx) {
      return SampleStore.eraseCollected(device, scope, &devices, &cx)
    }
    cx.note(device, .erased(scope))
    let isTraining = devices[device].isTraining
    if scope.coversFiles {
      BackgroundTransfers.cancel(device, &devices, &cx)
      if case .upload = cx.network[transferOf: device]?.purpose,
        cx.network[transferOf: device]!.wait == nil
      {
        Requesting.giveUpTransfer(device, &devices, &cx)
      }
      for update in devices[device].outbox { cx.leaveDevice(update, .erased) }
      devices[device].outbox = []
    }
    if scope == .all, devices[device].attempt != nil {
      Training.endAttempt(device, .erased, &devices, &cx)
    }
    oweErasure(device, scope, &cx)
    guard devices[device].session != nil else { return }
    if isTraining, scope == .all {
      Session.rest(device, .erased, &devices, &cx)
    } else {
      Session.proceed(device, &devices, &cx)
    }
  }

  /// The server has to hear of an erasure.
  static func oweErasure(
    _ device: Int, _ scope: Erasure, _ cx: inout Context
  ) {
    var region = cx.network.erasures[device]
    region.scope = region.isOwed && region.scope != scope ? .all : scope
    region.askedAt = cx.now
    region.requestsBefore = cx.network[device].generation
    region.isOwed = true
    cx.network.erasures[device] = region
    sendErasure(device, &cx)
  }

  /// Tells the server of an erasure that it has not heard of.
  static func sendErasure(_ device: Int, _ cx: inout Context) {
    guard !cx.network.erasures.isEmpty, cx.network.erasures[device].isOwed,
      cx.network[device].isConnected
    else { return }
    cx.network[device].generation += 1
    cx.schedule(
      .arrival(
        device: Int32(device), generation: cx.network[device].generation, .erase),
      .serverArrival, at: cx.now + cx.network[device].rates.oneWay, by: device)
  }

  /// A request has reached the server, and with it an erasure that was asked for before.
  static func hearErasure(
    _ device: Int, _ generation: UInt32, _ server: inout Server,
    _ cx: inout Context
  ) {
    guard !cx.network.erasures.isEmpty else { return }
    let region = cx.network.erasures[device]
    guard region.isOwed, generation > region.requestsBefore else { return }
    cx.network.erasures[device].isOwed = false
    cx.books.exchange.erasures += 1
    if Collecting.collects(device, cx) {
      return SampleStore.removeStored(device, region.scope, until: region.askedAt, &cx)
    }
    if region.scope.coversMetadata, cx.features.givesKeys { server.lastCycles[device] = 0 }
    guard region.scope.coversFiles else { return }
    cx.network.erasures[device].refusedUntil = region.askedAt
    var kept: [Int32] = []
    var gone: [Int32] = []
    for update in server.pending {
      let isGone =
        Int(cx.updates[update].device) == device && cx.updates[update].createdAt <= region.askedAt
      if isGone { gone.append(update) } else { kept.append(update) }
    }
    server.pending = kept
    for update in gone {
      Inbox.countCopy(update, -1, &server, &cx)
      cx.resolve(update, .erased)
    }
  }

  /// Whether an update that arrives was erased before; then it stays so.
  static func isErased(_ update: Int32, _ cx: borrowing Context)
    -> Bool
  {
    guard !cx.network.erasures.isEmpty else { return false }
    let device = Int(cx.updates[update].device)
    return cx.updates[update].createdAt <= cx.network.erasures[device].refusedUntil
  }
}
