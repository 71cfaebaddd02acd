import FedSim
import Results

/// What was begun and how it ended, and what happened along the way.
enum LedgerTable {
  /// An axis and a count for each ledger; the rest are single numbers.
  static func group(_ simulation: Simulation) -> ResultDocument.Group {
    let ledgers = simulation.books.ledgers
    var group = ResultDocument.Group(
      "ledger",
      attributes: [
        .init(
          "comment",
          .text(
            "Every entry opened ends in exactly one outcome; the sum of the counts is `opened`."))
      ])
    add(ledgers.attempts, "attempt", "training attempts", rare: AttemptOutcome.rare, to: &group)
    add(ledgers.updates, "update", "updates", rare: UpdateOutcome.rare, to: &group)
    add(
      ledgers.transmissions, "transmission", "transmissions", rare: TransmissionOutcome.rare,
      to: &group)
    group.variables += [
      .scalar(
        "batchesUsed", .int64([Int64(ledgers.batchesUsed)]),
        "finished batches that are in an update"),
      .scalar(
        "batchesWasted", .int64([Int64(ledgers.batchesWasted)]),
        "finished batches whose result was discarded"),
      .scalar(
        "bytesUp", .int64([ledgers.bytesUp]), units: "byte",
        "bytes sent by devices, including failed transmissions"),
      .scalar(
        "bytesDown", .int64([ledgers.bytesDown]), units: "byte",
        "bytes received by devices, including failed transmissions"),
    ]
    group.variables += simulation.books.tallies.named.map { name, count, text in
      .scalar(name, .int64([Int64(count)]), text)
    }
    if simulation.inputs.fleet.contains(where: { $0.background.system != nil }) {
      let tallies = simulation.books.tallies
      for (name, count, text) in [
        ("refusedRequests", tallies.refusedRequests, "requests that the system rejected"),
        ("penalties", tallies.penalties, "kills after which the app gets less run time"),
        (
          "processorKills", tallies.bySystem.processorKills,
          "kills of apps for excessive processor use"
        ),
      ] {
        group.variables.append(.scalar(name, .int64([Int64(count)]), text))
      }
    }
    if simulation.inputs.fleet.contains(where: { $0.app?.evictedAfter != nil }) {
      group.variables.append(
        .scalar(
          "evictions", .int64([Int64(simulation.books.tallies.bySystem.evictions)]),
          "suspended apps that the system removed from memory"))
    }
    let exchange = simulation.serverRecord.exchangeTallies?.named ?? []
    for (name, count, text) in exchange + (simulation.serverRecord.instructionTallies?.named ?? [])
    {
      group.variables.append(.scalar(name, .int64([Int64(count)]), text))
    }
    if let tallies = simulation.serverRecord.serviceTallies {
      group.variables += tallies.named.map { name, count, text in
        .scalar(name, .int64([Int64(count)]), text)
      }
      group.variables.append(
        .scalar(
          "serviceWait", .double([tallies.waited.seconds]), units: "s",
          "total time that requests waited for a worker"))
    }
    group.variables += ServerColumns.ledger(simulation)
    ServerColumns.addIneligibility(simulation, to: &group)
    addFleet(simulation, to: &group)
    return group
  }

  /// Who declined, joined and left, where groups say so.
  private static func addFleet(_ simulation: Simulation, to group: inout ResultDocument.Group) {
    let fleet = simulation.inputs.fleet
    let tallies = simulation.books.tallies
    if fleet.contains(where: { $0.hardware != nil }) {
      group.variables.append(
        .scalar(
          "declinedSessions", .int64([Int64(tallies.declinedSessions)]),
          "sessions of devices that cannot train the model"))
    }
    if fleet.contains(where: { $0.presence != nil }) {
      group.variables += [
        .scalar("joins", .int64([Int64(tallies.joins)]), "devices that joined after the start"),
        .scalar("leaves", .int64([Int64(tallies.leaves)]), "devices that left the fleet"),
      ]
    }
  }

  /// The ends that are listed: the rare ones where they came up.
  private static func listed<Outcome>(_ ledger: Ledger<Outcome>, _ rare: [Outcome]) -> [Outcome] {
    Outcome.allCases.filter { outcome in
      ledger[outcome] > 0 || !rare.contains { $0.rawValue == outcome.rawValue }
    }
  }

  /// How many entries had each listed outcome.
  static func counts<Outcome>(_ ledger: Ledger<Outcome>, _ rare: [Outcome]) -> [Int64] {
    listed(ledger, rare).map { Int64(ledger[$0]) }
  }

  private static func add<Outcome>(
    _ ledger: Ledger<Outcome>, _ name: String, _ text: String, rare: [Outcome],
    to group: inout ResultDocument.Group
  ) {
    let axis = "\(name)Outcome"
    let cases = listed(ledger, rare)
    group.axes.append(.init(axis, length: cases.count))
    group.variables += [
      .init(
        axis, [axis], codes: cases.indices.map { Int8($0) }, meanings: cases.map(\.rawValue),
        longName: "how \(text) ended"),
      .count("\(name)s", [axis], cases.map { ledger[$0] }, "\(text) with this outcome"),
      .scalar("\(name)sOpened", .int64([Int64(ledger.opened)]), "\(text) begun"),
    ]
  }
}

extension Tallies {
  package var named: [(name: String, count: Int, text: String)] {
    [
      ("events", events, "events handled"),
      ("cancelledEvents", cancelledEvents, "events skipped because they were cancelled"),
      ("sessions", sessions, "sessions begun"),
      ("ineligibleSessions", ineligibleSessions, "sessions in which a condition did not hold"),
      ("sessionsWithoutData", sessionsWithoutData, "sessions of devices without data"),
      ("expiredTrainings", expiredTrainings, "trainings running when their task expired"),
      ("checkpoints", checkpoints.written, "checkpoints written"),
      ("resumed", checkpoints.resumed, "trainings resumed from their checkpoint"),
      ("rebased", checkpoints.rebased, "checkpoints moved to a newer base"),
      ("kills", kills, "kills of the app"),
      ("waitedOffline", waitedOffline, "updates that could not be sent as soon as they were made"),
      ("repeatedDeliveries", repeatedDeliveries, "updates that reached the server more than once"),
      ("aggregatedTwice", aggregatedTwice, "updates aggregated more than once"),
      (
        "injectionsWithoutEffect", injectionsWithoutEffect,
        "scripted events without effect"
      ),
      ("trainingsNeeded", trainingsNeeded, "trainings whose result was needed"),
    ]
  }
}
