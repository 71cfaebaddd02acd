import Learning
import Numerics

/// What a run is beyond its inputs, as it is saved.
///
/// What is not here is made again from the inputs (`Simulation.unsaved`).
struct SavedRun: Codable {
  let now: SimTime
  let played: SimTime
  let isOver: Bool
  let ahead: PlayingAhead
  let agenda: SavedAgenda
  let network: DeviceNetwork
  let members: Members
  let books: Books
  let participations: Participations
  let updates: Updates
  let eventDigest: EventDigest
  let isStuck: Bool
  let turns: Int
  let hasBegun: Bool
  let table: RecordArray<Device>
  let bodies: RecordArray<Body>
  let apps: RecordArray<AppRegion?>
  let identities: Identities
  let fleetTables: FleetTables
  let clients: [ClientRegion]
  let server: Server
  let states: ClientStates
  let collection: Central
  let stallCheck: StallCheck

  init(_ run: borrowing Simulation) {
    now = run.cx.now
    played = run.cx.played
    isOver = run.cx.isOver
    ahead = run.cx.ahead
    agenda = run.cx.agenda.saved
    network = run.cx.network
    members = run.cx.members
    books = run.cx.books
    participations = run.cx.participations
    updates = run.cx.updates
    eventDigest = run.eventDigest
    isStuck = run.cx.isStuck
    turns = run.turns
    hasBegun = run.hasBegun
    table = run.devices.all
    bodies = run.devices.bodies
    apps = run.devices.apps
    identities = run.devices.identities
    fleetTables = run.devices.fleetTables
    clients = run.devices.clients
    server = run.server
    states = run.cx.states
    collection = run.cx.collection
    stallCheck = run.stallCheck
  }
}
