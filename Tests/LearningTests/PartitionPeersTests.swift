import Learning
import Numerics
import Schema
import Testing

/// 600 labels of 10 classes, 60 each, in a fixed jumble.
private let labels = (0..<600).map { Int32($0 * 7 % 10) }

private func part<P: Partitioner & Part>(
  _ type: P.Type, _ change: (inout P.Settings) -> Void
) -> P {
  var settings = P.Settings()
  change(&settings)
  return P(settings)
}

private func byClass(_ clients: Int, _ alpha: Double, _ least: Int = 1, attempts: Int = 1_000)
  -> PartitionDirichletByClass
{
  part(PartitionDirichletByClass.self) {
    ($0.clients, $0.alpha, $0.minimumSize, $0.attempts) = (clients, alpha, least, attempts)
  }
}

private func balanced(_ clients: Int, _ alpha: Double, _ least: Int = 1, attempts: Int = 1_000)
  -> PartitionDirichletByClassBalanced
{
  part(PartitionDirichletByClassBalanced.self) {
    ($0.clients, $0.alpha, $0.minimumSize, $0.attempts) = (clients, alpha, least, attempts)
  }
}

private func multinomial(_ clients: Int, _ alpha: Double, _ least: Int = 2)
  -> PartitionDirichletMultinomial
{
  part(PartitionDirichletMultinomial.self) {
    ($0.clients, $0.alpha, $0.minimumPerClass) = (clients, alpha, least)
  }
}

private func prior(_ clients: Int, _ alpha: Double, _ each: Int? = nil, tolerance: Double = 1e-3)
  -> PartitionDirichletPrior
{
  part(PartitionDirichletPrior.self) {
    ($0.clients, $0.alpha, $0.samplesPerClient, $0.tolerance) = (clients, alpha, each, tolerance)
  }
}

private func inner(_ clients: Int, _ alpha: Double, _ each: Int? = nil, sigma: Double = 0)
  -> PartitionInnerDirichlet
{
  part(PartitionInnerDirichlet.self) {
    ($0.clients, $0.alpha, $0.samplesPerClient, $0.sizeSigma) = (clients, alpha, each, sigma)
  }
}

private func holders(_ clients: Int, _ classes: Int) -> PartitionLabelsPerClient {
  part(PartitionLabelsPerClient.self) { ($0.clients, $0.labels) = (clients, classes) }
}

private func power(_ clients: Int, _ exponent: Double, _ least: Int = 2) -> PartitionQuantityPower {
  part(PartitionQuantityPower.self) {
    ($0.clients, $0.exponent, $0.minimumSize) = (clients, exponent, least)
  }
}

private func logNormal(_ clients: Int, _ sigma: Double, _ least: Int = 1)
  -> PartitionQuantityLogNormal
{
  part(PartitionQuantityLogNormal.self) {
    ($0.clients, $0.sigma, $0.minimumSize) = (clients, sigma, least)
  }
}

private func byRank(_ clients: Int, _ law: PartitionQuantityByRank.Law, _ least: Int = 1)
  -> PartitionQuantityByRank
{
  part(PartitionQuantityByRank.self) {
    ($0.clients, $0.law, $0.minimumSize) = (clients, law, least)
  }
}

private func shared(_ clients: Int, _ alpha: Double, _ each: Int) -> PartitionDirichletReplacement {
  part(PartitionDirichletReplacement.self) {
    ($0.clients, $0.alpha, $0.samplesPerDevice) = (clients, alpha, each)
  }
}

extension Partitioner {
  fileprivate func shards(seed: UInt64 = 1, of labels: [Int32] = labels) throws -> [[Int32]] {
    try shards(labels: labels, classCount: 10, streams: PartitionStreams(seed: seed))
  }

  fileprivate func histogram(
    seed: UInt64 = 1, of labels: [Int32] = labels
  ) throws -> [[Int32]] {
    Partition(shards: try shards(seed: seed, of: labels)).labelHistogram(
      labels: labels, classCount: 10)
  }
}

