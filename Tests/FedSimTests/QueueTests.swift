import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("The event queue")
struct EventQueueTests {
  private typealias Words = [Int64]

  private func words(_ entry: EventQueue.Entry) -> Words {
    [
      entry.time.microseconds, Int64(entry.eventClass.rawValue), Int64(entry.actor),
      Int64(entry.sequence),
    ]
  }

  /// What waits, in the order (time, class, actor, sequence): an independent account.
  private struct Reference {
    var words: [Words] = []

    mutating func push(_ word: Words) {
      var (low, high) = (0, words.count)
      while low < high {
        let middle = (low + high) / 2
        if word.lexicographicallyPrecedes(words[middle]) { low = middle + 1 } else { high = middle }
      }
      words.insert(word, at: low)
    }
  }

  private func entry(
    at time: Int64, _ stream: inout RandomStream, actors: UInt32, _ sequence: UInt32
  ) -> EventQueue.Entry {
    let classes: [EventClass] = [.world, .deadline, .scan]
    return EventQueue.Entry(
      time: SimTime(microseconds: time), eventClass: classes[Int(stream.below(3))],
      actor: Int32(stream.below(actors)), sequence: sequence,
      event: .injection(Int32(sequence)))
  }

  @Test(
    "Entries leave in the order (time, class, actor, sequence), whatever the order of pushes")
  func order() {
    for seed in UInt64(1)...30 {
      var stream = StreamKey(seed: seed, purpose: "queue").stream(slot: 0)
      var queue = EventQueue()
      var reference = Reference()
      // Pushes and pops at random: each pop returns the least element.
      for step in 0..<600 {
        if stream.below(5) < 3 || reference.words.isEmpty {
          let entry = entry(
            at: Int64(stream.below(5)), &stream, actors: 4, UInt32(step))
          queue.push(entry)
          reference.push(words(entry))
        } else {
          #expect(queue.popFirst().map(words) == reference.words.popLast(), "seed \(seed)")
        }
        #expect(queue.count == reference.words.count)
      }
      while let entry = queue.popFirst() {
        #expect(words(entry) == reference.words.popLast(), "seed \(seed)")
      }
      #expect(reference.words.isEmpty)
      #expect(queue.popFirst() == nil)
    }
  }

  @Test("The order holds where many actors wait, with events taken back and actors played on")
  func manyWait() {
    for seed in UInt64(1)...3 {
      var stream = StreamKey(seed: seed, purpose: "queue").stream(slot: 1)
      var queue = EventQueue()
      var reference = Reference()
      var now: Int64 = 0
      // Some at once, most soon, some late; up to some ten thousand wait, then none.
      for step in 0..<30_000 {
        let what = stream.below(12)
        if what < (step < 20_000 ? 7 : 2) || reference.words.isEmpty {
          let span: UInt32 = [1, 1000, 1_000_000_000][Int(stream.below(3))]
          let entry = entry(
            at: now + Int64(stream.below(span)), &stream, actors: 5000, UInt32(step))
          queue.push(entry)
          reference.push(words(entry))
        } else if what == 11 {
          // One of those that wait is taken back.
          let gone = reference.words.remove(at: Int(stream.below(UInt32(reference.words.count))))
          queue.cancel(
            .injection(Int32(gone[3])), at: SimTime(microseconds: gone[0]), of: Int32(gone[2]))
        } else {
          let first = queue.popFirst().map(words)
          #expect(first == reference.words.popLast(), "seed \(seed)")
          now = first?[0] ?? now
          // The actor's next event, before its turn.
          if what == 10, let next = queue.upcoming {
            let own = reference.words.last { $0[2] == first?[2] }
            #expect(words(next) == own)
            queue.removeUpcoming()
            reference.words.removeAll { $0 == own }
          }
        }
        #expect(queue.count == reference.words.count)
      }
      while let word = reference.words.popLast() { #expect(queue.popFirst().map(words) == word) }
      #expect(queue.popFirst() == nil)
    }
  }

  @Test("Taking back what is not there changes nothing; a copy of a queue is its own")
  func copies() {
    var queue = EventQueue()
    func entry(_ time: Int64, _ sequence: UInt32) -> EventQueue.Entry {
      EventQueue.Entry(
        time: SimTime(microseconds: time), eventClass: .world, actor: 1, sequence: sequence,
        event: .injection(Int32(sequence)))
    }
    queue.push(entry(5, 0))
    queue.push(entry(7, 1))
    queue.cancel(.injection(1), at: SimTime(microseconds: 6), of: 1)
    queue.cancel(.injection(0), at: SimTime(microseconds: 7), of: 1)
    #expect(queue.count == 2)
    var copy = queue
    copy.push(entry(6, 2))
    #expect([copy.popFirst(), copy.popFirst(), copy.popFirst()].map { $0?.sequence } == [0, 2, 1])
    #expect(
      [queue.popFirst(), queue.popFirst(), queue.popFirst()].map { $0?.sequence } == [0, 1, nil])
  }

