import Learning
import Numerics

/// What a run is beyond its inputs, as it is saved.
///
/// Its fields are those of `Simulation` by the same names; what is not here is made anew from the
/// inputs (`Simulation.unsaved`).
struct SavedRun: Codable {
  let now: SimTime
  let ledgers: Ledgers
  let tallies: Tallies
  let roundFunnels: Pages<Funnel>
  let hourFunnels: Pages<Funnel>
  let groupFunnels: [Pages<Funnel>]
  let eventDigest: EventDigest
  let federatedEvaluation: FederatedEvaluation?
  let isOver: Bool
  let isStuck: Bool
  let hasBegun: Bool
  /// The events to come, in any order that keeps each actor's.
  let queue: [EventQueue.Entry]
  let played: SimTime
  let turns: Int
  let ahead: PlayingAhead
  let devices: Table<Device>
  let bodies: Table<Body>
  let apps: Table<AppRegion?>
  let identities: Identities
  let fleetTables: FleetTables
  let server: Server
  let exchange: Exchange
  let service: Service
  let central: Central
  let updates: Register<UpdateRecord>
  let measures: Measures
  let participations: Register<Participation>
  let settled: Settled
  let outlook: Outlook
  let evaluatedUntil: SimTime
  let federatedUntil: SimTime

  init(_ run: borrowing Simulation) {
    now = run.now
    ledgers = run.ledgers
    tallies = run.tallies
    roundFunnels = run.roundFunnels
    hourFunnels = run.hourFunnels
    groupFunnels = run.groupFunnels
    eventDigest = run.eventDigest
    federatedEvaluation = run.federatedEvaluation
    isOver = run.isOver
    isStuck = run.isStuck
    hasBegun = run.hasBegun
    queue = run.queue.entries
    played = run.played
    turns = run.turns
    ahead = run.ahead
    devices = run.devices
    bodies = run.bodies
    apps = run.apps
    identities = run.identities
    fleetTables = run.fleetTables
    server = run.server
    exchange = run.exchange
    service = run.service
    central = run.central
    updates = run.updates
    measures = run.measures
    participations = run.participations
    settled = run.settled
    outlook = run.outlook
    evaluatedUntil = run.evaluatedUntil
    federatedUntil = run.federatedUntil
  }
}