@Suite struct PartitionPeersTests {
  static let whole: [any Partitioner] = [
    byClass(7, 0.5), balanced(7, 0.5), multinomial(7, 0.5), prior(7, 1), inner(7, 0.3),
    inner(7, 0.3, sigma: 1), holders(20, 2), power(7, 2), logNormal(7, 1), byRank(7, .square),
  ]

  @Test(arguments: whole.indices)
  func `every sample is dealt once, and a partition depends on its seed alone`(index: Int) throws {
    let partitioner = Self.whole[index]
    let shards = try partitioner.shards()
    #expect(shards.count == partitioner.clients && shards.allSatisfy { !$0.isEmpty })
    #expect(shards.joined().sorted() == (0..<600).map { Int32($0) })
    #expect(try partitioner.shards() == shards)
    #expect(try partitioner.shards(seed: 2) != shards)
  }

  @Test func `a class is cut at the floors of its running shares`() throws {
    // The shares from the streams as documented, the cuts by plain sums.
    let streams = PartitionStreams(seed: 4)
    let counts = try byClass(5, 3).histogram(seed: 4)
    for label in 0..<10 {
      var stream = streams.forPool(ordinal: label, slot: 1)
      let shares = stream.dirichlet(alpha: 3, count: 5)
      let cuts =
        [0] + (1...4).map { Int(shares[..<$0].reduce(0, +) * 60) } + [60]
      let sizes = (0..<5).map { i -> Int in cuts[i + 1] - cuts[i] }
      #expect(counts.map { Int($0[label]) } == sizes)
    }
  }

  @Test func `a full client gets no more, unless the classes are spread without a cap`() throws {
    // Two classes of 10 to two clients, α = 0.001: a class goes whole to one of them in nearly
    // every draw. With the cap the other class then goes to the other client.
    let small = (0..<20).map { Int32($0 % 2) }
    var whole = 0
    for seed in 0..<50 as Range<UInt64> {
      let counts = try balanced(2, 0.001).histogram(seed: seed, of: small)
      if counts.allSatisfy({ $0[0] + $0[1] == 10 && $0[0] * $0[1] == 0 }) { whole += 1 }
    }
    #expect(whole >= 43)
    // Without the cap one client takes both in half of the draws: ten draws in a row that miss the
    // minimum have a chance of 1 in 1,000, a single one of 1 in 2.
    var failures = 0
    for seed in 0..<50 as Range<UInt64> {
      do {
        _ = try byClass(2, 0.001, attempts: 1).shards(seed: seed, of: small)
      } catch PartitionFault.minimumUnattained(minimum: 1, best: 0, attempts: 1) {
        failures += 1
      }
      #expect(throws: Never.self) { try byClass(2, 0.001).shards(seed: seed, of: small) }
    }
    #expect((12...38).contains(failures))
    for seed in 0..<20 as Range<UInt64> {
      #expect(try balanced(6, 0.1).shards(seed: seed).allSatisfy { $0.count <= 100 + 60 })
    }
  }

