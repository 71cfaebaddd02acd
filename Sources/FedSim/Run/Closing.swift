/// The end of a run: everything that is still open gets its outcome.
enum Closing {
  /// The open round, if any, was not complete.
  static func closeRound(_ server: inout Server, _ cx: inout Context) {
    cx.isOver = true
    Instructions.giveUpWaitingForModel(&server, &cx)
    Rounds.recordRound(.unfinishedAtEnd, &server, &cx)
  }

  /// Ends every entry that is still open. Complexity: O(devices + what lives of updates).
  static func closeBooks(_ devices: inout Devices, _ cx: inout Context) {
    Collecting.finishCentral(&cx)
    Accounting.finishHours(&devices, &cx)
    // Of a run that ended early, too: what its batteries would have given later is not the run's.
    for device in devices.bodies.indices where devices.bodies[device].isThere {
      devices.bodies[device].settle(at: cx.now)
    }
    for device in devices.indices {
      Training.abandonEvaluation(device, &devices, &cx)
      if cx.network[transferOf: device] != nil {
        let isTaken = Streams.isTaken(device, cx)
        Accounting.closeTransfer(
          device, isTaken ? .delivered : .unfinishedAtEnd, &devices, &cx)
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
    cx.network.handedOver = []
    for update in cx.updates.numbers where cx.updates.end(update, .unfinishedAtEnd) {
      cx.bookEnd(of: update, .unfinishedAtEnd)
    }
    Heartbeat.finishBeats(&devices, &cx)
    Membership.closePresence(&devices, &cx)
    cx.computations.settle()
    // What would have come needs no memory any more.
    cx.agenda.clear()
  }
}
