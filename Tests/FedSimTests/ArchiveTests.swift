import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("A run that is saved and resumed")
struct ArchiveTests {
  /// Three stops at random; the middle stretch is computed in another way. How often the run was
  /// saved: not at all where it has one turn.
  private func check(_ seed: UInt64, _ inputs: SimulationInputs) throws -> Int {
    let whole = try Stretches(inputs, stops: [])
    guard whole.turns > 1 else { return 0 }
    var stream = StreamKey(seed: seed, purpose: "stops").stream(slot: 0)
    let stops = Set((0..<3).map { _ in 1 + Int(stream.below(UInt32(whole.turns - 1))) }).sorted()
    var other = inputs
    if seed % 2 == 0 { other.compute = .eager }
    if seed % 3 == 0 { other.pool = WorkerPool(threads: 2) }
    let parts = try Stretches(inputs, stops: stops) { $0 == 2 ? other : nil }
    #expect(parts.archives.count == stops.count)
    Stretches.expectSame(whole.found, parts.found, "seed \(seed)")
    return parts.archives.count
  }

  @Test("Random worlds are the same wherever they are saved", arguments: [0, 1, 2])
  func worlds(part: UInt64) throws {
    var saved = 0
    for seed in (1 + part * 100)...(100 + part * 100) {
      var world = RandomWorld(seed: seed)
      saved += try check(seed, world.scene().inputs)
    }
    #expect(saved > 250, "the worlds are not over at once")
  }

  @Test("So do worlds that collect for central training")
  func collecting() throws {
    var saved = 0
    for seed in UInt64(1)...100 {
      var world = RandomWorld(seed: seed)
      saved += try check(seed, world.collectingScene().inputs)
    }
    #expect(saved > 250, "the worlds are not over at once")
  }

  @Test("Where devices are played on ahead they are at different times, and continue from there")
  func ahead() throws {
    var (played, saved) = (0, 0)
    for seed in UInt64(1)...100 {
      let inputs = RandomWorld.quietInputs(seed: seed)
      saved += try check(seed, inputs)
      var simulation = Simulation(inputs)
      simulation.run()
      played += simulation.eventsPlayedAhead
    }
    #expect(played > 1000)
    #expect(saved > 250, "the worlds are not over at once")
  }

  @Test("A run is saved after every single turn")
  func everyTurn() throws {
    var world = RandomWorld(seed: 12)
    let inputs = world.scene().inputs
    let whole = try Stretches(inputs, stops: [])
    let parts = try Stretches(inputs, stops: Array(1..<min(whole.turns, 400)))
    #expect(parts.archives.count > 100)
    Stretches.expectSame(whole.found, parts.found)
  }

  @Test("An archive holds every stored property of a run but those that are made again")
  func properties() {
    let names = SavedRun.names(of: Simulation(Scene().inputs))
    #expect(Set(names.stored).subtracting(names.saved) == SavedRun.unsaved)
    #expect(Set(names.saved).isSubset(of: names.stored))
  }

  @Test("What parts are made of from the inputs is there again", arguments: 1...20)
  func rebuilt(seed: UInt64) throws {
    var world = RandomWorld(seed: seed)
    let inputs = world.collectingScene().inputs
    let restored = try Simulation(inputs, archive: Simulation(inputs).archive())
    func missing(_ value: Any, _ path: String) -> [String] {
      if let part = value as? any Rebuildable { return part.isThere ? [] : [path] }
      let mirror = Mirror(reflecting: value)
      // Objects are shared, and have no such parts.
      guard mirror.displayStyle != .class else { return [] }
      return mirror.children.enumerated().flatMap { place, child in
        missing(child.value, "\(path).\(child.label ?? "\(place)")")
      }
    }
    #expect(missing(SavedRun.rebuiltParts(of: restored), "") == [])
  }

  @Test("Bytes that are damaged anywhere are detected")
  func damage() throws {
    var world = RandomWorld(seed: 3)
    let inputs = world.scene().inputs
    let parts = try Stretches(inputs, stops: [200])
    let bytes = try #require(parts.archives.first)
    var stream = StreamKey(seed: 1, purpose: "damage").stream(slot: 0)
    for _ in 0..<1000 {
      var damaged = bytes
      let place = Int(stream.below(UInt32(bytes.count)))
      switch stream.below(3) {
      case 0: damaged[place] ^= 1 << UInt8(stream.below(8))
      case 1: damaged.removeSubrange(place...)
      default: damaged.remove(at: place)
      }
      #expect(throws: ArchiveFault.self) { try Simulation(inputs, archive: damaged) }
    }
  }

  @Test("An archive of another run is refused, and the fault says what differs")
  func otherRun() throws {
    var scene = Scene(fleet: [.group(count: 2, windows: [[0, 600_000, 605_000]])])
    let bytes = try Simulation(scene.inputs).archive()
    scene.inputs.fleet[0].count = 3
    #expect(throws: ArchiveFault.otherRun(what: "devices of phones", saved: "2", found: "3")) {
      try Simulation(scene.inputs, archive: bytes)
    }
    scene.inputs.fleet[0].count = 2
    scene.inputs.omitsArithmetic = true
    #expect(
      throws: ArchiveFault.otherRun(what: "arithmetic left out", saved: "false", found: "true")
    ) { try Simulation(scene.inputs, archive: bytes) }
    #expect(throws: ArchiveFault.noArchive) {
      try Simulation(scene.inputs, archive: Array("HDF5, or so".utf8))
    }
  }
}