  @Test func `a minimum out of reach is a fault and no endless search`() {
    #expect(throws: PartitionFault.tooFewSamples(needed: 606, available: 600)) {
      try byClass(6, 1, 101).shards()
    }
    #expect(throws: PartitionFault.tooFewSamples(needed: 606, available: 600)) {
      try balanced(6, 1, 101).shards()
    }
    #expect {
      try byClass(6, 0.01, 100, attempts: 20).shards()
    } throws: { error in
      guard case PartitionFault.minimumUnattained(100, let best, 20)? = error as? PartitionFault
      else { return false }
      return best < 100
    }
    #expect(throws: PartitionFault.tooFewOfClass(label: 0, needed: 62, available: 60)) {
      try multinomial(31, 1).shards()
    }
    #expect(throws: PartitionFault.tooFewClasses(needed: 11, available: 10)) {
      try holders(5, 11).shards()
    }
    #expect(throws: PartitionFault.tooFewOfClass(label: 0, needed: 61, available: 60)) {
      try holders(610, 1).shards()
    }
    #expect(throws: PartitionFault.tooFewSamples(needed: 601, available: 600)) {
      try inner(601, 1).shards()
    }
    for least in [power(301, 1) as any Partitioner, logNormal(301, 1, 2), byRank(301, .linear, 2)] {
      #expect(throws: PartitionFault.tooFewSamples(needed: 602, available: 600)) {
        try least.shards()
      }
    }
    #expect(throws: PartitionFault.tooFewSamples(needed: 1, available: 0)) {
      try shared(1, 1, 1).shards(of: [])
    }
  }

  @Test func `every client has the minimum of every class, and the rest follows the draws`() throws
  {
    let counts = try multinomial(7, 0.1).histogram()
    #expect(counts.joined().allSatisfy { $0 >= 2 })
    let streams = PartitionStreams(seed: 1)
    var shareStream = streams.forPool(ordinal: 3, slot: 1)
    let shares = shareStream.dirichlet(alpha: 0.1, count: 7)
    var stream = streams.forPool(ordinal: 3, slot: 2)
    var expected = Array(repeating: Int32(2), count: 7)
    for _ in 14..<60 {
      let u = stream.uniform()
      expected[(0..<6).first { shares[...$0].reduce(0, +) > u } ?? 6] += 1
    }
    #expect(counts.map { $0[3] } == expected)
    // Classes without samples are passed over.
    #expect(try multinomial(2, 1).shards(of: [5, 5, 5, 5, 5]).map(\.count).reduce(0, +) == 5)
  }

  @Test func `mixes around the pool's have its mean, and together make it within the tolerance`()
    throws
  {
    let pool = [0.5, 0.3, 0.2, 0]
    let sizes = Array(repeating: 10, count: 2_000)
    let partitioner = prior(2_000, 2)
    let shares = partitioner.shares(
      prior: pool, sizes: sizes, streams: PartitionStreams(seed: 3))
    var error = 0.0
    for label in 0..<4 {
      let values = shares.map { $0[label] }
      let mean = values.reduce(0, +) / 2_000
      error += (mean - pool[label]) * (mean - pool[label])
      let variance = values.reduce(0) { $0 + ($1 - pool[label]) * ($1 - pool[label]) } / 2_000
      // p(1 − p)/(α + 1), the relative standard error of a variance being about 2 %.
      #expect(abs(variance - pool[label] * (1 - pool[label]) / 3) < 0.012)
    }
    #expect(error <= 1e-3 && shares.allSatisfy { $0[3] == 0 })
    // Three clients meet a mix within 1e-9 never: the tolerance grows until they do.
    #expect(try prior(3, 0.01, tolerance: 1e-9).shards().map(\.count) == [200, 200, 200])
    #expect(try prior(7, 1, 20).shards().allSatisfy { $0.count == 20 })
  }

  @Test func `inner mixes keep to given sizes, and to their shares where nothing runs out`() throws
  {
    #expect(try inner(7, 0.3).shards().map(\.count) == [85, 86, 86, 85, 86, 86, 86])
    #expect(try inner(7, 0.3, 50).shards().allSatisfy { $0.count == 50 })
    let many = (0..<60_000).map { Int32($0 % 10) }
    let counts = try inner(4, 0.5, 1_000).histogram(seed: 2, of: many)
    for client in 0..<4 {
      var stream = PartitionStreams(seed: 2).forClient(client, slot: 0)
      let shares = stream.dirichlet(alpha: 0.5, count: 10)
      for label in 0..<10 {
        let deviation = Double(counts[client][label]) - 1_000 * shares[label]
        #expect(
          abs(deviation) <= 5 * (1_000 * shares[label] * (1 - shares[label])).squareRoot() + 1)
      }
    }
  }

  @Test func `each client holds its classes, each class in equal parts`() throws {
    // Two classes, five samples of 0 and four of 1, four clients: 0 and 2 hold class 0.
    let few: [Int32] = [0, 1, 0, 1, 0, 1, 0, 1, 0]
    #expect(
      try holders(4, 1).histogram(of: few).map { Array($0[..<2]) } == [
        [2, 0], [0, 2], [3, 0], [0, 2],
      ])
    // Four samples of class 1 to five clients that all hold both classes.
    #expect(throws: PartitionFault.tooFewOfClass(label: 1, needed: 5, available: 4)) {
      try holders(5, 2).shards(of: few)
    }
    let counts = try holders(20, 3).histogram()
    for client in 0..<20 {
      #expect(counts[client].filter { $0 > 0 }.count == 3 && counts[client][client % 10] > 0)
    }
    // A client's classes are its own, whatever the number of clients.
    let more = try holders(30, 3).histogram()
    for client in 0..<20 {
      #expect(counts[client].map { $0 > 0 } == more[client].map { $0 > 0 })
    }
  }

  @Test func `sizes by rank are those worked out by hand`() throws {
    // 10 samples: 1 each, of the other 7 the shares 7/6, 14/6, 21/6; floors 1, 2, 3; the one left
    // goes to the largest fraction, 1/2.
    #expect(try byRank(3, .linear).shards(of: Array(labels[..<10])).map(\.count) == [2, 3, 5])
    // 17 samples: 14 in the ratio 1 : 4 : 9.
    #expect(try byRank(3, .square).shards(of: Array(labels[..<17])).map(\.count) == [2, 5, 10])
    // 100 samples without remainder rule: e³/(e + e² + e³) = 0.6652, 0.2447, 0.0900 of 97.
    #expect(
      try byRank(3, .exponential).shards(of: Array(labels[..<100])).map(\.count) == [10, 25, 65])
    // Equal fractions: the lower clients get what is left.
    #expect(try logNormal(4, 0).shards(of: Array(labels[..<10])).map(\.count) == [3, 3, 2, 2])
  }

  @Test func `sizes of a power law have its expectation`() throws {
    let many = (0..<100_000).map { Int32($0 % 10) }
    for exponent in [0.5, 1, 3] {
      let sizes = try power(10, exponent, 1).shards(of: many).map { Double($0.count - 1) }
      for client in 0..<10 {
        func share(_ j: Int) -> Double {
          let x = Double(j) / 10
          return exponent == 0.5 ? x.squareRoot() : exponent == 1 ? x : x * x * x
        }
        let p = share(client + 1) - share(client)
        #expect(abs(sizes[client] - 99_990 * p) < 5 * (99_990 * p * (1 - p)).squareRoot())
      }
    }
  }

  @Test func `log-normal sizes have the spread asked for`() throws {
    let many = (0..<1_000_000).map { Int32($0 % 10) }
    let sizes = try logNormal(1_000, 0.7).shards(of: many).map { Portable.log(Double($0.count)) }
    let mean = sizes.reduce(0, +) / 1_000
    let variance = sizes.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 1_000
    let spread: Double = 0.49 * Double(2.0 / 1_000).squareRoot()
    #expect(abs(variance - 0.49) < 5 * spread)
  }

  @Test func `clients that share samples depend on no other client`() throws {
    let few = try shared(3, 0.2, 500).shards()
    #expect(few == Array(try shared(9, 0.2, 500).shards()[..<3]))
    #expect(few.map(\.count) == [500, 500, 500] && Set(few.joined()).count < 600)
    #expect(try shared(3, 0.2, 500).shards(seed: 2) != few)
    var stream = PartitionStreams(seed: 1).forClient(0, slot: 0)
    let shares = stream.dirichlet(alpha: 0.2, count: 10)
    let counts = try shared(1, 0.2, 5_000).histogram()[0]
    for label in 0..<10 {
      let deviation = Double(counts[label]) - 5_000 * shares[label]
      #expect(abs(deviation) <= 5 * (5_000 * shares[label] * (1 - shares[label])).squareRoot() + 1)
    }
  }
}
