import Learning

/// Work, energy and bytes, booked where they end.
enum Accounting {
  // MARK: Work

  /// What a device's trainings and its radio have drawn until now, in nanojoules.
  ///
  /// A battery that is brought up to date once more is the same: what flows is constant between
  /// events.
  static func energyDrawn(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> (
    training: Int64, radio: Int64
  ) {
    guard Body.hasBody(device, devices) else { return (0, 0) }
    devices.bodies[device].settle(at: cx.now)
    return (devices.bodies[device].ledger.training, devices.bodies[device].ledger.radio)
  }

  /// Batches begin to run.
  static func beginStretch(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let drawn = energyDrawn(device, &devices, &cx).training
    devices[device].run!.bookedAt = cx.now
    devices[device].run!.energyMark = drawn
  }

  /// Counts what a device's running batches took since they were last counted.
  static func bookStretch(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let run = devices[device].run else { return }
    let drawn = energyDrawn(device, &devices, &cx).training
    var effort = Effort()
    effort.microseconds = (cx.now - run.bookedAt).microseconds
    effort.training = drawn - run.energyMark
    devices[device].run!.bookedAt = cx.now
    devices[device].run!.energyMark = drawn
    cx.books.effort.stretches += effort
    if run.isEvaluation {
      cx.books.effort.evaluations += effort
    } else {
      devices[device].attempt!.effort += effort
      cx.books.hours.trained(
        group: Int(devices[device].group), from: run.bookedAt, to: cx.now)
    }
    var amount = Progress()
    amount.nanojoules = effort.training
    if !run.isEvaluation { amount.microseconds = effort.microseconds }
    cx.note(amount)
  }

  /// The outcome of an attempt that made this many batches.
  static func effort(
    of device: Int, batches: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> Effort {
    var effort = devices[device].attempt!.effort
    effort.attempts = 1
    effort.batches = batches
    effort.samples = OwnModel.plan(of: device, devices, cx).samples(
      inBatches: 0..<batches, shardCount: Int(cx.members.sampleCounts[device]))
    return effort
  }

  /// The process dies: what it has done since the last checkpoint is lost, and the attempt
  /// continues.
  static func bookLost(
    _ device: Int, since kept: Effort, batches: Range<Int>, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    var lost = devices[device].attempt!.effort
    devices[device].attempt!.effort = kept
    lost.microseconds -= kept.microseconds
    lost.training -= kept.training
    lost.batches = batches.count
    lost.samples = OwnModel.plan(of: device, devices, cx).samples(
      inBatches: batches, shardCount: Int(cx.members.sampleCounts[device]))
    cx.books.book(lost, of: device, .lostSinceCheckpoint)
  }

  // MARK: Requests

  /// A request has ended, the last of its answer's bytes with it: it is the device's no more.
  @discardableResult
  static func closeTransfer(
    _ device: Int, _ outcome: TransmissionOutcome, received: Int64 = 0, _ devices: inout Devices,
    _ cx: inout Context
  ) -> Transfer {
    cx.network[transferOf: device]!.carried.add(
      link: cx.network[device].link, up: 0, down: received)
    CellularDays.count(device, link: cx.network[device].link, received, &cx)
    cx.books.ledgers.bytesDown += received
    cx.books.activity[device].bytesDown += received
    let transfer = cx.network.close(device)
    let radio =
      Body.hasBody(device, devices)
      ? energyDrawn(device, &devices, &cx).radio - transfer.energyMark : 0
    cx.books.ledgers.transmissions.close(outcome)
    cx.books.traffic.book(transfer.carried, outcome)
    if case .upload(let update) = transfer.purpose {
      cx.updates.log?.send(
        update, bytes: transfer.carried.up(.wifi) + transfer.carried.up(.cellular))
    }
    if received + radio > 0 { cx.note(Progress(bytesDown: received, nanojoules: radio)) }
    if radio > 0 { bookRadio(radio, of: device, for: transfer.purpose, &cx) }
    return transfer
  }

  /// What a device sent over its stream was taken: it is booked, and the instruction that comes
  /// over the same stream is another transmission.
  static func divideTransfer(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let purpose = cx.network[transferOf: device]!.purpose
    let drawn = energyDrawn(device, &devices, &cx).radio
    let radio =
      Body.hasBody(device, devices) ? drawn - cx.network[transferOf: device]!.energyMark : 0
    cx.books.ledgers.transmissions.close(.delivered)
    cx.books.traffic.book(cx.network[transferOf: device]!.carried, .delivered)
    if radio > 0 {
      cx.note(Progress(nanojoules: radio))
      bookRadio(radio, of: device, for: purpose, &cx)
    }
    cx.network[transferOf: device]!.carried = CarriedBytes()
    cx.network[transferOf: device]!.energyMark = drawn
    cx.books.ledgers.transmissions.open()
  }

  /// Counts what a request has drawn, in nanojoules.
  private static func bookRadio(
    _ radio: Int64, of device: Int, for purpose: Transfer.Purpose, _ cx: inout Context
  ) {
    guard case .upload(let update) = purpose, cx.updates.contains(update) else {
      return cx.books.effort.otherRadio += radio
    }
    if let outcome = cx.updates[update].outcome {
      // Sent again after it had ended.
      var effort = Effort()
      effort.radio = radio
      cx.books.book(effort, of: device, .update(outcome))
    } else {
      cx.updates.addRadio(radio, to: update)
    }
  }

  /// Counts bytes of a device's request under way.
  static func countBytes(
    _ device: Int, link: UInt8, up: Int64 = 0, down: Int64 = 0, _ cx: inout Context
  ) {
    cx.network[transferOf: device]!.carried.add(link: link, up: up, down: down)
    CellularDays.count(device, link: link, up + down, &cx)
    countBytes(device, up: up, down: down, &cx)
  }

  /// Counts bytes of a device.
  static func countBytes(
    _ device: Int, up: Int64, down: Int64, _ cx: inout Context
  ) {
    cx.books.ledgers.bytesUp += up
    cx.books.ledgers.bytesDown += down
    cx.books.activity[device].bytesUp += up
    cx.books.activity[device].bytesDown += down
    if up + down > 0 { cx.note(Progress(bytesUp: up, bytesDown: down)) }
  }

  // MARK: Versions

  /// A device holds another version from now on, −1: none.
  static func setHeldVersion(
    _ device: Int, _ version: Int32, _ devices: inout Devices, _ cx: inout Context
  ) {
    let before = devices[device].heldVersion
    devices[device].heldVersion = version
    guard before != version else { return }
    var amount = Progress()
    amount.holders = (version < 0 ? 0 : 1) - (before < 0 ? 0 : 1)
    amount.heldCorrect = cx.books.correct(version) - cx.books.correct(before)
    cx.note(amount)
  }

  /// What a version that is published now is measured by.
  static func measured(_ record: VersionRecord, _ cx: inout Context)
    -> VersionRecord
  {
    var record = record
    let correct = record.evaluation.map { Int64($0.test.correct) }
    if record.version == 0, let correct {
      // Who holds version 0 by now has it from the app.
      let holders = cx.books.progress.progress(at: cx.now).holders
      var amount = Progress()
      amount.heldCorrect = Int64(holders) * correct
      cx.note(amount)
    }
    record.progress = cx.books.progress.progress(at: cx.now)
    record.withoutVersion = cx.members.count - Int(record.progress.holders)
    guard !cx.inputs.omitsArithmetic else { return record }
    let tested = cx.inputs.task.test.answerCount
    record.heldAccuracy =
      record.progress.holders == 0
      ? .nan
      : Double(record.progress.heldCorrect) / (Double(tested) * Double(record.progress.holders))
    cx.books.publish(correct: correct)
    return record
  }
}
