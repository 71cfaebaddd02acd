import FedSim
import Learning
import Processes
import Synchronization

/// Memory of fixed places in which a worker leaves the parameters that it has trained, and from
/// which the run reads them: nothing is copied.
///
/// A place is free again when the run has no more use for the parameters.
package final class OutputArea: Sendable {
  /// The memory, which stays where it is.
  package let memory: SharedMemory
  /// How many parameters a place can have.
  private let most: Int
  /// Where places begin that are free, the one freed last at the end.
  private let free: Mutex<[Int]>

  /// The most memory of all places; where more is needed for `fewest`, that is taken.
  private static let mostBytes = 32 << 20
  /// Sums use two groups of trainings at a time, and a worker computes the next.
  private static let fewest = 3
  private static let mostPlaces = 8
  /// A buffer begins later in its page than the one before: they compete for no line of a cache.
  private static let (page, shift) = (4096, 320)

  /// Memory for up to `most` parameters a place. Throws: where there is no room for it.
  package init(most: Int) throws(StartFault) {
    let stride = Self.stride(most)
    let places = min(Self.mostPlaces, max(Self.fewest, Self.mostBytes / stride))
    self.most = most
    memory = try SharedMemory(size: places * stride)
    free = Mutex((0..<places).reversed().map { $0 * stride })
  }

  private static func stride(_ count: Int) -> Int {
    (MemoryLayout<Float>.stride * count + page - 1) / page * page + shift
  }

  /// A place for one training's parameters, which is no longer free; nil: there is none.
  package func take(count: Int) -> Int? { count > most ? nil : free.withLock { $0.popLast() } }

  /// Makes a place free.
  package func give(_ place: Int) { free.withLock { $0.append(place) } }

  /// The parameters at a place, which is free when nobody uses them any more.
  package func adopt(_ place: Int, count: Int) -> ParameterBuffer {
    ParameterBuffer(adopting: Self.start(place, of: memory), count: count) { self.give(place) }
  }

  /// Where a place begins in the memory; nil: it is not within it.
  package static func start(
    _ place: Int, count: Int, in memory: SharedMemory
  ) -> UnsafeMutablePointer<Float>? {
    let size = memory.bytes.count
    guard count >= 0, place >= 0, place % 64 == 0, place <= size, count <= (size - place) / 4
    else { return nil }
    return start(place, of: memory)
  }

  private static func start(_ place: Int, of memory: SharedMemory) -> UnsafeMutablePointer<Float> {
    (memory.bytes.baseAddress! + place).assumingMemoryBound(to: Float.self)
  }
}
