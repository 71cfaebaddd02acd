import Learning
import Numerics

/// What others may read of a run.
extension Simulation {
  /// What the run depends on.
  public var inputs: SimulationInputs { cx.inputs }
  /// The virtual time.
  public var now: SimTime { cx.now }
  /// The time at which the run ends at the latest.
  public var end: SimTime { cx.end }
  /// The time that the run as a whole has reached.
  public var progressTime: SimTime { cx.played }
  /// Whether the run is over.
  public var isOver: Bool { cx.isOver }
  /// Whether it ended because nothing that was left could ever contribute.
  public var isStuck: Bool { cx.isStuck }
  /// Whether devices are played on ahead of the others, so that not all are at the same time.
  public var playsAhead: Bool { cx.ahead.isOn }
  /// Events that were played ahead of their turn, so far.
  package var eventsPlayedAhead: Int { cx.ahead.count }
  /// Events of polls that were foreseen, so far.
  package var eventsForeseen: Int { cx.agenda.pollers.foreseen }

  /// The current version.
  public var version: Int { Int(server.version) }
  /// The open round.
  public var round: Int { Int(server.openRound.number) }
  /// The current model.
  public var model: ParameterBuffer { server.model }

  /// What is counted and measured.
  public var books: Books { cx.books }
  /// The sessions that took part, and how far each came.
  public var participations: Participations { cx.participations }
  /// The outcome of each update; nil: that is not recorded.
  public var updateLog: UpdateLog? { cx.updates.log }
  /// What is collected for central training.
  public var collection: Central { cx.collection }
  /// The devices, in the order of the fleet.
  public var deviceRecords: DeviceRecords { DeviceRecords(devices: devices, cx: cx) }
  /// The server, and what it found out.
  public var serverRecord: ServerRecord { ServerRecord(server: server, cx: cx) }
  /// A device's path, such as `phones/17`.
  public func path(of device: Int) -> String { Roster.path(of: device, cx) }
  /// Why a run that is over has no version, or why its open round could never end; nil: neither is
  /// so.
  ///
  /// Complexity: O(devices · changes of their series) where there is no version.
  public var stallReport: StallReport? { StallReport(devices, server, cx) }

  /// Recounts everything that the ledgers count, from the state itself; each line is a broken sum.
  ///
  /// Complexity: O(devices + what lives of updates and participations).
  public func audit() -> [String] {
    guard !cx.agenda.pollers.isEmpty else { return Audit.findings(devices, server, cx) }
    var awake = self
    awake.wakeAll()
    return awake.audit()
  }

  /// Updates and participations that somebody may still ask for.
  package var livingRecords: Int { cx.updates.living + cx.participations.living }
  /// How many trainings of this playing came as predicted.
  package var predictionCounts: PredictionCounts { cx.computations.predictionCounts }
  /// Counts the hours of devices up to a time; for one who looks at a run that is still played.
  package mutating func countHours(until time: SimTime) {
    Accounting.countHours(until: time, &devices, &cx)
  }
}
