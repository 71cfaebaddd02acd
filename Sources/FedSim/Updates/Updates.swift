/// The updates of a run, from their making to their end.
///
/// An update is kept as long as somebody may ask for it; then sums are left, for audits.
struct Updates: Codable {
  private var records = SlotMap<UpdateRecord>()
  /// Updates that are kept no longer, by how they ended, and the batches in them.
  private(set) var settled = [Int](repeating: 0, count: UpdateOutcome.allCases.count)
  private(set) var settledBatches = 0
  /// The outcome of each; nil: that is not recorded.
  var log: UpdateLog?

  private static let outcomes = UpdateOutcome.allCases

  /// How many were ever made.
  var count: Int { records.count }
  /// How many are kept.
  var living: Int { records.living }
  /// The numbers of those that are kept, ascending.
  var numbers: [Int32] { records.numbers }

  /// Whether an update is kept.
  func contains(_ update: Int32) -> Bool { records.contains(update) }

  /// An update that is kept, read where it is.
  subscript(update: Int32) -> UpdateRecord {
    @inline(__always) unsafeAddress { records.address(update) }
  }

  /// Adds a new update and says its number.
  mutating func append(_ record: UpdateRecord) -> Int32 {
    log?.append(record)
    records.append(record)
    return Int32(records.count - 1)
  }

  /// An update stays in an outbox that nobody sends from.
  mutating func shelve(_ update: Int32) { records[update].isShelved = true }

  /// An update could not be sent at once; whether it is the first time.
  mutating func markWaiting(_ update: Int32) -> Bool {
    guard !records[update].hasWaited else { return false }
    records[update].hasWaited = true
    return true
  }

  /// A copy of an update leaves its device for the server.
  mutating func send(_ update: Int32) { records[update].copies.onTheWay += 1 }

  /// A copy is on its way no longer; whether the server has never had one and none follows.
  mutating func arrive(_ update: Int32) -> UpdateOutcome? {
    records[update].copies.onTheWay -= 1
    return records[update].copies.onTheWay == 0 && !records[update].hasArrived
      ? records[update].fallback : nil
  }

  /// The server has an update; whether it had it before.
  mutating func deliver(_ update: Int32) -> Bool {
    let isKnown = records[update].hasArrived
    records[update].hasArrived = true
    return isKnown
  }

  /// The device keeps an update no longer; how it ends with that: as `outcome` says unless the
  /// server has or had it, or takes in what is still on its way.
  mutating func leaveDevice(_ update: Int32, _ outcome: UpdateOutcome?) -> UpdateOutcome? {
    records[update].isOnDevice = false
    guard !records[update].hasArrived, let outcome = outcome ?? records[update].fallback else {
      return nil
    }
    guard records[update].copies.onTheWay > 0 else { return outcome }
    records[update].fallback = outcome
    return nil
  }

  /// The server has lost an update at a restart and knows of it no more; whether it may come again.
  mutating func forget(_ update: Int32) -> Bool {
    guard records[update].outcome == nil,
      records[update].isOnDevice || records[update].copies.onTheWay > 0
    else { return false }
    records[update].hasArrived = false
    records[update].fallback = .lostAtRestart
    return true
  }

  /// One copy of an update more, or one fewer, waits at the server.
  mutating func countCopy(_ update: Int32, _ change: Int) {
    records[update].copies.pending += change
  }

  /// An update ends; false where it has ended before.
  mutating func end(_ update: Int32, _ outcome: UpdateOutcome) -> Bool {
    guard records[update].outcome == nil else { return false }
    records[update].outcome = outcome
    log?.end(update, outcome)
    return true
  }

  /// Books energy of an update's transmission, in nanojoules.
  mutating func addRadio(_ energy: Int64, to update: Int32) {
    records[update].effort.radio += energy
  }

  /// Lets go of an update once nobody can ask for it any more; its participation then, which it
  /// holds no longer.
  mutating func release(_ update: Int32) -> Int32? {
    guard records.contains(update) else { return nil }
    guard !records[update].isOnDevice, let outcome = records[update].outcome,
      records[update].copies.pending == 0, records[update].copies.onTheWay == 0
    else { return nil }
    let participation = records[update].participation
    settledBatches += records[update].batches
    settled[Self.outcomes.firstIndex(of: outcome)!] += 1
    records.remove(update)
    return participation
  }
}

extension Context {
  /// The device keeps an update no longer; `outcome` counts unless the server has or had it, or
  /// takes in what is still on its way.
  mutating func leaveDevice(_ update: Int32, _ outcome: UpdateOutcome?) {
    if let end = updates.leaveDevice(update, outcome) { resolve(update, end) }
    release(update)
  }

  /// A copy of an update reached the server's door; `isOpen` tells whether anyone answers.
  mutating func copyCame(_ update: Int32, isOpen: Bool) {
    if let outcome = updates.arrive(update), !isOpen { resolve(update, outcome) }
    release(update)
  }

  /// The server has lost a copy of an update that waited there. The update has ended with its last
  /// copy, unless its device has not heard of its arrival and sends it again.
  mutating func loseAtServer(_ update: Int32) {
    guard updates[update].copies.pending == 0, !updates.forget(update) else { return }
    resolve(update, .lostAtRestart)
  }

  /// An update ends, once.
  mutating func resolve(_ update: Int32, _ outcome: UpdateOutcome) {
    if updates.end(update, outcome) { bookEnd(of: update, outcome) }
    release(update)
  }

  /// An update has ended: its work is booked, and the observers hear of it.
  mutating func bookEnd(of update: Int32, _ outcome: UpdateOutcome) {
    books.ledgers.updates.close(outcome)
    participations.endUpdate(updates[update].participation, outcome)
    let device = Int(updates[update].device)
    books.bookUpdate(
      updates[update].effort, samples: updates[update].samples, of: device, outcome)
    note(device, .updateEnded(update: Int(update), outcome))
  }

  /// Lets go of an update once nobody can ask for it any more.
  private mutating func release(_ update: Int32) {
    if let participation = updates.release(update) { participations.letGo(participation) }
  }
}
