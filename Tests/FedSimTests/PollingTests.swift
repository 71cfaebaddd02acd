import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Polls that are foreseen")
struct PollingTests {
  /// A random world whose devices ask again and again, mostly of a server that takes few at once.
  private func world(_ seed: UInt64) -> SimulationInputs {
    var inputs = RandomWorld.quietInputs(seed: seed)
    var stream = StreamKey(seed: seed, purpose: "polls").stream(slot: 0)
    func pick<T>(_ choices: [T]) -> T { choices[Int(stream.below(UInt32(choices.count)))] }
    inputs.shakeTies = nil
    inputs.shortcuts.playsAhead = pick([true, false])
    // Requests of some hours, of which a few in a hundred are let in.
    inputs.stop.after = .minutes(pick([20, 90, 200]))
    if pick([true, false]) { inputs.stop.versions = pick([1, 3, 12]) }
    if pick([true, true, true, false]) {
      inputs.server.reachable = ServerSettings().reachable
      inputs.server.internet = ServerSettings().internet
    }
    for place in inputs.fleet.indices {
      inputs.fleet[place].count += Int(stream.below(7))
      inputs.fleet[place].participation.repeats = pick([true, true, true, false])
      inputs.fleet[place].participation.pause = .milliseconds(pick([1, 400, 1000, 5000, 60_000]))
      inputs.fleet[place].network.wifi.roundTrip = .milliseconds(pick([0, 20, 400]))
      inputs.fleet[place].network.requestTimeout = .milliseconds(pick([450, 2000, 20_000, 60_000]))
      if pick([true, true, false]) { inputs.fleet[place].battery = nil }
      if pick([true, true, false]) {
        inputs.fleet[place].background.windows = .fixed([(0, 20_000_000, 20_100_000, nil)])
        inputs.fleet[place].background.processing = nil
      }
      if pick([true, false]) {
        inputs.fleet[place].link = .fixed([(0, nil, 20_100_000, "wifi")])
      }
      if pick([true, false]) { inputs.fleet[place].network.spread = 0 }
    }
    guard pick([true, true, true, true, false]) else { return inputs }
    var selector = ConcurrentSelector.Settings()
    selector.limit = pick([1, 1, 2, 4])
    selector.lease = .seconds(pick([3, 60, 600, 3600]))
    inputs.server.selector = Choice(ConcurrentSelector.self, selector) { $0 }
    var buffer = BufferTrigger.Settings()
    buffer.size = pick([1, 2, 3])
    inputs.server.trigger = [Choice(BufferTrigger.self, buffer) { $0 }]
    inputs.server.broadcast = pick([.onRequest, .onRequest, .afterAggregation])
    return inputs
  }

  /// What is found in a run at its versions, where all devices are at the same time then.
  private final class Looks: Observer {
    private(set) var lines: [String] = []

    func published(_ record: VersionRecord, _ simulation: borrowing Simulation) { look(simulation) }
    func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) { look(simulation) }

