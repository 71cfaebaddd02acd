import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Random worlds")
struct PropertyTests {
  @Test("In a hundred mixed worlds every audit after every event finds nothing")
  func audits() {
    var totals = (versions: 0, expired: 0, resumed: 0, kills: 0, waited: 0, repeated: 0)
    var identities = (refreshes: 0, refused: 0, withheld: 0, beats: 0, reinstalled: 0)
    var exchange = [String: Int]()
    for seed in UInt64(1)...100 {
      var world = RandomWorld(seed: seed)
      let scene = world.scene()
      let tape = Tape()
      var simulation = Simulation(scene.inputs)
      simulation.run(observers: [tape])
      #expect(tape.faults == [], "seed \(seed)")
      #expect(tape.events.count == simulation.books.tallies.events, "seed \(seed)")
      totals.versions += simulation.version
      totals.expired += simulation.books.tallies.expiredTrainings
      totals.resumed += simulation.books.tallies.checkpoints.resumed
      totals.kills += simulation.books.tallies.kills
      totals.waited += simulation.books.tallies.waitedOffline
      totals.repeated += simulation.books.tallies.repeatedDeliveries
      guard let counts = simulation.deviceRecords.identityCounts else { continue }
      identities.refreshes += counts.refreshes
      identities.refused += counts.unauthorised + counts.revocations
      identities.withheld += counts.withheld
      identities.beats += counts.heartbeats.accepted
      identities.reinstalled += counts.reinstallations
      for (name, count, _) in simulation.serverRecord.exchangeTallies?.named ?? [] {
        exchange[name, default: 0] += count
      }
    }
    // The worlds are not dull.
    #expect(totals.versions > 100)
    #expect(totals.expired > 50)
    #expect(totals.resumed > 20)
    #expect(totals.kills > 10)
    #expect(totals.waited > 50)
    #expect(totals.repeated > 0)
    #expect(identities.refreshes > 100)
    #expect(identities.refused > 50)
    #expect(identities.withheld > 100)
    #expect(identities.beats > 1000)
    #expect(identities.reinstalled > 10)
    for name in ["rejectedWithTimeout", "lateReports", "layoutMismatches", "erasures"] {
      #expect(exchange[name, default: 0] > 5, "\(name) in \(exchange)")
    }
    for name in ["undecodedTimeouts", "invalidKeys", "brokenStreams", "unconnectedSessions"] {
      #expect(exchange[name, default: 0] > 0, "\(name) in \(exchange)")
    }
  }

  @Test("Between a request and its answer at least two microseconds pass")
  func latency() {
    for seed in UInt64(1)...10 {
      var world = RandomWorld(seed: seed)
      var scene = world.scene()
      for group in scene.inputs.fleet.indices {
        scene.inputs.fleet[group].network.wifi.roundTrip = .zero
        scene.inputs.fleet[group].network.cellular.roundTrip = .zero
      }
      let played = scene.play()
      var sent: [UInt32: SimTime] = [:]
      for (time, event) in played.tape.events {
        switch event {
        case .arrival(let device, let generation, _): sent[generation << 8 | UInt32(device)] = time
        case .response(let device, let generation, _):
          #expect(time > sent[generation << 8 | UInt32(device)] ?? .never, "seed \(seed)")
        default: break
        }
      }
    }
  }
}

/// What a run leaves that must not depend on how it was computed.
private struct Trace: Equatable {
  var events: UInt64
  var versions: [String]
  var bits: [[UInt32]]
  var tallies: [Int]

  init(_ inputs: SimulationInputs) {
    let tape = Tape(audits: false)
    var simulation = Simulation(inputs)
    simulation.run(observers: [tape])
    events = simulation.eventDigest.value
    versions = tape.versions.map { "\($0)" }
    bits = tape.models.map { $0.map(\.bitPattern) }
    tallies = [
      simulation.books.ledgers.updates.opened, simulation.books.ledgers.updates[.aggregated],
      simulation.books.ledgers.attempts.opened, simulation.books.tallies.trainingsNeeded,
      simulation.books.ledgers.batchesWasted,
    ]
  }
}

