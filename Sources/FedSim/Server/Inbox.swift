import Numerics

/// Updates that reach the server.
enum Inbox {
  /// An update arrives: it is rejected, or waits, or completes an aggregation; over a stream it has
  /// no receipt.
  static func receive(
    _ device: Int, _ generation: UInt32, _ update: Int32, isAnswered: Bool,
    _ server: inout Server, _ cx: inout Context
  ) {
    cx.note(device, .arrived(update: Int(update)))
    cx.participations.reach(cx.updates[update].participation, .delivered)
    let isKnown = cx.updates.deliver(update)
    cx.updates.log?.receive(update, at: cx.now, version: server.version)
    if isKnown { cx.books.tallies.repeatedDeliveries += 1 }
    if !isKnown { Facts.noteDelivered(update, &server, &cx) }
    Lobby.tell(.delivered, of: device, &server, &cx)
    if cx.inputs.program != nil {
      cx.features.serverDialect!.onUpdate(update, &server, &cx)
    }
    let wasAggregating = server.underWay != nil
    let status = admit(update, isKnown: isKnown, &server, &cx)
    guard isAnswered else { return }
    // Most often nothing is under way, and then `isBlocked` need not take a copy of everything.
    if !wasAggregating, server.underWay != nil, Aggregating.isBlocked(server, cx) {
      // The aggregation that it began is part of its handling.
      server.underWay!.owed = .init(device: device, generation: generation, update: update)
      cx.network.owe(generation, of: device)
      return
    }
    answerReceipt(device, generation, update, status, &server, &cx)
  }

  /// Answers an update: with its outcome until now unless another answer is given.
  static func answerReceipt(
    _ device: Int, _ generation: UInt32, _ update: Int32, _ status: Receipt.Status?,
    _ server: inout Server, _ cx: inout Context
  ) {
    Requests.answer(
      device, generation,
      .receipt(
        Receipt(
          status: status ?? Self.status(of: update, cx), newVersion: server.version,
          pendingCount: Int32(server.pending.count))), &cx)
  }

  private static func admit(
    _ update: Int32, isKnown: Bool, _ server: inout Server,
    _ cx: inout Context
  ) -> Receipt.Status {
    // Field by field: a record is large.
    let (device, base) = (cx.updates[update].device, cx.updates[update].base)
    let duplicates = cx.inputs.server.duplicates
    if isKnown, duplicates != .append {
      return status(of: update, cx)
    }
    if !cx.network.server.believesOnline, cx.inputs.server.whileOffline == .drop {
      cx.resolve(update, .refusedOffline)
      return .offline
    }
    if cx.features.isOn, Erasing.isErased(update, cx) {
      cx.resolve(update, .erased)
      return .rejected
    }
    if Facts.isLate(update, server, cx) {
      cx.resolve(update, .rejectedLate)
      if cx.features.givesKeys { cx.books.exchange.lateReports += 1 }
      return cx.features.givesKeys ? .pending : .rejected
    }
    if cx.features.isOn, LayoutDialect.isOfOldLayout(update, server, cx) {
      cx.resolve(update, .rejectedStale)
      return .rejected
    }
    if let limit = cx.inputs.server.maximumStaleness, Int(server.version - base) > limit {
      cx.resolve(update, .rejectedStale)
      return .rejected
    }
    // Most devices have nothing else there, and then nobody looks.
    let hasOthers =
      server.copies[Int(device)] > Int32(cx.updates[update].copies.pending)
    let rival =
      !hasOthers
      ? nil
      : server.pending.firstIndex {
        $0 != update && cx.updates[$0].device == device
          && cx.updates[$0].base == base && Installation.isSameInstallation($0, update, cx)
      }
    if rival != nil, duplicates == .ignore {
      cx.resolve(update, .rejectedDuplicate)
      return .rejected
    }
    if let rival, duplicates == .replace {
      let old = server.pending.remove(at: rival)
      countCopy(old, -1, &server, &cx)
      cx.resolve(old, .replaced)
    }
    server.pending.append(update)
    countCopy(update, 1, &server, &cx)
    server.pendingPeak = max(server.pendingPeak, server.pending.count)
    cx.participations.reach(cx.updates[update].participation, .admitted)
    if let training = cx.updates[update].training { cx.computations.prefetch(training) }
    Rounds.decide(.arrival, &server, &cx)
    return status(of: update, cx)
  }

  /// One copy of an update more, or one fewer, waits at the server.
  static func countCopy(_ update: Int32, _ change: Int, _ server: inout Server, _ cx: inout Context)
  {
    cx.updates.countCopy(update, change)
    server.copies[Int(cx.updates[update].device)] += Int32(change)
  }

  /// What a receipt says of an update that the server has had.
  private static func status(of update: Int32, _ cx: borrowing Context) -> Receipt.Status {
    if cx.updates[update].copies.pending > 0 {
      return cx.network.server.believesOnline ? .pending : .offline
    }
    return cx.updates[update].outcome == .aggregated ? .aggregated : .rejected
  }
}