    private func look(_ simulation: borrowing Simulation) {
      guard !simulation.playsAhead else { return }
      let (books, digest) = (simulation.books, simulation.eventDigest)
      lines.append("\(simulation.now) \(digest) \(books.ledgers) \(books.traffic)")
      lines.append("\(books.tallies) \(books.effort)")
      lines += simulation.deviceRecords.map { "\($0.activity)" }
      lines += simulation.audit()
    }
  }

  /// All that a run is made of, on the way and at its end.
  private func outcome(_ inputs: SimulationInputs) -> (found: [String], foreseen: Int) {
    let (outcome, looks) = (Outcome(), Looks())
    var simulation = Simulation(inputs)
    simulation.run(observers: [outcome, looks])
    let books = simulation.books
    let found =
      outcome.found(simulation) + looks.lines
      + ["\(books.traffic) \(books.effort)", "\(simulation.participations.losses)"]
    return (found, simulation.eventsForeseen)
  }

  @Test("300 random worlds are the same with polls that are foreseen and that are played")
  func same() {
    var (foreseen, worlds) = (0, 0)
    for seed in UInt64(1)...300 {
      var inputs = world(seed)
      let fast = outcome(inputs)
      inputs.shortcuts.foreseesPolls = false
      let plain = outcome(inputs)
      #expect(plain.foreseen == 0)
      #expect(fast.found.count == plain.found.count, "seed \(seed)")
      for (a, b) in zip(fast.found, plain.found) where a != b {
        Issue.record("seed \(seed): \(a) and \(b)")
        return
      }
      foreseen += fast.foreseen
      if fast.foreseen > 0 { worlds += 1 }
    }
    // It is done, and often.
    #expect(foreseen > 100_000)
    #expect(worlds > 75)
  }

  @Test("A run that is saved while devices poll continues the same")
  func saved() throws {
    var archives = 0
    for seed in UInt64(1)...40 {
      var inputs = world(seed)
      let whole = try Stretches(inputs, stops: [])
      let parts = try Stretches(inputs, stops: Array(stride(from: 5, to: whole.turns, by: 97)))
      Stretches.expectSame(whole.found, parts.found, "seed \(seed)")
      archives += parts.archives.count
      // The next stretch plays polls, or foresees them once more.
      let turns = try Stretches(inputs, stops: [whole.turns / 2]) { stretch in
        inputs.shortcuts.foreseesPolls = stretch % 2 == 0
        return inputs
      }
      Stretches.expectSame(whole.found, turns.found, "seed \(seed)")
    }
    #expect(archives > 100)
  }

  @Test("Requests, bytes and events of a device that is turned away again and again, by hand")
  func byHand() {
    // The first trains until the end. The second begins a request each 3.020 s: 1 s to send it,
    // 0.020 s until the answer, 1 s to receive it, 1 s of pause.
    func phone(_ name: String) -> FleetGroupSettings {
      .group(name, windows: [[0, 400_000, 400_000]]) {
        $0.compute.perBatch = .seconds(1000)
        $0.participation.repeats = true
        $0.participation.pause = .seconds(1)
      }
    }
    var scene = Scene(.tiny(samples: [8, 8]), fleet: [phone("first"), phone("second")])
    var selector = ConcurrentSelector.Settings()
    selector.limit = 1
    scene.inputs.server.selector = Choice(ConcurrentSelector.self, selector) { $0 }
    scene.inputs.stop.after = .seconds(302)
    var simulation = Simulation(scene.inputs)
    simulation.run()
    #expect(simulation.eventsForeseen > 400)
    let ledger = simulation.books.ledgers.transmissions
    // The first asks and downloads. The second's requests begin at 0, 3.020, …, 302.
    #expect(ledger.opened == 2 + 101)
    #expect(ledger[.delivered] == 2 + 100)
    #expect(ledger[.unfinishedAtEnd] == 1)
    #expect(simulation.books.ledgers.bytesUp == 2 * 1000 + 100 * 1000)
    #expect(simulation.deviceRecords[1].activity.bytesUp == 100_000)
    #expect(simulation.deviceRecords[1].activity.bytesDown == 100_000)
    // The window's event, five for each of 100 requests, and the pause that ends with the run.
    scene.inputs.shortcuts.foreseesPolls = false
    var plain = Simulation(scene.inputs)
    plain.run()
    #expect(plain.eventsForeseen == 0)
    #expect(plain.eventDigest == simulation.eventDigest)
    #expect(plain.books.tallies.events == simulation.books.tallies.events)
    #expect(plain.books.tallies.cancelledEvents == simulation.books.tallies.cancelledEvents)
    // The timer of requests, of 60 s, rings in vain four or five times.
    #expect(simulation.books.tallies.cancelledEvents >= 4)
  }

  @Test("Somebody who looks at every event sees each poll")
  func looked() {
    var inputs = world(3)
    inputs.shortcuts.playsAhead = false
    let tape = Tape(audits: false)
    var simulation = Simulation(inputs)
    simulation.run(observers: [tape])
    #expect(simulation.eventsForeseen == 0)
    #expect(tape.events.count == simulation.books.tallies.events)
  }

  @Test("Phases are found in order, whatever came and went")
  func phases() {
    var stream = StreamKey(seed: 7, purpose: "phases").stream(slot: 0)
    var list = PhaseList()
    var sorted: [PhaseList.Key] = []
    for step in 0..<20_000 {
      let key = PhaseList.Key(
        phase: Int64(stream.below(step < 10_000 ? 3_000_000 : 40)), device: Int(stream.below(50)))
      let place = sorted.firstIndex { $0 >= key } ?? sorted.count
      #expect(list.first(from: key) == (place < sorted.count ? sorted[place] : nil))
      if place < sorted.count, sorted[place] == key {
        list.remove(key)
        sorted.remove(at: place)
      } else if sorted.count < 2_000 || stream.below(2) == 0 {
        list.insert(key)
        sorted.insert(key, at: place)
      } else {
        let gone = sorted.remove(at: Int(stream.below(UInt32(sorted.count))))
        list.remove(gone)
      }
      #expect(list.first == sorted.first)
    }
  }
}