@Suite("How trainings are computed")
struct ComputationTests {
  /// A fleet in which most trainings are lost: discarded, killed, or never delivered.
  private var lossy: SimulationInputs {
    var world = RandomWorld(seed: 4)
    var inputs = world.scene().inputs
    inputs.fleet = (0..<4).map { place in
      .group(
        "g\(place)", count: 4,
        windows: (0..<20).map { turn -> [Int64] in
          let start = Int64(300_000 * turn + 1000 * place)
          // Every eighth window is long enough.
          let soft = start + (turn % 8 == place ? 60_000 : 9_500)
          return [start, soft, soft + 2_000]
        }
      ) {
        $0.compute.perBatch = .seconds(3)
        $0.interruption.onExpiry = [.checkpoint, .discard, .discard, .checkpoint][place]
        $0.interruption.onModelMoved = [.finish, .finish, .finish, .rebase][place]
      }
    }
    inputs.server = ServerSettings()
    inputs.server.messageBytes = 1000
    inputs.server.bytesPerParameter = 50
    inputs.injections = []
    inputs.compute = .lazy
    return inputs
  }

  @Test("Lazily, eagerly, with hardly any memory, and on 1, 2 and 3 threads: the same bits")
  func sameBits() {
    let inputs = lossy
    let expected = Trace(inputs)
    #expect(expected.bits.count > 5)
    // Most trainings are lost.
    #expect(expected.tallies[1] * 2 < expected.tallies[2])
    for threads in 1...3 {
      for mode in ComputeMode.allCases {
        for bytes in [1, 100, 256 << 20] {
          var other = inputs
          other.pool = WorkerPool(threads: threads)
          other.compute = mode
          other.retainedBytes = bytes
          #expect(Trace(other) == expected, "\(threads) threads, \(mode), \(bytes) bytes")
        }
      }
    }
  }

  @Test("Random worlds too")
  func randomWorlds() {
    for seed in UInt64(100)...110 {
      var world = RandomWorld(seed: seed)
      var inputs = world.scene().inputs
      let expected = Trace(inputs)
      inputs.compute = .eager
      inputs.pool = WorkerPool(threads: 2)
      #expect(Trace(inputs) == expected, "seed \(seed)")
      inputs.compute = .lazy
      inputs.retainedBytes = 1
      #expect(Trace(inputs) == expected, "seed \(seed)")
      inputs.seeds = Seeds(seed + 1000)
      #expect(Trace(inputs) != expected, "seed \(seed)")
    }
  }
}

@Suite("The world does not know the policy")
struct ExogenousTests {
  private func world(_ change: (inout SimulationInputs) -> Void = { _ in }) -> Simulation {
    var random = RandomWorld(seed: 12)
    var inputs = random.scene().inputs
    inputs.injections = []
    inputs.shakeTies = nil
    change(&inputs)
    var simulation = Simulation(inputs)
    simulation.run()
    return simulation
  }

  /// What of each device nobody's policy may touch, by its path.
  private func exogenous(_ simulation: Simulation) -> [String: [UInt64]] {
    var found: [String: [UInt64]] = [:]
    for (device, record) in simulation.deviceRecords.enumerated() {
      found[simulation.path(of: device)] = [
        record.exogenousDigest, UInt64(record.client), UInt64(record.samples),
        simulation.deviceRecords.orderDigest(of: device, epochs: 5),
      ]
    }
    return found
  }

  @Test("Changing only the server's policy changes nothing exogenous, but changes the run")
  func policy() {
    let plain = world()
    let changes: [(inout SimulationInputs) -> Void] = [
      { $0.server.trigger = [Choice(EveryTrigger.self) { $0 }] },
      {
        var threshold = ThresholdTrigger.Settings()
        threshold.updates = 1
        $0.server.trigger = [Choice(ThresholdTrigger.self, threshold) { $0 }]
        $0.server.selector = Choice(OpenSelector.self) { $0 }
      },
      {
        $0.server.selector = Choice(UniformSelector.self, UniformSelector.Settings()) { $0 }
        $0.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
      },
      { $0.server.messageBytes = 5000 },
      { $0.server.reachable = .always("down") },
    ]
    for (index, change) in changes.enumerated() {
      let other = world(change)
      #expect(exogenous(other) == exogenous(plain), "change \(index)")
      #expect(other.eventDigest != plain.eventDigest, "change \(index)")
    }
  }