  @Test("A list that grows long and empties again stays in order, and so does a copy of it")
  func longLists() {
    var stream = StreamKey(seed: 1, purpose: "queue").stream(slot: 2)
    var queue = EventQueue()
    var reference = Reference()
    for step in 0..<900 {
      let entry = entry(at: Int64(stream.below(300)), &stream, actors: 3, UInt32(step))
      queue.push(entry)
      reference.push(words(entry))
    }
    // One in three is taken back, from all over the lists.
    for step in stride(from: 0, to: 900, by: 3) {
      let place = reference.words.firstIndex { $0[3] == Int64(step) }!
      let gone = reference.words.remove(at: place)
      queue.cancel(
        .injection(Int32(step)), at: SimTime(microseconds: gone[0]), of: Int32(gone[2]))
    }
    var copy = queue
    let waiting = reference.words
    #expect(queue.entries.count == 600)
    for word in waiting.reversed() { #expect(queue.popFirst().map(words) == word) }
    #expect(queue.popFirst() == nil)
    queue.push(entry(at: 1, &stream, actors: 3, 1000))
    for word in waiting.reversed() { #expect(copy.popFirst().map(words) == word) }
    #expect(copy.popFirst() == nil)
  }

  @Test(
    "A long list is in order whichever end it grows at, with events taken back and played",
    arguments: ["later and later", "sooner and sooner", "to both sides", "in between"])
  func longListGrows(_ way: String) {
    for seed in UInt64(1)...8 {
      var stream = StreamKey(seed: seed, purpose: "queue").stream(slot: 3)
      var queue = EventQueue()
      // In ascending order; times differ, so that they alone decide.
      var reference: [(time: Int64, number: Int32)] = []
      func add(_ number: Int32) {
        let n = Int64(number)
        let time =
          switch way {
          case "later and later": 1_000_000 + n
          case "sooner and sooner": 1_000_000 - n
          case "to both sides": number % 2 == 0 ? 1_000_000 + n : 1_000_000 - n
          default: number % 2 == 0 ? n : 2_000_000 - n
          }
        let place = reference.firstIndex { $0.time > time } ?? reference.count
        reference.insert((time, number), at: place)
        queue.push(
          EventQueue.Entry(
            time: SimTime(microseconds: time), eventClass: .world, actor: 0,
            sequence: UInt32(number), event: .injection(number)))
      }
      // Three waves, each of another share of additions, so that the list shrinks in between.
      for number in 0..<Int32(1500) {
        let mostAdded: UInt32 = [9, 4, 8][Int(number) / 500]
        if stream.below(10) < mostAdded || reference.isEmpty { add(number) }
        switch stream.below(10) {
        case 0..<2 where !reference.isEmpty:
          let gone = reference.remove(at: Int(stream.below(UInt32(reference.count))))
          queue.cancel(.injection(gone.number), at: SimTime(microseconds: gone.time), of: 0)
        case 2..<4 where !reference.isEmpty:
          #expect(queue.popFirst()?.sequence == UInt32(reference.removeFirst().number))
        default: break
        }
        #expect(queue.count == reference.count, "seed \(seed)")
      }
      #expect(queue.entries.map { Int32($0.sequence) } == reference.map(\.number), "seed \(seed)")
      for entry in reference {
        #expect(queue.popFirst()?.time.microseconds == entry.time, "seed \(seed)")
      }
      #expect(queue.popFirst() == nil)
    }
  }

  @Test("Of equal events at one time the one that was scheduled first is taken back")
  func equalEvents() {
    var queue = EventQueue()
    for sequence in UInt32(0)..<20 {
      queue.push(
        EventQueue.Entry(
          time: SimTime(microseconds: 5), eventClass: .world, actor: 1, sequence: sequence,
          event: .injection(7)))
    }
    for _ in 0..<3 { queue.cancel(.injection(7), at: SimTime(microseconds: 5), of: 1) }
    #expect(queue.entries.map(\.sequence) == Array(3..<20))
  }

  @Test("Classes are in the order in which they happen at one time")
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
    // One window: the timer of the first request. The other two begin within its 60 s, so it
    // watches them, too; when it rings, all three have been answered. The expiries after the
    // session's end are taken back.
    let played = Scene(fleet: [.group(windows: [[0, 50_000, 55_000]])]).play()
    #expect(played.simulation.books.tallies.cancelledEvents == 1)
    #expect(played.simulation.books.tallies.events == played.tape.events.count)
  }
}
