import Learning
import Numerics

extension Simulation {
  /// Ends every entry that is still open, and the open round.
  mutating func finish() {
    cx.isOver = true
    Instructions.giveUpWaitingForModel(&server, &cx)
    Rounds.recordRound(.unfinishedAtEnd, &server, &cx)
    deliver()
    Collecting.finishCentral(&cx)
    Accounting.finishHours(&devices, &cx)
    // Of a run that ended early, too: what its batteries would have given later is not the run's.
    for device in devices.bodies.indices where devices.bodies[device].isThere {
      devices.bodies[device].settle(at: cx.now)
    }
    for device in devices.indices {
      Training.abandonEvaluation(device, &devices, &cx)
      if cx.network[transferOf: device] != nil {
        Accounting.closeTransfer(device, .unfinishedAtEnd, &devices, &cx)
      }
      if let attempt = devices[device].attempt {
        var done = attempt.described
        if let run = devices[device].run {
          done = devices[device].pace.done(run, at: cx.now)
        }
        Accounting.bookStretch(device, &devices, &cx)
        cx.books.book(
          Accounting.effort(of: device, batches: done, devices, cx), of: device,
          .attempt(.unfinishedAtEnd))
        cx.books.ledgers.batchesWasted += done
        cx.books.ledgers.attempts.close(.unfinishedAtEnd)
        devices[device].attempt = nil
        devices[device].run = nil
      }
      devices[device].outbox = []
    }
    for update in cx.updates.numbers where cx.updates.end(update, .unfinishedAtEnd) {
      cx.bookEnd(of: update, .unfinishedAtEnd)
    }
    Heartbeat.finishBeats(&devices, &cx)
    DeviceRecord.closePresence(&devices, &cx)
    cx.computations.settle()
    // What would have come needs no memory any more.
    cx.agenda.clear()
    deliver()
  }

  /// Updates and participations that somebody may still ask for.
  package var livingRecords: Int { cx.updates.living + cx.participations.living }

  /// The current version.
  public var version: Int { Int(server.version) }
  /// The open round.
  public var round: Int { Int(server.round) }
  /// The current model.
  public var model: ParameterBuffer { server.model }
  /// Updates that wait at the server.
  public var pendingCount: Int { server.pending.count }
  /// Devices that are connected now. Complexity: O(devices).
  public var connectedCount: Int { devices.indices.count { cx.network[$0].isConnected } }
  /// Devices on which the app runs now. Complexity: O(devices).
  public var runningCount: Int { devices.all.count { $0.session != nil } }
  /// Devices that train now. Complexity: O(devices).
  public var trainingCount: Int { devices.all.count { $0.run != nil } }

  /// The devices, in the order of the fleet.
  public var deviceRecords: DeviceRecords { DeviceRecords(simulation: self) }

  /// Digest of the batch orders of a device's first `epochs` data epochs.
  public func orderDigest(of device: Int, epochs: Int) -> UInt64 {
    var digest = Digest()
    let order = Training.order(device, firstEpoch: 0, cx)
    for epoch in 0..<epochs {
      for position in order.positions(
        epoch: epoch, shardCount: Int(cx.members.sampleCounts[device]))
      {
        digest.combine(Int64(position))
      }
    }
    return digest.value
  }

  /// Recounts everything that the ledgers count, from the state itself; each line is a broken sum.
  ///
  /// Complexity: O(devices + what lives of updates
  /// and participations).
  public func audit() -> [String] {
    var broken: [String] = []
    func expect(_ name: String, _ counted: Int, _ found: Int) {
      if counted != found { broken.append("\(name): counted \(counted), found \(found)") }
    }
    expect(
      "open attempts", cx.books.ledgers.attempts.stillOpen, devices.all.count { $0.attempt != nil })
    expect(
      "open transmissions", cx.books.ledgers.transmissions.stillOpen,
      devices.indices.count { cx.network[$0].isBusy })
    let numbers = cx.updates.numbers
    let living = numbers.map { cx.updates[$0] }
    expect("open updates", cx.books.ledgers.updates.stillOpen, living.count { $0.outcome == nil })
    expect("updates begun", cx.books.ledgers.updates.opened, cx.updates.count)
    expect(
      "updates made by attempts",
      cx.books.ledgers.attempts[.finished] + cx.books.ledgers.attempts[.submittedPartial]
        + cx.books.exchange.emptyUpdates, cx.books.ledgers.updates.opened)
    for (place, outcome) in UpdateOutcome.allCases.enumerated() {
      expect(
        "updates \(outcome.rawValue)", cx.books.ledgers.updates[outcome],
        cx.updates.settled[place] + living.count { $0.outcome == outcome })
    }
    expect(
      "attempts by device", cx.books.ledgers.attempts.opened,
      cx.books.activity.reduce(0) { $0 + $1.attempts })
    expect(
      "updates by device", cx.books.ledgers.updates.opened,
      cx.books.activity.reduce(0) { $0 + $1.updates })
    expect(
      "bytes sent", Int(cx.books.ledgers.bytesUp),
      cx.books.activity.reduce(0) { $0 + Int($1.bytesUp) })
    let waiting = server.pending.count + (server.underWay?.updates.count ?? 0)
    expect("pending copies", waiting, living.reduce(0) { $0 + $1.copies.pending })
    expect(
      "pending copies by device", waiting, server.copies.reduce(0) { $0 + Int($1) })
    for (update, record) in zip(numbers, living) where record.outcome == nil {
      let isSomewhere =
        record.copies.pending > 0 || record.copies.onTheWay > 0
        || devices[Int(record.device)].outbox.contains(update)
      if !isSomewhere { broken.append("update \(update) is in no place and has no outcome") }
    }
    expect(
      "batches used", cx.books.ledgers.batchesUsed,
      living.reduce(cx.updates.settledBatches) { $0 + $1.batches })
    expect(
      "bytes received", Int(cx.books.ledgers.bytesDown),
      cx.books.activity.reduce(0) { $0 + Int($1.bytesDown) })
    for device in devices.indices { broken += impossibilities(of: device) }
    cx.participations.audit(&broken)
    EffortAudit.auditMeasures(&broken, devices, cx)
    return broken + KnownDialect.exchangeImpossibilities(server, cx)
      + Service.serviceImpossibilities(server, cx)
      + Collecting.centralImpossibilities(cx)
  }
}

/// The records of a run's devices, in the order of the fleet, each made as it is asked for.
public struct DeviceRecords: RandomAccessCollection {
  let simulation: Simulation

  /// 0.
  public var startIndex: Int { 0 }
  /// How many devices there are.
  public var endIndex: Int { simulation.devices.count }

  /// The record of a device by its number in the fleet.
  public subscript(device: Int) -> DeviceRecord {
    DeviceRecord.deviceRecord(device, simulation.devices, simulation.cx)
  }
}