  @Test("What a device does with its time changes nothing exogenous")
  func devicePolicy() {
    let plain = world()
    let other = world {
      for group in $0.fleet.indices {
        $0.fleet[group].interruption.onExpiry = .submitPartial
        $0.fleet[group].compute.perBatch = .milliseconds(77)
        $0.fleet[group].outbox.capacity = 1
      }
    }
    #expect(exogenous(other) == exogenous(plain))
  }

  @Test("Adding a device to any group changes nothing exogenous of the others")
  func oneMore() {
    let plain = exogenous(world())
    let groups = world().inputs.fleet.count
    #expect(groups > 1)
    for group in 0..<groups {
      let other = exogenous(world { $0.fleet[group].count += 1 })
      #expect(other.count == plain.count + 1)
      for (path, words) in plain { #expect(other[path] == words, "group \(group), \(path)") }
    }
  }

  @Test("Each seed moves its own world and no other")
  func seeds() {
    let plain = world()
    func parts(_ simulation: Simulation) -> (world: [UInt64], orders: [UInt64]) {
      let devices = simulation.deviceRecords
      return (
        devices.map(\.exogenousDigest),
        devices.indices.map { simulation.deviceRecords.orderDigest(of: $0, epochs: 3) }
      )
    }
    let (series, orders) = parts(plain)
    let worldly = parts(world { $0.seeds.world = 99 })
    #expect(zip(worldly.world, series).allSatisfy { $0 != $1 })
    #expect(worldly.orders == orders)
    let trained = parts(world { $0.seeds.training = 99 })
    #expect(trained.world == series)
    // A client of 0 or 1 samples has one order only.
    #expect(trained.orders != orders)
    for change: (inout SimulationInputs) -> Void in [
      { $0.seeds.data = 99 }, { $0.seeds.initial = 99 }, { $0.seeds.policy = 99 },
      { $0.seeds.ties = 99 },
    ] {
      let other = parts(world(change))
      #expect(other.world == series)
      #expect(other.orders == orders)
    }
    // Data and initial weights are made elsewhere; without cohorts and shaken ties nothing is
    // drawn.
    #expect(world { $0.seeds.data = 99 }.eventDigest == plain.eventDigest)
    #expect(
      world {
        $0.server.selector = Choice(OpenSelector.self) { $0 }
        $0.server.trigger = [Choice(EveryTrigger.self) { $0 }]
        $0.seeds.policy = 99
      }.eventDigest
        == world {
          $0.server.selector = Choice(OpenSelector.self) { $0 }
          $0.server.trigger = [Choice(EveryTrigger.self) { $0 }]
        }.eventDigest)
  }

  @Test("The digest of a device's series is that of the series made again")
  func digests() {
    let simulation = world()
    let inputs = simulation.inputs
    for (device, record) in simulation.deviceRecords.enumerated() {
      let group = inputs.fleet[record.group]
      // The changes of all its series, merged by time; at one time in the order they were
      // scheduled, which never happens here.
      var changes: [(SimTime, UInt8, UInt8)] = []
      var digest = Fingerprint()
      for (number, choice, space) in [
        (UInt8(0), group.power, StateSpace.power), (1, group.link, .link),
        (2, group.usage, .usage),
      ] {
        var timeline = choice.value.timeline(
          TimelineContext(
            space: space,
            key: StreamKey(
              seed: inputs.seeds.world, purpose: Purpose(space.name), group: group.name,
              ordinal: UInt32(record.ordinal)),
            device: simulation.path(of: device), civilStart: inputs.civilStart))
        digest.combine(UInt64(timeline.state(at: .start)))
        var time = SimTime.start
        while let next = timeline.next(after: time, before: .never) {
          if next.time > simulation.end { break }
          changes.append((next.time, number, next.state))
          time = next.time
        }
      }
      guard group.background.windows == nil else { continue }
      digest.combine(UInt64(0))
      for (time, number, state) in changes.sorted(by: { $0.0 < $1.0 }) {
        digest.combine(time.microseconds)
        digest.combine(UInt64(number) << 8 | UInt64(state))
      }
      #expect(digest.value == record.exogenousDigest, "\(simulation.path(of: device))")
    }
  }
}
