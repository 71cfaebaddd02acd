import Foundation

/// Ranks that are threads of one process: what tests hold processes to.
package final class ThreadRanks: Ranks {
  package let rank: Int
  package let count: Int
  private let post: Post

  /// Letters between the ranks, in the order of their sending.
  private final class Post: @unchecked Sendable {
    private let condition = NSCondition()
    private var letters: [[[[UInt8]]]]

    init(count: Int) {
      letters = Array(repeating: Array(repeating: [], count: count), count: count)
    }

    func put(_ letter: [UInt8], from sender: Int, to receiver: Int) {
      condition.withLock {
        letters[sender][receiver].append(letter)
        condition.broadcast()
      }
    }

    func take(from sender: Int, to receiver: Int) -> [UInt8] {
      condition.withLock {
        while letters[sender][receiver].isEmpty { condition.wait() }
        return letters[sender][receiver].removeFirst()
      }
    }
  }

  private init(_ rank: Int, of count: Int, _ post: Post) {
    (self.rank, self.count, self.post) = (rank, count, post)
  }

  /// What each of `count` ranks makes, all at the same time; by rank.
  package static func run<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (ThreadRanks) -> Value
  ) -> [Value] {
    let post = Post(count: count)
    let group = DispatchGroup()
    let results = Results<Value>(count)
    for rank in 0..<count {
      group.enter()
      let thread = Thread {
        results.put(body(ThreadRanks(rank, of: count, post)), rank)
        group.leave()
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
    group.wait()
    return results.all
  }

  private final class Results<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Value?]

    init(_ count: Int) { values = Array(repeating: nil, count: count) }

    func put(_ value: Value, _ rank: Int) { lock.withLock { values[rank] = value } }
    var all: [Value] { values.compactMap { $0 } }
  }

  package func exchange(_ sent: [RankPiece], _ received: [RankPiece]) {
    for piece in sent { post.put(Array(piece.memory), from: rank, to: piece.rank) }
    for piece in received {
      let letter = post.take(from: piece.rank, to: rank)
      precondition(letter.count == piece.memory.count, "ranks are at the same exchange")
      piece.memory.copyBytes(from: letter)
    }
  }
}
