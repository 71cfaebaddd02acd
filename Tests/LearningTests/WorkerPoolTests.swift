import Foundation
import Learning
import Synchronization
import Testing

@Suite struct WorkerPoolTests {
  /// Numbers that pieces of work leave.
  private final class Marks: @unchecked Sendable {
    private let lock = NSLock()
    private var counts: [Int]
    init(_ count: Int) { counts = Array(repeating: 0, count: count) }
    func add(_ index: Int) { lock.withLock { counts[index] += 1 } }
    var all: [Int] { lock.withLock { counts } }
  }

  @Test("every index is visited once", arguments: 1...4)
  func forEach(threads: Int) {
    let pool = WorkerPool(threads: threads)
    for count in [0, 1, 2, 3, 100] {
      let marks = Marks(count)
      pool.forEach(count) { index, _ in marks.add(index) }
      #expect(marks.all == Array(repeating: 1, count: count))
    }
    #expect(pool.map(50) { index, _ in index * index } == (0..<50).map { $0 * $0 })
  }

  @Test("submitted work has run once when its wait returns", arguments: 1...4)
  func submit(threads: Int) {
    let pool = WorkerPool(threads: threads)
    let marks = Marks(500)
    let tickets = (0..<500).map { index in pool.submit { _ in marks.add(index) } }
    for place in [499, 0, 250] {
      pool.wait(tickets[place])
      #expect(marks.all[place] == 1)
      #expect(pool.isDone(tickets[place]))
    }
    for ticket in tickets.reversed() { pool.wait(ticket) }
    pool.wait(tickets[3])
    #expect(marks.all == Array(repeating: 1, count: 500))
  }

  @Test("a pool of one thread works where somebody waits, that work first")
  func oneThread() {
    let pool = WorkerPool(threads: 1)
    let marks = Marks(3)
    let tickets = (0..<3).map { index in pool.submit { _ in marks.add(index) } }
    #expect(marks.all == [0, 0, 0])
    pool.wait(tickets[1])
    #expect(marks.all == [0, 1, 0])
    #expect(pool.cancel(tickets[0]))
    #expect(!pool.cancel(tickets[1]))
    pool.wait(tickets[2])
    #expect(marks.all == [0, 1, 1])
  }

  @Test("work may wait for earlier work and use the pool itself", arguments: 1...4)
  func nested(threads: Int) {
    let pool = WorkerPool(threads: threads)
    for _ in 0..<20 {
      let marks = Marks(60)
      var chains = [WorkerPool.Ticket?](repeating: nil, count: 6)
      for step in 0..<10 {
        for chain in 0..<6 {
          let earlier = chains[chain]
          chains[chain] = pool.submit { _ in
            if let earlier { pool.wait(earlier) }
            // The earlier link of the chain has left its mark.
            if step > 0 { precondition(marks.all[chain * 10 + step - 1] == 1) }
            pool.forEach(3) { index, _ in if index == 1 { marks.add(chain * 10 + step) } }
          }
        }
      }
      for ticket in chains.reversed() { if let ticket { pool.wait(ticket) } }
      #expect(marks.all == Array(repeating: 1, count: 60))
    }
  }

  @Test("no two pieces of work share a scratch at a time", arguments: 1...4)
  func scratches(threads: Int) {
    let pool = WorkerPool(threads: threads)
    let used = Mutex<[ObjectIdentifier]>([])
    pool.forEach(200) { _, scratch in
      let name = ObjectIdentifier(scratch)
      used.withLock {
        precondition(!$0.contains(name))
        $0.append(name)
      }
      pool.forEach(2) { _, inner in precondition(ObjectIdentifier(inner) != name) }
      used.withLock { $0.removeAll { $0 == name } }
    }
    #expect(used.withLock { $0.isEmpty })
  }

  @Test("pools come and go, with work still queued", arguments: 1...4)
  func shutdown(threads: Int) {
    for _ in 0..<50 {
      let pool = WorkerPool(threads: threads)
      let marks = Marks(20)
      let tickets = (0..<20).map { index in pool.submit { _ in marks.add(index) } }
      pool.wait(tickets[7])
      #expect(marks.all.allSatisfy { $0 <= 1 } && marks.all[7] == 1)
    }
  }
}
