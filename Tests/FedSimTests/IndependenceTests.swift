import FedSim
import Learning
import Schema
import Testing

/// The world does not know the policy, nor how many others there are.
@Suite("Independence")
struct IndependenceTests {
  /// 1,000 phones in three groups with batteries, refresh and processing tasks, for a day.
  private func fleet(_ change: (inout SimulationInputs) -> Void = { _ in }) -> Simulation {
    let groups = [("iphones", 500), ("tablets", 300), ("old", 200)].map { name, count in
      FleetGroupSettings.group(name, count: count) { group in
        group.power = .markov([("charging", 8), ("unplugged", 14)])
        group.link = .markov([("wifi", 5), ("cellular", 2), ("offline", 1)])
        group.usage = .markov([("active", 1), ("locked", 3)])
        group.battery = BatterySettings()
        group.background.system = SystemSettings()
        group.background.processing = ProcessingSettings()
        group.background.refresh = RefreshSettings()
      }
    }
    var scene = Scene(.tiny(samples: [Int](repeating: 2, count: 40)), fleet: groups)
    for group in scene.inputs.fleet.indices { scene.inputs.fleet[group].firstClient = 0 }
    scene.inputs.stop.after = .days(1)
    change(&scene.inputs)
    var simulation = Simulation(scene.inputs)
    simulation.run()
    return simulation
  }

  private func digests(_ simulation: Simulation) -> [String: UInt64] {
    var found: [String: UInt64] = [:]
    for (device, record) in simulation.deviceRecords.enumerated() {
      found[simulation.path(of: device)] = record.exogenousDigest
    }
    return found
  }

  @Test("In a fleet of 1,000, one more device in any group changes nobody else's world")
  func oneMore() {
    let plain = digests(fleet())
    #expect(plain.count == 1000 && Set(plain.values).count == 1000)
    for group in 0..<3 {
      let other = digests(fleet { $0.fleet[group].count += 1 })
      #expect(other.count == 1001)
      #expect(plain.allSatisfy { other[$0.key] == $0.value }, "group \(group)")
    }
  }

  @Test("In a fleet of 1,000, another policy changes nobody's world, but changes the run")
  func policy() {
    let plain = fleet()
    for payload in [1, 2] {
      let other = fleet {
        var threshold = ThresholdTrigger.Settings()
        threshold.updates = 40 * payload
        $0.server.trigger = [Choice(ThresholdTrigger.self, threshold) { $0 }]
        $0.server.messageBytes = Int64(900 * payload)
      }
      #expect(digests(other) == digests(plain))
      #expect(other.eventDigest != plain.eventDigest)
    }
  }

  /// When tasks begin and how long they may run, on a phone on battery, over three days.
  ///
  /// It is always offline, so a task waits for a link until it expires: its length is what was
  /// drawn for it.
  private func tasks(_ change: (inout Scene) -> Void = { _ in }) -> [(SimTime, SimDuration)] {
    var scene = Phone.scene {
      $0.group.power = .always("unplugged")
      $0.group.link = .always("offline")
      $0.processing.requiresNetworkConnectivity = false
      $0.processing.startDelay = .seconds(40)
      $0.processing.budgetSpread = 0.8
      $0.processing.resubmit = .atStart
      $0.system.onBattery = 0.2
      $0.system.processingLimit = 10
      $0.refresh = Phone.refreshing { $0.likelihood = 0 }
      $0.stop = .days(3)
    }
    change(&scene)
    let played = scene.play()
    var tasks: [(SimTime, SimDuration)] = []
    var began: SimTime?
    for event in played.tape.observed where event.device == 0 {
      if event.kind == .sessionBegan(.task) { began = event.time }
      if case .sessionEnded = event.kind, let start = began {
        tasks.append((start, event.time - start))
        began = nil
      }
    }
    return tasks
  }

  @Test("Two more looks of the operating system move no task and no draw")
  func scans() {
    // A request for a refresh task makes the system look at all that is pending. None ever starts,
    // since there is no link.
    let plain = tasks()
    #expect(plain.count > 10)
    #expect(Set(plain.map(\.1)).count > plain.count / 2)
    let other = tasks {
      $0.submit("extra", .refresh, at: 30_000_123)
      $0.submit("extra", .refresh, at: 95_000_456)
    }
    #expect(other.map(\.0) == plain.map(\.0))
    #expect(other.map(\.1) == plain.map(\.1))
  }

  @Test("One more task changes no draw of a later slot: later tasks begin and last as before")
  func oneMoreTask() {
    // A task that a script starts uses up the time that it runs in, and no more.
    let plain = tasks()
    let start = Int64(50_000_000)
    let other = tasks { $0.inject(.launch, "phones/0", at: start, hard: .seconds(30)) }
    let later = ms(start + 3_600_000)
    #expect(plain.count { $0.0 > later } > 8)
    #expect(other.filter { $0.0 > later }.map(\.0) == plain.filter { $0.0 > later }.map(\.0))
    #expect(other.filter { $0.0 > later }.map(\.1) == plain.filter { $0.0 > later }.map(\.1))
  }
}

extension Choice where Value == any TimelineSource {
  /// States that take turns, each held for an exponential time, in hours.
  fileprivate static func markov(_ states: [(String, Int64)]) -> Choice {
    var settings = MarkovSource.Settings()
    settings.states = states.map { name, hours in
      var state = MarkovSource.State()
      (state.state, state.mean) = (StateName(name), .hours(hours))
      return state
    }
    return Choice(MarkovSource.self, settings) { $0 }
  }
}
