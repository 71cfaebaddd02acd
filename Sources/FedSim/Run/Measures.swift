import Learning

/// What a run is measured by, beside its ledgers: nothing of it changes what happens.
struct Measures: Codable {
  var effort = EffortLedger()
  var traffic = TrafficLedger()
  var progress = ProgressLog()
  var hours = FleetHours()
  /// For each device.
  var devices = Table<DeviceEffort>()
  /// For each device; empty where no group has a battery.
  var energies = Table<DeviceEnergy>()
  /// Aggregated updates by their staleness.
  var staleness = Pages<Int>()
  /// Test samples that each version gets right, or the last one before it that was evaluated; empty
  /// where nothing is learned.
  var correct = Pages<Int64>()
}

extension Simulation {
  /// Work by what became of it.
  public var effort: EffortLedger { measures.effort }
  /// Bytes by link and by how their transmission ended.
  public var traffic: TrafficLedger { measures.traffic }
  /// What devices were doing by hour.
  public var fleetHours: FleetHours { measures.hours }
  /// Aggregated updates by their staleness: as many as came up.
  public var stalenessCounts: [Int] { Array(measures.staleness) }
  /// What each device's work came to, in the order of the fleet.
  public var deviceEfforts: [DeviceEffort] { Array(measures.devices) }
  /// What each device's work drew; empty where no group has a battery.
  public var deviceEnergies: [DeviceEnergy] { Array(measures.energies) }

  /// Begins to measure.
  mutating func makeMeasures() {
    for _ in devices.indices { measures.devices.append(DeviceEffort()) }
    if !bodies.isEmpty { for _ in devices.indices { measures.energies.append(DeviceEnergy()) } }
    guard inputs.record.fleetHours != false else { return }
    measures.hours = FleetHours(groups: inputs.fleet.map(\.count))
    for device in devices.indices where measures.hours.samples(device) {
      devices[device].isSampled = true
      measures.hours.begin(hourState(device), at: now)
    }
  }

  /// What follows from an event beside what its handler does.
  @inline(__always)
  mutating func refresh(after event: Event, actor: Int32) {
    if !bodies.isEmpty { refreshBodies(after: event, actor: actor) }
    if !identities.isEmpty { refreshIdentities(after: event, actor: actor) }
    if actor > 0, devices[Int(actor) - 1].isSampled { followHours(Int(actor) - 1) }
  }

  private mutating func followHours(_ device: Int) {
    measures.hours.follow(
      device, group: Int(devices[device].group), hourState(device), at: now)
  }

  private func hourState(_ device: Int) -> FleetHours.State {
    if isAway(device) { return [] }
    var state: FleetHours.State = .present
    let link = devices[device].link
    if link == 2 { state.insert(.wifi) } else if link == 1 { state.insert(.cellular) }
    if devices[device].isPlugged { state.insert(.plugged) }
    if !devices[device].isActive, !devices[device].isOff { state.insert(.idle) }
    if devices[device].isTraining { state.insert(.training) }
    return state
  }

  /// The last stretches end with the run.
  mutating func finishHours() { countHours(until: now) }

  /// Counts the stretches that go on, up to a time; for one who looks at a run that goes on.
  package mutating func countHours(until time: SimTime) {
    for device in devices.indices where devices[device].isSampled {
      measures.hours.finish(device, group: Int(devices[device].group), at: time)
    }
  }

  // MARK: Work

  /// What a device's trainings and its radio have drawn until now, in nanojoules.
  ///
  /// A battery that is brought up to date once more is the same: what flows is constant between
  /// events.
  mutating func energyDrawn(_ device: Int) -> (training: Int64, radio: Int64) {
    guard hasBody(device) else { return (0, 0) }
    bodies[device].settle(at: now)
    return (bodies[device].ledger.training, bodies[device].ledger.radio)
  }

  /// Batches begin to run.
  mutating func beginStretch(_ device: Int) {
    let drawn = energyDrawn(device).training
    devices[device].run!.bookedAt = now
    devices[device].run!.energyMark = drawn
  }

  /// Counts what a device's running batches took since they were last counted.
  mutating func bookStretch(_ device: Int) {
    guard let run = devices[device].run else { return }
    let drawn = energyDrawn(device).training
    var effort = Effort()
    effort.microseconds = (now - run.bookedAt).microseconds
    effort.training = drawn - run.energyMark
    devices[device].run!.bookedAt = now
    devices[device].run!.energyMark = drawn
    measures.effort.stretches += effort
    if run.isEvaluation {
      measures.effort.evaluations += effort
    } else {
      devices[device].attempt!.effort += effort
      measures.hours.trained(
        group: Int(devices[device].group), from: run.bookedAt, to: now)
    }
    var amount = Progress()
    amount.nanojoules = effort.training
    if !run.isEvaluation { amount.microseconds = effort.microseconds }
    note(amount)
  }

  /// What an attempt came to that made this many batches.
  func effort(of device: Int, batches: Int) -> Effort {
    var effort = devices[device].attempt!.effort
    effort.attempts = 1
    effort.batches = batches
    effort.samples = plan(of: device).samples(
      inBatches: 0..<batches, shardCount: Int(devices[device].sampleCount))
    return effort
  }

