/// An agenda as it is saved.
struct SavedAgenda: Codable {
  /// The events to come, in any order that keeps each actor's.
  let entries: [EventQueue.Entry]
  /// How many events each actor has scheduled so far, the server first.
  let sequences: [UInt32]
  let pollers: Pollers

  init(_ agenda: borrowing Agenda) {
    entries = agenda.queue.entries
    sequences = agenda.queue.sequences
    pollers = agenda.pollers
  }

  /// Puts what was saved in place of everything that was scheduled meanwhile.
  func restore(to agenda: inout Agenda) {
    agenda.clear()
    for entry in entries { agenda.queue.push(entry) }
    for (actor, sequence) in sequences.enumerated() {
      agenda.queue[sequenceOf: Int32(actor)] = sequence
    }
    agenda.pollers = pollers
  }
}
