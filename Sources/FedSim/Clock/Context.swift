import Learning
import Numerics

/// What every machine is handed: the inputs, the clock, the agenda, the audience and the books.
///
/// Device and server are machines with their own state, and share nothing but this.
struct Context {
  /// What the run depends on.
  let inputs: SimulationInputs
  /// The virtual time of the event under way.
  var now = SimTime.start
  /// The time that the run as a whole has reached; `now` is ahead while a device is played on.
  var played = SimTime.start
  /// Whether the run is over.
  var isOver = false
  /// Whether it ended because nothing that was left could ever contribute.
  var isStuck = false
  /// How far a device is played on before its turn.
  var ahead = PlayingAhead()
  var agenda: Agenda
  var audience = Audience()
  var books = Books()
  var participations: Participations
  var updates = Updates()
  var world: World
  var members = Members()
  var network = DeviceNetwork()
  /// Keys of what is drawn often, by purpose and group.
  var streamKeys: StreamKeyCache
  /// What the settings ask for beyond the plain path.
  var features = Features()
  /// What devices keep from training to training, and what travels with models besides them.
  var states = ClientStates()
  /// What is collected for central training, where any group collects.
  var collection = Central()
  /// The sizes of an update and of a model, without what goes with them.
  var wireSizes: (upload: Int64, download: Int64)
  /// Decides when described trainings are computed.
  var computations: Computations

  init(_ inputs: SimulationInputs) {
    self.inputs = inputs
    let end = SimTime.start + inputs.stop.after
    world = World(inputs, end: end)
    agenda = Agenda(
      end: end,
      shaken: inputs.shakeTies.map {
        ShakenTies(key: $0 ^ inputs.seeds.ties, fleet: inputs.fleet)
      })
    if inputs.record.updates == true { updates.log = UpdateLog() }
    participations = Participations(
      groups: inputs.record.hoursByGroup == true ? inputs.fleet.count : 0)
    streamKeys = StreamKeyCache(inputs)
    let (layout, needs) = (inputs.task.network.layout, inputs.task.algorithm.needs)
    wireSizes = (
      inputs.server.updateBytes(of: layout, needs: needs),
      inputs.server.modelBytes(of: layout, needs: needs)
    )
    computations = Computations(inputs)
  }

  /// Whether the event under way is played ahead of its turn.
  var isAhead: Bool { ahead.isAhead }

  /// The time at which the run ends at the latest.
  var end: SimTime { .start + inputs.stop.after }

  /// What the library of a group's devices does beyond the plain path; nil for most groups.
  @inline(__always)
  func dialect(of group: Int32) -> (any Dialect)? {
    features.isOn ? features.dialects[Int(group)] : nil
  }

  /// Schedules an event of a device, or of the server (`device` nil).
  @inline(__always)
  mutating func schedule(
    _ event: Event, _ eventClass: EventClass, at time: SimTime, by device: Int?
  ) {
    agenda.schedule(event, eventClass, at: time, by: device)
  }

  /// Tells the observers what happened to a device, or to the server (−1).
  ///
  /// It is `mutating` because a call of another would copy the context where its arguments are read
  /// from it.
  @inline(__always)
  mutating func note(_ device: Int, _ kind: ObservedEvent.Kind) {
    guard audience.wantsEveryEvent else { return }
    audience.tell(ObservedEvent(time: now, device: device, kind: kind))
  }

  /// Books an amount at the time of the event under way.
  mutating func note(_ amount: Progress) {
    books.progress.book(amount, at: now, isAhead: isAhead, played: played)
  }
}
