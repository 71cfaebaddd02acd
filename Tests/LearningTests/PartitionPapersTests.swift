import Learning
import Numerics
import Schema
import Testing

/// 600 labels of 10 classes, 60 each, in a fixed jumble.
private let labels = (0..<600).map { Int32($0 * 7 % 10) }

private func shards<P: Partitioner & Part>(
  _ type: P.Type, of labels: [Int32] = labels, _ change: (inout P.Settings) -> Void
) throws -> [[Int32]] {
  var settings = P.Settings()
  change(&settings)
  return try P(settings).shards(
    labels: labels, classCount: 10, streams: PartitionStreams(seed: 1))
}

/// Sizes, then samples, as `PartitionNumbers` has them.
private func flat(_ shards: [[Int32]]) -> [Int32] {
  shards.map { Int32($0.count) } + shards.joined()
}

@Suite("Partitions of papers, held to an independent program")
struct PartitionPapersTests {
  @Test("Two consecutive digits and log-normal sizes: FedProx's generator of MNIST")
  func consecutive() throws {
    let found = try shards(PartitionConsecutiveLabels.self) { $0.clients = 20 }
    #expect(flat(found) == consecutiveNumbers)
    #expect(Set(found.joined()).count == found.joined().count)
    for (client, shard) in found.enumerated() {
      let held = Set(shard.map { labels[Int($0)] })
      #expect(held == [Int32(client % 10), Int32((client + 1) % 10)] && shard.count >= 10)
    }
  }

  @Test("Equal weights, by hand: of 11 samples, 3 holders get 2 first and a third of the other 5")
  func equalWeights() throws {
    let few = Array(repeating: Int32(4), count: 11)
    let found = try shards(PartitionConsecutiveLabels.self, of: few) {
      ($0.clients, $0.labels, $0.minimumPerClass, $0.sigma) = (3, 1, 2, 0)
    }
    #expect(found.map(\.count) == [3, 3, 3])
  }

  @Test("What a class cannot give is a fault")
  func faults() {
    #expect(throws: PartitionFault.tooFewOfClass(label: 0, needed: 65, available: 60)) {
      try shards(PartitionConsecutiveLabels.self) { $0.clients = 65 }
    }
    #expect(throws: PartitionFault.tooFewClasses(needed: 11, available: 10)) {
      try shards(PartitionConsecutiveLabels.self) { ($0.clients, $0.labels) = (5, 11) }
    }
    #expect(throws: PartitionFault.tooFewSamples(needed: 610, available: 600)) {
      try shards(PartitionQuantityDirichlet.self) { $0.clients = 61 }
    }
    #expect {
      try shards(PartitionQuantityDirichlet.self) {
        ($0.clients, $0.alpha, $0.attempts) = (50, 0.01, 3)
      }
    } throws: { error in
      guard case PartitionFault.minimumUnattained(10, let best, 3)? = error as? PartitionFault
      else { return false }
      return best < 10
    }
  }

  @Test("#C = 3, the first label i mod 10: NIID-Bench's label skew")
  func labelSkew() throws {
    let found = try shards(PartitionLabelsPerClient.self) { ($0.clients, $0.labels) = (20, 3) }
    #expect(flat(found) == labelSkewNumbers)
  }

  @Test("Sizes by Dirichlet shares, drawn until the smallest is enough: NIID-Bench's quantity skew")
  func quantitySkew() throws {
    let found = try shards(PartitionQuantityDirichlet.self) { ($0.clients, $0.alpha) = (15, 0.6) }
    #expect(flat(found) == quantitySkewNumbers)
    #expect(found.joined().sorted() == (0..<600).map { Int32($0) })
    #expect(found.allSatisfy { $0.count >= 10 })
  }

  @Test("Noise grows from client to client: NIID-Bench's feature skew, by program and by paper")
  func noise() throws {
    let data = Dataset(
      features: .floats(Array(repeating: 0, count: 12)), sampleShape: [2],
      labels: [0, 1, 0, 1, 0, 1], classCount: 2)
    // Sample 5 is nobody's, sample 4 is kept back for validation.
    let partition = Partition(shards: [[3, 0], [1], [2]], validation: [[], [4], []])
    for (rule, numbers) in [
      (FeatureNoise.Rule.byProgram, noiseByProgram), (.byPaper, noiseByPaper),
    ] {
      var settings = FeatureNoise()
      (settings.level, settings.rule) = (0.5, rule)
      guard case .floats(let found) = try settings.applied(to: data, partition, seed: 1).features
      else {
        Issue.record("noisy features are floats")
        return
      }
      #expect(found.count == 12 && found[10...].allSatisfy { $0 == 0 })
      for (value, number) in zip(found, numbers) { #expect(abs(value - number) < 1e-6) }
      #expect(numbers.count == 10)
    }
    let bytes = Dataset(
      features: .bytes([51, 255]), sampleShape: [1], labels: [0, 0], classCount: 1)
    let alone = try FeatureNoise().applied(
      to: bytes, Partition(shards: [[0, 1]]), seed: 1)
    if case .floats(let found) = alone.features { #expect(found == [0.2, 1]) }
    #expect(throws: PartitionFault.sampleTwice(sample: 1, firstClient: 0, secondClient: 1)) {
      try FeatureNoise().applied(to: bytes, Partition(shards: [[0, 1], [1]]), seed: 1)
    }
  }
}
