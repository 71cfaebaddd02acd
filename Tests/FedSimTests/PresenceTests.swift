import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Devices that join and leave")
struct PresenceTests {
  private func scene(
    here: [ClosedRange<Int64>], windows: [[Int64]] = [[0, 100_000, 105_000]],
    _ change: (inout FleetGroupSettings) -> Void = { _ in }
  ) -> Scene {
    Scene(
      fleet: [
        .group(windows: windows) {
          $0.presence = .states("here", in: here, otherwise: "away")
          $0.participation.retrain = .newVersions
          change(&$0)
        }
      ])
  }

  @Test("a training ends as its device leaves; the batch that was done is wasted")
  func leavesInTraining() {
    // Batch 1 ends at 5.340, batch 2 would at 6.340.
    let played = scene(here: [0...6000]).play()
    #expect(
      played.story(of: 0, only: "is", "attempt", "ends") == [
        "6000 is left", "6000 attempt deviceLeft 1", "6000 ends left",
      ])
    #expect(played.simulation.books.ledgers.attempts[.deviceLeft] == 1)
    #expect(played.simulation.books.ledgers.batchesWasted == 1)
    let presence = played.simulation.deviceRecords[0].presence
    #expect(presence?.leaves == 1)
    #expect(presence?.total == .seconds(6))
  }

  @Test("what waits to be sent ends with its device; what was sent goes its way")
  func leavesWithAnUpdate() {
    func played(_ leaves: Int64, link: Int64 = 1_000_000) -> Played {
      scene(here: [0...leaves]) {
        $0.link = .states("wifi", in: [0...link], otherwise: "offline")
      }.play()
    }
    // Made at 8.340, sent by 9.640, at the server at 9.650.
    let waiting = played(20_000, link: 8000)
    #expect(waiting.simulation.books.ledgers.updates[.deviceLeft] == 1)
    #expect(waiting.story(of: 0, only: "fails") == [])
    let half = played(9000)
    #expect(half.story(of: 0, only: "fails", "arrives") == ["9000 fails 0 cancelled"])
    #expect(half.simulation.books.ledgers.updates[.deviceLeft] == 1)
    let sent = played(9645)
    #expect(
      sent.story(of: 0, only: "fails", "arrives") == [
        "9645 fails 0 unacknowledged", "9650 arrives 0",
      ])
    #expect(sent.simulation.books.ledgers.updates[.deviceLeft] == 0)
    #expect(sent.simulation.books.ledgers.updates[.unfinishedAtEnd] == 1)
    // A fleet that keeps no outbox tells the same end.
    var bare = scene(here: [0...9000]) { $0.outbox.capacity = 0 }
    bare.inputs.stop.after = .seconds(60)
    #expect(bare.play().simulation.books.ledgers.updates[.deviceLeft] == 1)
  }

  @Test("before it joins a device is inert; joining in an open window it takes part at once")
  func joins() {
    var scene = scene(here: [50_000...1_000_000])
    scene.inject(.launch, "phones/0", at: 10_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "is", "begins", "makes") == [
        "50000 is joined", "50000 begins window", "58340 makes 0 of v0 4b 4s", "1000000 is left",
      ])
    #expect(played.simulation.books.tallies.injectionsWithoutEffect == 1)
    #expect(played.simulation.books.tallies.joins == 1)
    #expect(played.simulation.deviceRecords[0].presence?.total == .seconds(950))
  }

  @Test("a device that comes back has no model: it downloads again")
  func rejoins() {
    let played = scene(
      here: [0...40_000, 60_000...10_000_000],
      windows: [[0, 30_000, 35_000], [70_000, 100_000, 105_000]]
    ) { $0.participation.retrain = .always }.play()
    #expect(
      played.story(of: 0, only: "downloaded", "makes") == [
        "4340 downloaded v0", "8340 makes 0 of v0 4b 4s", "74340 downloaded v0",
        "78340 makes 1 of v0 4b 4s",
      ])
  }

  @Test("the system's tasks begin again with the device: idle counts from its joining")
  func tasks() {
    let scene = Phone.scene {
      $0.group.presence = .states("here", in: [1_000_000...1_500_000], otherwise: "away")
    }
    #expect(
      scene.play().story(of: 0, only: "submits", "begins", "is").prefix(4) == [
        "1000000 is joined", "1000000 submits processing", "1100000 submits processing",
        "1100000 begins task",
      ])
  }

  @Test("a device that is away neither drains nor charges")
  func energy() {
    let played = scene(here: [0...6000, 100_000...104_000], windows: []) {
      $0.battery = BatterySettings()
      $0.battery!.idle = Power(milliwatts: 1000)
      $0.power = .states("plugged", in: [50_000...90_000], otherwise: "unplugged")
    }.play()
    let flows = played.simulation.deviceRecords[0].energy?.flows
    #expect(flows?.idle == 10_000_000_000)  // 1 W for 6 s and for 4 s
    #expect(flows?.charged == 0)
  }

  @Test("a device that leaves a cohort is no longer waited for")
  func cohort() {
    // It waits at the server from 1.010 to 1.520; the others come at 4.010.
    var scene = scene(here: [0...1500])
    scene.inputs.fleet.append(.group("others", count: 2, windows: [[3000, 100_000, 105_000]]))
    var settings = UniformSelector.Settings()
    settings.cohort = 2
    scene.inputs.server.selector = Choice(UniformSelector.self, settings) { $0 }
    scene.threshold(2)
    #expect(scene.play().simulation.deviceRecords.map(\.activity.updates) == [0, 1, 1])
  }

  @Test("stay: one interval a device, begun within a span and as long as drawn")
  func stay() {
    var settings = StaySource.Settings()
    settings.from = ms(10_000)
    settings.median = .seconds(5)
    func timeline(_ ordinal: UInt32) -> any Timeline {
      StaySource(settings).timeline(
        TimelineContext(
          space: .presence,
          key: StreamKey(seed: 1, purpose: "presence", group: "a", ordinal: ordinal),
          device: "a/\(ordinal)"))
    }
    var one = timeline(0)
    #expect(one.segment(at: ms(12_000)) == Segment(start: ms(10_000), end: ms(15_000), state: 1))
    #expect(one.segment(at: ms(15_000)).state == 0)
    settings.within = .seconds(100)
    settings.median = nil
    // Uniform from 10 s to 110 s: mean 60 s, standard error 0.913 s.
    let starts = (0..<1000).map { ordinal -> Double in
      let ordinal = UInt32(ordinal)
      var timeline = timeline(ordinal)
      return timeline.segment(at: ms(200_000)).start.seconds
    }
    let mean = starts.reduce(0, +) / 1000
    #expect(abs(mean - 60) < 4 * 0.913)
    #expect(starts.min()! >= 10 && starts.max()! < 110)
  }
}