  /// Work of a device has ended.
  mutating func book(_ effort: Effort, of device: Int, _ end: EffortEnd) {
    measures.effort.book(effort, end)
    let isUsed = end == .update(.aggregated)
    if isUsed {
      measures.devices[device].aggregated += effort.microseconds
    } else {
      measures.devices[device].wasted += effort.microseconds
    }
    guard !measures.energies.isEmpty else { return }
    let energy = effort.training + effort.radio
    if isUsed {
      measures.energies[device].aggregated += energy
    } else {
      measures.energies[device].wasted += energy
    }
  }

  /// The process dies: what it has done since the last checkpoint is lost, and the attempt goes on.
  mutating func bookLost(_ device: Int, since kept: Effort, batches: Range<Int>) {
    var lost = devices[device].attempt!.effort
    devices[device].attempt!.effort = kept
    lost.microseconds -= kept.microseconds
    lost.training -= kept.training
    lost.batches = batches.count
    lost.samples = plan(of: device).samples(
      inBatches: batches, shardCount: Int(devices[device].sampleCount))
    book(lost, of: device, .lostSinceCheckpoint)
  }

  /// An update has come to its end.
  mutating func bookUpdate(_ update: Int32, _ outcome: UpdateOutcome) {
    let device = Int(updates[update].device)
    book(updates[update].effort, of: device, .update(outcome))
    if outcome == .aggregated {
      measures.devices[device].samplesAggregated += Int64(updates[update].samples)
    }
  }

  // MARK: Requests

  /// A request has ended, the last of its answer's bytes with it: it is the device's no more.
  @discardableResult
  mutating func closeTransfer(
    _ device: Int, _ outcome: TransmissionOutcome, received: Int64 = 0
  ) -> Transfer {
    devices[device].transfer!.carried.add(link: devices[device].link, up: 0, down: received)
    ledgers.bytesDown += received
    devices[device].activity.bytesDown += received
    let transfer = devices[device].transfer.take()!
    let radio = hasBody(device) ? energyDrawn(device).radio - transfer.energyMark : 0
    ledgers.transmissions.close(outcome)
    measures.traffic.book(transfer.carried, outcome)
    if received + radio > 0 { note(Progress(bytesDown: received, nanojoules: radio)) }
    if radio > 0 { bookRadio(radio, of: device, for: transfer.purpose) }
    return transfer
  }

  /// Counts what a request has drawn, in nanojoules.
  private mutating func bookRadio(_ radio: Int64, of device: Int, for purpose: Transfer.Purpose) {
    guard case .upload(let update) = purpose, updates.contains(update) else {
      return measures.effort.otherRadio += radio
    }
    if let outcome = updates[update].outcome {
      // Sent again after it had ended.
      var effort = Effort()
      effort.radio = radio
      book(effort, of: device, .update(outcome))
    } else {
      updates[update].effort.radio += radio
    }
  }

  /// Counts bytes of a device's request under way.
  mutating func countBytes(_ device: Int, link: UInt8, up: Int64 = 0, down: Int64 = 0) {
    devices[device].transfer!.carried.add(link: link, up: up, down: down)
    countBytes(device, up: up, down: down)
  }

  /// Counts bytes of a device.
  mutating func countBytes(_ device: Int, up: Int64, down: Int64) {
    ledgers.bytesUp += up
    ledgers.bytesDown += down
    devices[device].activity.bytesUp += up
    devices[device].activity.bytesDown += down
    if up + down > 0 { note(Progress(bytesUp: up, bytesDown: down)) }
  }

  // MARK: Versions

  private mutating func note(_ amount: Progress) {
    measures.progress.book(amount, at: now, isAhead: ahead.isAhead, played: played)
  }

  /// A device holds another version from now on, −1: none.
  mutating func setHeldVersion(_ device: Int, _ version: Int32) {
    let before = devices[device].heldVersion
    devices[device].heldVersion = version
    guard before != version else { return }
    var amount = Progress()
    amount.holders = (version < 0 ? 0 : 1) - (before < 0 ? 0 : 1)
    amount.heldCorrect = correct(version) - correct(before)
    note(amount)
  }

  private func correct(_ version: Int32) -> Int64 {
    version < 0 || measures.correct.isEmpty ? 0 : measures.correct[Int(version)]
  }

  /// What a version that is published now is measured by.
  mutating func measured(_ record: VersionRecord) -> VersionRecord {
    var record = record
    record.progress = measures.progress.progress(at: now)
    record.withoutVersion = devices.count - Int(record.progress.holders)
    guard !inputs.omitsArithmetic else { return record }
    let tested = inputs.task.test.count
    record.heldAccuracy =
      record.progress.holders == 0
      ? .nan
      : Double(record.progress.heldCorrect) / (Double(tested) * Double(record.progress.holders))
    measures.correct.append(
      record.evaluation.map { Int64($0.test.correct) } ?? measures.correct.last ?? 0)
    return record
  }
}
