/// Recounts the ledgers of work and of bytes.
enum EffortAudit {
  /// Recounts the ledgers of work and of bytes by link from what is still open, from other ledgers
  /// and from the devices; each line is a broken sum.
  static func auditMeasures(
    _ broken: inout [String], _ devices: borrowing Devices, _ cx: borrowing Context
  ) {
    var lines: [String] = []
    func expect(_ name: String, _ counted: Int64, _ found: Int64) {
      if counted != found { lines.append("\(name): counted \(counted), found \(found)") }
    }
    let effort = cx.books.effort
    let open = openEffort(devices, cx)
    let all = effort.total
    expect(
      "attempts by outcome", Int64(all.attempts + open.attempts),
      Int64(cx.books.ledgers.attempts.opened))
    expect(
      "time of trainings", all.microseconds + open.microseconds + effort.evaluations.microseconds,
      effort.stretches.microseconds)
    var used = open.batches
    for outcome in UpdateOutcome.allCases { used += effort[.update(outcome)].batches }
    expect("batches in updates", Int64(used), Int64(cx.books.ledgers.batchesUsed))
    expect(
      "batches in total", Int64(all.batches + open.batches),
      Int64(cx.books.ledgers.batchesUsed + cx.books.ledgers.batchesWasted))
    expect(
      "time of trainings by device",
      cx.books.devices.reduce(0) { $0 + $1.aggregated + $1.wasted }, all.microseconds)
    expect(
      "time aggregated by device", cx.books.devices.reduce(0) { $0 + $1.aggregated },
      effort[.update(.aggregated)].microseconds)
    if !devices.bodies.isEmpty { auditEnergy(effort, open, all, devices, cx, expect) }
    auditTraffic(cx, expect)
    expect(
      "updates by staleness", Int64(cx.books.staleness.reduce(0, +)),
      Int64(cx.books.activity.reduce(0) { $0 + $1.aggregated }))
    broken += lines
  }

  /// Work that has not ended: of attempts, and of updates.
  private static func openEffort(_ devices: borrowing Devices, _ cx: borrowing Context) -> Effort {
    var open = Effort()
    for device in devices.all {
      guard let attempt = device.attempt else { continue }
      open += attempt.effort
      open.attempts += 1
    }
    for number in cx.updates.numbers where cx.updates[number].outcome == nil {
      open += cx.updates[number].effort
    }
    return open
  }

  /// Everything that trainings and radios have drawn is booked, or under way.
  private static func auditEnergy(
    _ effort: EffortLedger, _ open: Effort, _ all: Effort, _ devices: borrowing Devices,
    _ cx: borrowing Context, _ expect: (String, Int64, Int64) -> Void
  ) {
    var (training, radio) = (Int64(0), Int64(0))
    for device in devices.indices where devices.bodies[device].isThere {
      training += devices.bodies[device].ledger.training
      radio += devices.bodies[device].ledger.radio
      if let run = devices[device].run {
        training -= devices.bodies[device].ledger.training - run.energyMark
      }
      if let transfer = cx.network[transferOf: device] {
        radio -= devices.bodies[device].ledger.radio - transfer.energyMark
      }
    }
    expect(
      "energy of trainings", all.training + open.training + effort.evaluations.training, training)
    expect("energy of radios", all.radio + open.radio + effort.otherRadio, radio)
    expect(
      "energy of work by device", cx.books.energies.reduce(0) { $0 + $1.aggregated + $1.wasted },
      all.training + all.radio)
  }

  /// Bytes by link are the bytes in all.
  private static func auditTraffic(
    _ cx: borrowing Context, _ expect: (String, Int64, Int64) -> Void
  ) {
    var (up, down) = (Int64(0), Int64(0))
    for carrier in Carrier.allCases {
      for outcome in TransmissionOutcome.allCases {
        up += cx.books.traffic.up(carrier, outcome)
        down += cx.books.traffic.down(carrier, outcome)
      }
      for device in cx.members.indices {
        guard let transfer = cx.network[transferOf: device] else { continue }
        up += transfer.carried.up(carrier)
        down += transfer.carried.down(carrier)
      }
    }
    expect("bytes sent by link", up, cx.books.ledgers.bytesUp)
    expect("bytes received by link", down, cx.books.ledgers.bytesDown)
  }
}
