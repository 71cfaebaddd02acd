import FedSim

/// Passes a run to another observer as long as the run can be kept: nobody hears of a version
/// that a journal does not have.
final class JournaledObserver: Observer {
  private let inner: any Observer
  private let persistence: RunPersistence

  init(_ inner: any Observer, of persistence: RunPersistence) {
    (self.inner, self.persistence) = (inner, persistence)
  }

  private var isKept: Bool { persistence.failure == nil }

  var wantsEveryEvent: Bool { inner.wantsEveryEvent }
  var wantsAdvance: Bool { inner.wantsAdvance }
  func began(_ simulation: borrowing Simulation) { inner.began(simulation) }
  func resumed(_ simulation: borrowing Simulation) { inner.resumed(simulation) }
  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {
    if isKept { inner.handled(event, at: time, simulation) }
  }
  func happened(_ event: ObservedEvent) { if isKept { inner.happened(event) } }
  func advanced(_ simulation: borrowing Simulation) { if isKept { inner.advanced(simulation) } }
  func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    if isKept { inner.published(record, simulation) }
  }
  func publishedCentrally(_ version: CentralVersion, _ simulation: borrowing Simulation) {
    if isKept { inner.publishedCentrally(version, simulation) }
  }
  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {
    if isKept { inner.closed(record, simulation) }
  }
  func ended(_ simulation: borrowing Simulation) { if isKept { inner.ended(simulation) } }
}
