import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("The event queue")
struct EventQueueTests {
  private func entry(_ stream: inout RandomStream, _ sequence: UInt32) -> EventQueue.Entry {
    let actor = Int32(stream.below(4))
    return EventQueue.Entry(
      time: SimTime(microseconds: Int64(stream.below(5))),
      rank: UInt64(stream.below(3)) << 56 | UInt64(stream.below(2) == 0 ? 0 : actor), actor: actor,
      sequence: sequence, event: .end)
  }

  @Test("Entries come out in the order (time, rank, actor, sequence), whatever the order of pushes")
  func order() {
    for seed in UInt64(1)...30 {
      var stream = StreamKey(seed: seed, purpose: "queue").stream(slot: 0)
      var queue = EventQueue()
      var reference: [[Int64]] = []
      func words(_ entry: EventQueue.Entry) -> [Int64] {
        [
          entry.time.microseconds, Int64(entry.rank), Int64(entry.actor), Int64(entry.sequence),
        ]
      }
      // Pushes and pops at random: what comes out is the least of what is in.
      for step in 0..<600 {
        if stream.below(5) < 3 || reference.isEmpty {
          let entry = entry(&stream, UInt32(step))
          queue.push(entry)
          reference.append(words(entry))
          reference.sort { $0.lexicographicallyPrecedes($1) }
        } else {
          #expect(queue.popFirst().map(words) == reference.removeFirst(), "seed \(seed)")
        }
        #expect(queue.count == reference.count)
      }
      while let entry = queue.popFirst() {
        #expect(words(entry) == reference.removeFirst(), "seed \(seed)")
      }
      #expect(reference.isEmpty)
      #expect(queue.popFirst() == nil)
    }
  }

  @Test("The order holds where so many wait that they are spread over stretches of time")
  func manyWait() {
    for seed in UInt64(1)...3 {
      var stream = StreamKey(seed: seed, purpose: "queue").stream(slot: 1)
      var queue = EventQueue()
      var reference: [[Int64]] = []
      var now: Int64 = 0
      func words(_ entry: EventQueue.Entry) -> [Int64] {
        [entry.time.microseconds, Int64(entry.rank), Int64(entry.sequence)]
      }
      func pop() {
        let first = queue.popFirst().map(words)
        #expect(first == reference.popLast(), "seed \(seed)")
        now = first?[0] ?? now
      }
      // Some at once, most soon, some late; up to some ten thousand wait, then none.
      for step in 0..<30_000 {
        if stream.below(10) < (step < 20_000 ? 7 : 3) || reference.isEmpty {
          let span: UInt32 = [1, 1000, 1_000_000_000][Int(stream.below(3))]
          let entry = EventQueue.Entry(
            time: SimTime(microseconds: now + Int64(stream.below(span))),
            rank: UInt64(stream.below(3)), actor: 0, sequence: UInt32(step), event: .end)
          queue.push(entry)
          let word = words(entry)
          var (low, high) = (0, reference.count)
          while low < high {
            let middle = (low + high) / 2
            if word.lexicographicallyPrecedes(reference[middle]) {
              low = middle + 1
            } else {
              high = middle
            }
          }
          reference.insert(word, at: low)
        } else {
          pop()
        }
        #expect(queue.count == reference.count)
      }
      while !reference.isEmpty { pop() }
      #expect(queue.popFirst() == nil)
    }
  }

  @Test("Classes stand in the order in which they happen at one time")
  func classes() {
    #expect(
      EventClass.allCases == [
        .world, .kill, .deadline, .transferEnd, .batchEnd, .serverTimer, .serverArrival,
        .deviceResponse, .deviceTimer, .scan, .snapshot,
      ])
    #expect(EventClass.allCases.map(\.rawValue) == Array(0...10))
  }
}

@Suite("Ties")
struct TieTests {
  /// Six phones that do everything at the same times, and an aggregation at every third arrival.
  private func scene(shake: UInt64?) -> Scene {
    var scene = Scene(
      fleet: [.group(count: 6, windows: [[0, 50_000, 55_000], [100_000, 150_000, 155_000]])])
    scene.inputs.shakeTies = shake
    return scene
  }

  private func arrivals(_ played: Played) -> [Int32] {
    played.tape.events.compactMap { _, event in
      if case .arrival(let device, _, .submit) = event { device } else { nil }
    }
  }

  @Test("Unshaken, devices act in the order of the fleet")
  func unshaken() {
    #expect(arrivals(scene(shake: nil).play()) == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5])
  }

  @Test("Shaken ties permute the devices, the same for the same key, and never one's own events")
  func shaken() {
    let keys: [UInt64] = [1, 2, 3, 4, 5, 6]
    let orders = keys.map { arrivals(scene(shake: $0).play()) }
    for (key, order) in zip(keys, orders) {
      #expect(order.prefix(6).sorted() == [0, 1, 2, 3, 4, 5], "key \(key)")
      #expect(order.suffix(6).sorted() == [0, 1, 2, 3, 4, 5], "key \(key)")
      #expect(arrivals(scene(shake: key).play()) == order)
    }
    #expect(Set(orders).count > 1)
    // Two times of one run are shaken apart.
    #expect(orders.contains { Array($0.prefix(6)) != Array($0.suffix(6)) })
    // Each device's own story is the same up to the counts of what others did.
    let plain = scene(shake: nil).play()
    let shaken = scene(shake: 3).play()
    for device in 0..<6 {
      #expect(
        shaken.story(of: device, only: "begins", "trains", "downloaded v0", "ends")
          == plain.story(of: device, only: "begins", "trains", "downloaded v0", "ends"))
    }
  }

  @Test("Adding a device to a group leaves the others' shaken order as it was")
  func shakenWithOneMore() {
    func order(_ count: Int) -> [Int32] {
      var scene = Scene(fleet: [.group(count: count, windows: [[0, 50_000, 55_000]])])
      scene.inputs.shakeTies = 9
      return arrivals(scene.play())
    }
    #expect(order(7).filter { $0 < 6 } == order(6))
  }

  @Test("Cancelled events are skipped and counted")
  func cancelled() {
    // One window: a soft and a hard expiry after the session's end, and the timer of the first
    // request. The other two begin within its 60 s, so it watches them, too; when it rings, all
    // three have been answered.
    let played = Scene(fleet: [.group(windows: [[0, 50_000, 55_000]])]).play()
    #expect(played.simulation.tallies.cancelledEvents == 3)
    #expect(played.simulation.tallies.events == played.tape.events.count)
  }
}
