import Learning
import Numerics
import Testing

@Suite struct PartitionDirichletTests {
  static func partitioner(
    clients: Int, alpha: Double, each: Int? = nil
  ) -> PartitionDirichlet {
    var settings = PartitionDirichlet.Settings()
    settings.clients = clients
    settings.alpha = alpha
    settings.samplesPerClient = each
    return PartitionDirichlet(settings)
  }

  @Test(arguments: [0.05, 0.3, 1, 10])
  func `the proportions have the mean and the variance of Dirichlet's distribution`(
    alpha: Double
  ) {
    let partitioner = Self.partitioner(clients: 1, alpha: alpha)
    let streams = PartitionStreams(seed: 5)
    let clients = 20_000
    let classes = 10
    var sum = [Double](repeating: 0, count: classes)
    var squares = 0.0
    var products = 0.0
    for client in 0..<clients {
      let q = partitioner.shares(client: client, classCount: classes, streams: streams)
      var total = 0.0
      for k in 0..<classes {
        sum[k] += q[k]
        squares += (q[k] - 0.1) * (q[k] - 0.1)
        total += q[k]
      }
      products += (q[0] - 0.1) * (q[1] - 0.1)
      #expect(abs(total - 1) < 1e-12 && q.allSatisfy { $0 >= 0 })
    }
    // Mean 1/K; variance (1/K)(1 − 1/K)/(Kα + 1); covariance −(1/K²)/(Kα + 1).
    let variance = 0.09 / (10 * alpha + 1)
    let meanError = (variance / Double(clients)).squareRoot()
    for k in 0..<classes { #expect(abs(sum[k] / Double(clients) - 0.1) < 5 * meanError) }
    #expect(abs(squares / Double(clients * classes) / variance - 1) < 0.03)
    let covariance = -0.01 / (10 * alpha + 1)
    #expect(abs(products / Double(clients) - covariance) < 6 * meanError * 0.3)
  }

  @Test func `shards follow their client's proportions where no class runs out`() throws {
    // 10 classes of 6,000; 20 clients of 500 can empty no class.
    let labels = (0..<60_000).map { Int32($0 % 10) }
    let partitioner = Self.partitioner(clients: 20, alpha: 0.3, each: 500)
    let streams = PartitionStreams(seed: 3)
    let partition = try partitioner.partition(labels: labels, classCount: 10, streams: streams)
    let histogram = partition.labelHistogram(labels: labels, classCount: 10)
    var chiSquare = 0.0
    for client in 0..<20 {
      let q = partitioner.shares(client: client, classCount: 10, streams: streams)
      for k in 0..<10 {
        let deviation = Double(histogram[client][k]) - 500 * q[k]
        #expect(abs(deviation) <= 6 * (500 * q[k] * (1 - q[k])).squareRoot() + 1)
        if q[k] > 0.02 { chiSquare += deviation * deviation / (500 * q[k]) }
      }
    }
    #expect(chiSquare > 40 && chiSquare < 200, "about as many as shares above 0.02, near 100")
  }

  @Test func `classes follow the client's own draws through the sums of its shares`() throws {
    let labels = (0..<60_000).map { Int32($0 % 10) }
    let partitioner = Self.partitioner(clients: 3, alpha: 0.5, each: 200)
    let streams = PartitionStreams(seed: 8)
    let shards = try partitioner.shards(labels: labels, classCount: 10, streams: streams)
    for client in 0..<3 {
      var stream = streams.forClient(client, slot: 1)
      let shares = partitioner.shares(client: client, classCount: 10, streams: streams)
      let edges = shares.indices.map { shares[...$0].reduce(0, +) }
      for sample in shards[client] {
        let goal = stream.uniform() * edges[9]
        #expect(Int(labels[Int(sample)]) == edges.firstIndex { $0 > goal })
      }
    }
  }

  @Test func `a small alpha gives few labels and a large one all of them`() throws {
    let labels = (0..<6_000).map { Int32($0 % 10) }
    func distinct(_ alpha: Double) throws -> [Int] {
      let partition = try Self.partitioner(clients: 20, alpha: alpha, each: 100).partition(
        labels: labels, classCount: 10, streams: PartitionStreams(seed: 1))
      return partition.labelHistogram(labels: labels, classCount: 10).map { counts in
        counts.filter { $0 > 0 }.count
      }
    }
    let few = try distinct(0.01)
    #expect(few.reduce(0, +) <= 50 && few.min() == 1)
    #expect(try distinct(1000).allSatisfy { $0 == 10 })
  }

  @Test func `an exhausted class is passed over and everything is dealt`() throws {
    // α = 0.001: nearly every client wants one class only, and 3 classes have but 2 samples each.
    let labels: [Int32] = [0, 0, 1, 1, 2, 2]
    for seed in 0..<50 as Range<UInt64> {
      let shards = try Self.partitioner(clients: 3, alpha: 0.001).shards(
        labels: labels, classCount: 4, streams: PartitionStreams(seed: seed))
      #expect(shards.map(\.count) == [2, 2, 2])
      #expect(shards.joined().sorted() == [0, 1, 2, 3, 4, 5])
    }
  }
}

@Suite struct GammaTests {
  @Test(arguments: [0.05, 0.5, 1, 2.5, 30])
  func `gamma variates have the mean and the variance of their shape`(shape: Double) {
    var stream = StreamKey(seed: 9, purpose: Purpose("test")).stream(slot: 0)
    let count = 200_000
    var sum = 0.0
    var squares = 0.0
    for _ in 0..<count {
      let x = stream.gamma(shape: shape)
      sum += x
      squares += (x - shape) * (x - shape)
    }
    // Mean = variance = shape; fourth central moment 3a² + 6a.
    let n = Double(count)
    #expect(abs(sum / n - shape) < 5 * (shape / n).squareRoot())
    #expect(abs(squares / n - shape) < 5 * ((2 * shape * shape + 6 * shape) / n).squareRoot())
  }

  @Test func `the share of small variates is that of the distribution`() {
    var stream = StreamKey(seed: 9, purpose: Purpose("test")).stream(slot: 1)
    let count = 100_000
    var below = [0, 0]
    for _ in 0..<count {
      // P(X < 1) is 1 − 1/e for shape 1 (exponential) and erf(1) for shape ½ (half a χ² of 1).
      if stream.gamma(shape: 1) < 1 { below[0] += 1 }
      if stream.gamma(shape: 0.5) < 1 { below[1] += 1 }
    }
    #expect(abs(Double(below[0]) / 100_000 - 0.632_120_558_8) < 0.008)
    #expect(abs(Double(below[1]) / 100_000 - 0.842_700_792_9) < 0.006)
  }

  @Test func `logarithms stay finite for the smallest shapes`() {
    var stream = StreamKey(seed: 9, purpose: Purpose("test")).stream(slot: 2)
    for _ in 0..<1_000 { #expect(stream.logGamma(shape: 0.001).isFinite) }
  }
}
