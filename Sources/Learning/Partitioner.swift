import Numerics

/// A rule that deals the training pool out to clients.
///
/// A partitioner is a pure function: the same labels, seed and settings give the same shards.
public protocol Partitioner: Sendable {
  /// How many clients it makes.
  var clients: Int { get }
  /// Whether it looks at classes: then samples need one each. Without its own implementation a rule
  /// does not.
  var dealsByClass: Bool { get }

  /// The shard of each client, as positions in `labels`.
  ///
  /// Shapes: labels [sample], each below `classCount`; result [client][its samples], none empty.
  /// Throws: what about these labels cannot be done.
  func shards(
    labels: [Int32], classCount: Int, streams: PartitionStreams
  ) throws(PartitionFault) -> [[Int32]]
}

/// The random streams of a partition, all from one seed.
///
/// What concerns one client is drawn from that client's own stream, so that it does not depend on
/// how many others there are.
public struct PartitionStreams: Sendable {
  private let pool: StreamKey
  private let client: StreamKey
  private let validation: StreamKey

  /// The streams of a seed, by custom the scenario's `data` seed.
  public init(seed: UInt64) {
    pool = StreamKey(seed: seed, purpose: Purpose("partition.pool"))
    client = StreamKey(seed: seed, purpose: Purpose("partition.client"))
    validation = StreamKey(seed: seed, purpose: Purpose("partition.validation"))
  }

  /// A stream for what concerns the pool as a whole, or its part number `ordinal`; `slot` tells
  /// apart separate questions about it.
  public func forPool(ordinal: Int = 0, slot: UInt64 = 0) -> RandomStream {
    pool.with(ordinal: UInt32(ordinal)).stream(slot: slot)
  }

  /// The stream of one client; `slot` tells apart its separate questions.
  public func forClient(_ ordinal: Int, slot: UInt64 = 0) -> RandomStream {
    client.with(ordinal: UInt32(ordinal)).stream(slot: slot)
  }

  /// The stream that picks a client's validation samples.
  public func forValidation(client ordinal: Int) -> RandomStream {
    validation.with(ordinal: UInt32(ordinal)).stream(slot: 0)
  }
}

/// Why a partition cannot be made.
public enum PartitionFault: Error, Equatable, Sendable {
  /// The settings ask for more samples than the pool has.
  case tooFewSamples(needed: Int, available: Int)
  /// A given partition names a sample that the pool does not have.
  case sampleOutOfRange(client: Int, sample: Int, available: Int)
  /// A given partition has a sample twice.
  case sampleTwice(sample: Int, firstClient: Int, secondClient: Int)
  /// A given partition leaves a client without samples.
  case emptyShard(client: Int)
  /// The settings ask for more classes than the pool has samples of.
  case tooFewClasses(needed: Int, available: Int)
  /// One class has too few samples for the settings.
  case tooFewOfClass(label: Int, needed: Int, available: Int)
  /// No attempt gave every client this many samples; `best` is the most that the poorest client
  /// got.
  case minimumUnattained(minimum: Int, best: Int, attempts: Int)
  /// A partition by the source's own users, of a source that has none; `sources` are those that do.
  case noUsers(sources: [String])
  /// A partition by the source's own users asks for more of them than there are.
  case tooFewUsers(needed: Int, available: Int, minimumSize: Int)
}

extension PartitionFault: CustomStringConvertible {
  /// One line: what was found and what was expected.
  public var description: String {
    switch self {
    case .tooFewSamples(let needed, let available):
      "found \(available) training samples, expected at least \(needed) for this partition"
    case .sampleOutOfRange(let client, let sample, let available):
      "found sample \(sample) at client \(client), expected a number from 0 to \(available - 1)"
    case .sampleTwice(let sample, let first, let second):
      "found sample \(sample) at client \(first) and again at client \(second), expected it once"
    case .emptyShard(let client):
      "found no sample at client \(client), expected at least one"
    case .tooFewClasses(let needed, let available):
      "found samples of \(available) classes, expected at least \(needed) for this partition"
    case .tooFewOfClass(let label, let needed, let available):
      "found \(available) samples of class \(label), expected at least \(needed) for this partition"
    case .minimumUnattained(let minimum, let best, let attempts):
      "found a client with \(best) samples in the best of \(attempts) attempts, expected at least "
        + "\(minimum) at each; lower the minimum or the number of clients, or raise alpha"
    case .noUsers(let sources):
      "found data without users, expected a source that has them: "
        + sources.joined(separator: ", ")
    case .tooFewUsers(let needed, let available, let minimumSize):
      "found \(available) users with at least \(minimumSize) training samples, expected \(needed)"
    }
  }
}

extension Partitioner {
  /// It does not look at them.
  public var dealsByClass: Bool { false }

  /// The partition of a pool: this rule's shards, with a share of each kept back for validation.
  ///
  /// Of a client's d distinct samples ⌊f·d + 10⁻⁹⌋ are kept back, but never all. Which ones is
  /// drawn from the client's validation stream, without regard to labels; both parts keep the
  /// shard's order. A sample that a shard holds several times goes to one part with all its copies.
  /// Throws: what `shards` throws.
  public func partition(
    labels: [Int32], classCount: Int, streams: PartitionStreams, validationFraction: Double = 0
  ) throws(PartitionFault) -> Partition {
    precondition((0..<1).contains(validationFraction), "a fraction from 0 to below 1")
    let shards = try shards(labels: labels, classCount: classCount, streams: streams)
    guard validationFraction > 0 else { return Partition(shards: shards) }
    var isKeptBack = Array(repeating: false, count: labels.count)
    var isSeen = Array(repeating: false, count: labels.count)
    var training: [[Int32]] = []
    var validation: [[Int32]] = []
    for (client, shard) in shards.enumerated() {
      var distinct: [Int32] = []
      for sample in shard where !isSeen[Int(sample)] {
        isSeen[Int(sample)] = true
        distinct.append(sample)
      }
      let wanted = Int((validationFraction * Double(distinct.count) + 1e-9).rounded(.down))
      var stream = streams.forValidation(client: client)
      stream.shuffle(&distinct)
      for sample in distinct.prefix(min(wanted, distinct.count - 1)) {
        isKeptBack[Int(sample)] = true
      }
      training.append(shard.filter { !isKeptBack[Int($0)] })
      validation.append(shard.filter { isKeptBack[Int($0)] })
      for sample in distinct {
        isKeptBack[Int(sample)] = false
        isSeen[Int(sample)] = false
      }
    }
    return Partition(shards: training, validation: validation)
  }
}
