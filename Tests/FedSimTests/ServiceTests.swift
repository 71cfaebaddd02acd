import FedSim
import Learning
import Schema
import Testing

extension Scene {
  /// The server takes this many milliseconds for each request.
  fileprivate mutating func serve(_ milliseconds: Int64, workers: Int = 1) {
    var service = ServiceSettings()
    service.time = .milliseconds(milliseconds)
    service.workers = workers
    inputs.server.service = service
  }
}

@Suite("A server that takes time for requests")
struct ServiceTests {
  private static let window: [[Int64]] = [[0, 100_000, 105_000]]

  @Test(
    "Three requests that come together are answered one after the other, by hand",
    arguments: [
      // They come at 1.010; an answer takes 0.010 and 1 s for its bytes.
      (workers: 1, accepted: [2_120, 2_220, 2_320], waited: 300, delayed: 2, longest: 2),
      (workers: 2, accepted: [2_120, 2_120, 2_220], waited: 100, delayed: 1, longest: 1),
      (workers: 3, accepted: [2_120, 2_120, 2_120], waited: 0, delayed: 0, longest: 0),
    ])
  func together(workers: Int, accepted: [Int], waited: Int64, delayed: Int, longest: Int) {
    var scene = Scene(fleet: [.group(count: 3, windows: Self.window)])
    scene.serve(100, workers: workers)
    scene.inputs.stop.after = .milliseconds(2_500)
    let played = scene.play()
    for device in 0..<3 {
      #expect(
        played.story(of: device, only: "accepted") == ["\(accepted[device]) accepted r1"])
    }
    let tallies = played.simulation.serverRecord.serviceTallies!
    #expect(tallies.requests == 3 && tallies.served == 3 && tallies.lost == 0)
    #expect(tallies.waited == .milliseconds(waited))
    #expect(tallies.delayed == delayed && tallies.longestQueue == longest)
  }

  @Test("Check, download and upload each take the service time; no service takes none")
  func eachRequest() {
    // Without service the upload arrives at 9.650 and is acknowledged at 10.660 (see `Scene`).
    var scene = Scene(fleet: [.group(windows: Self.window)])
    #expect(scene.play().story(of: 0, only: "arrives") == ["9650 arrives 0"])
    #expect(scene.play().simulation.serverRecord.serviceTallies == nil)
    scene.serve(100)
    scene.threshold(2)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "accepted", "downloaded", "arrives", "receipt") == [
        "2120 accepted r1", "4540 downloaded v0", "9950 arrives 0",
        "10960 receipt 0 pending v0 n1",
      ])
    #expect(played.simulation.serverRecord.serviceTallies?.requests == 3)
    #expect(played.simulation.serverRecord.serviceTallies?.delayed == 0)
  }

  @Test("Who comes as a worker becomes free does not wait")
  func sameTime() {
    // The second device's request comes at 2.010, when the first one's service of 1 s ends.
    var scene = Scene(
      fleet: [
        .group(windows: Self.window), .group("other", windows: [[1_000, 100_000, 105_000]]),
      ])
    scene.serve(1_000)
    scene.inputs.stop.after = .milliseconds(4_500)
    let played = scene.play()
    #expect(played.story(of: 0, only: "accepted") == ["3020 accepted r1"])
    #expect(played.story(of: 1, only: "accepted") == ["4020 accepted r1"])
    #expect(played.simulation.serverRecord.serviceTallies?.delayed == 0)
    #expect(played.simulation.serverRecord.serviceTallies?.longestQueue == 0)
  }

  @Test("A timer of the server that rings as a service ends comes first")
  func timer() {
    // Served: the check at 2.010, the download at 5.030, the update from 11.650 to 12.650, which is
    // 23 times 0.550. So the timer finds nothing then, and the update at 13.200; it was set at
    // 12.100, after the service had begun.
    var scene = Scene(fleet: [.group(windows: Self.window)])
    scene.serve(1_000)
    var every = EveryTrigger.Settings()
    every.period = .milliseconds(550)
    every.minimum = 1
    scene.inputs.server.trigger = [Choice(EveryTrigger.self, every) { $0 }]
    let played = scene.play()
    #expect(played.story(of: 0, only: "arrives") == ["12650 arrives 0"])
    #expect(played.story(of: -1, only: "published").last == "13200 published v1 1")
  }

  @Test("An outage loses what is served and what waits, and their devices see it at once")
  func outage() {
    // Served: the first at 2.010, the second at 3.010; at 3.500 the third is served (since 3.010)
    // and the fourth waits. The second's answer has begun and is cut. The first is accepted at
    // 3.020 and continues.
    var scene = Scene(fleet: [.group(count: 4, windows: Self.window)])
    scene.serve(1_000)
    scene.inputs.server.reachable = .states("down", in: [3_500...60_000], otherwise: "up")
    scene.inputs.stop.after = .seconds(5)
    let played = scene.play()
    #expect(played.story(of: 0, only: "accepted", "check") == ["3020 accepted r1"])
    #expect(played.story(of: 1, only: "accepted", "check") == ["3500 check fails linkLost"])
    for device in 2..<4 {
      #expect(
        played.story(of: device, only: "accepted", "check") == ["3500 check fails unacknowledged"])
    }
    let tallies = played.simulation.serverRecord.serviceTallies!
    #expect(tallies.requests == 4 && tallies.served == 2 && tallies.lost == 2)
    // The second waited 1 s, the third 2 s; the fourth was never begun.
    #expect(tallies.waited == .seconds(3) && tallies.delayed == 2 && tallies.longestQueue == 3)
    // Nobody holds a participation but the first device, whose session continues.
    #expect(played.simulation.livingRecords == 1)
  }

  @Test("An update that is lost in the queue ends as its device left it; one that is served counts")
  func lostUpdate() {
    // Check served 3.010, accepted 4.020, download served 7.030, trained from 8.340 to 12.340, the
    // update at the server 13.650, to be served at 15.650. The app is killed at 14 and keeps none.
    for isLost in [true, false] {
      var scene = Scene(
        fleet: [.group(windows: Self.window) { $0.outbox.persists = false }])
      scene.serve(2_000)
      scene.threshold(1)
      scene.inject(.kill, "phones/0", at: 14_000)
      if isLost {
        scene.inputs.server.reachable = .states("down", in: [15_000...30_000], otherwise: "up")
      }
      let played = scene.play()
      #expect(
        played.story(of: 0, only: "ended")
          == [isLost ? "15000 ended 0 lostAtKill" : "15650 ended 0 aggregated"])
      #expect(played.simulation.serverRecord.serviceTallies?.lost == (isLost ? 1 : 0))
      #expect(played.simulation.livingRecords == 0)
    }
  }

  @Test("An update that is lost in the queue is sent again and counts once")
  func sentAgain() {
    // Lost at 15; the server is back at 16, the update is begun again 30 s after it was lost.
    var scene = Scene(
      fleet: [
        .group(windows: Self.window) {
          $0.outbox.attempts = 2
          $0.outbox.delay = .seconds(30)
        }
      ])
    scene.serve(2_000)
    scene.threshold(1)
    scene.inputs.server.reachable = .states("down", in: [15_000...16_000], otherwise: "up")
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "fails", "arrives")
        == ["15000 fails 0 unacknowledged", "48310 arrives 0"])
    #expect(played.simulation.books.ledgers.updates[.aggregated] == 1)
    #expect(played.simulation.books.tallies.repeatedDeliveries == 0)
  }

  @Test("A timeout applies while a request waits, and the request is served nevertheless")
  func timeout() {
    // Both come at 1.010 and were sent at 1.000. The first is served at 5.010; the second would be
    // at 9.010, and its device waits 5 s only. From 7.030 on the first one's download waits.
    var scene = Scene(
      fleet: [
        .group(windows: Self.window),
        .group("other", windows: Self.window) { $0.network.requestTimeout = .seconds(5) },
      ])
    scene.serve(4_000)
    scene.inputs.stop.after = .milliseconds(9_500)
    let played = scene.play()
    #expect(played.story(of: 0, only: "accepted", "check") == ["6020 accepted r1"])
    #expect(played.story(of: 1, only: "accepted", "check") == ["6000 check fails timedOut"])
    let tallies = played.simulation.serverRecord.serviceTallies!
    #expect(tallies.requests == 3 && tallies.served == 2)
    // The second waited 4 s, the download 1.980 s.
    #expect(tallies.waited == .milliseconds(5_980))
  }

  @Test("Who has given up is not taken into a cohort when its request is served at last")
  func abandoned() {
    for seconds in [Int64(5), 60] {
      var scene = Scene(
        fleet: [
          .group(windows: Self.window),
          .group("other", windows: Self.window) {
            $0.network.requestTimeout = .seconds(seconds)
          },
        ])
      scene.serve(4_000)
      var selector = UniformSelector.Settings()
      selector.cohort = 2
      scene.inputs.server.selector = Choice(UniformSelector.self, selector) { $0 }
      scene.inputs.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
      scene.inputs.stop.after = .seconds(12)
      let played = scene.play()
      #expect(
        played.story(of: -1, only: "cohort") == (seconds == 5 ? [] : ["9010 cohort r1 2"]))
    }
  }

  @Test("A stream that breaks after its result has come is not broken, however long it waits")
  func brokenStream() {
    // The result is at the server at 13.650 and served at 15.650; the session ends at 14 or 13.
    for end in [Int64(14_000), 13_000] {
      var scene = Scene(
        fleet: [
          .group(windows: [[0, end - 100, end]]) {
            $0.outbox.capacity = 0
            $0.protocol = ProtocolSettings()
            $0.protocol!.stream = true
          }
        ])
      scene.serve(2_000)
      let played = scene.play()
      #expect(played.story(of: 0, only: "arrives") == (end == 14_000 ? ["15650 arrives 0"] : []))
      #expect(
        played.simulation.serverRecord.exchangeTallies?.brokenStreams == (end == 14_000 ? 0 : 1))
    }
  }

  @Test("In forty mixed worlds with all kinds of requests every audit finds nothing")
  func audits() {
    var sum = (requests: 0, served: 0, lost: 0, delayed: 0)
    for seed in UInt64(300)..<340 {
      var world = RandomWorld(seed: seed)
      var scene = world.scene()
      var service = ServiceSettings()
      service.time = [.milliseconds(10), .seconds(3), .seconds(20)][Int(seed % 3)]
      service.distribution = seed % 2 == 0 ? .fixed : .exponential
      service.workers = 1 + Int(seed / 2 % 3)
      scene.inputs.server.service = service
      let tape = Tape()
      var simulation = Simulation(scene.inputs)
      simulation.run(observers: [tape])
      #expect(tape.faults == [], "seed \(seed)")
      let tallies = simulation.serverRecord.serviceTallies!
      sum.requests += tallies.requests
      sum.served += tallies.served
      sum.lost += tallies.lost
      sum.delayed += tallies.delayed
    }
    // The worlds are not dull.
    #expect(sum.served > 1000 && sum.lost > 20 && sum.delayed > 500, "\(sum)")
  }
}
