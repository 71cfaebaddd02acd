import Learning
import Numerics
import Testing

/// 600 labels of 10 classes, 60 each, in a fixed jumble.
private let labels = (0..<600).map { Int32($0 * 7 % 10) }

private func streams(_ seed: UInt64 = 1) -> PartitionStreams { PartitionStreams(seed: seed) }

private func iid(_ clients: Int, _ each: Int? = nil) -> PartitionIID {
  var settings = PartitionIID.Settings()
  settings.clients = clients
  settings.samplesPerClient = each
  return PartitionIID(settings)
}

private func dirichlet(_ clients: Int, _ alpha: Double, _ each: Int? = nil) -> PartitionDirichlet {
  var settings = PartitionDirichlet.Settings()
  settings.clients = clients
  settings.alpha = alpha
  settings.samplesPerClient = each
  return PartitionDirichlet(settings)
}

private func pieces(_ clients: Int, _ each: Int) -> PartitionShards {
  var settings = PartitionShards.Settings()
  settings.clients = clients
  settings.shardsPerClient = each
  return PartitionShards(settings)
}

private func replacement(_ clients: Int, _ draws: Int) -> PartitionReplacement {
  var settings = PartitionReplacement.Settings()
  settings.clients = clients
  settings.samplesPerDevice = draws
  return PartitionReplacement(settings)
}

extension Partitioner {
  fileprivate func shards(seed: UInt64 = 1, of labels: [Int32] = labels) throws -> [[Int32]] {
    try shards(labels: labels, classCount: 10, streams: streams(seed))
  }
}

@Suite struct PartitionTests {
  static let disjoint: [any Partitioner] = [
    iid(7), iid(7, 50), iid(600), dirichlet(7, 0.3), dirichlet(7, 0.01, 80), dirichlet(600, 100),
    pieces(7, 2), pieces(60, 10),
  ]

  @Test(arguments: disjoint.indices)
  func `no sample is dealt twice, and a partition depends on its seed alone`(index: Int) throws {
    let partitioner = Self.disjoint[index]
    let shards = try partitioner.shards()
    #expect(shards.count == partitioner.clients)
    #expect(Set(shards.joined()).count == shards.joined().count)
    #expect(shards.joined().allSatisfy { labels.indices.contains(Int($0)) })
    #expect(try partitioner.shards() == shards)
    #expect(try partitioner.shards(seed: 2) != shards)
  }

  @Test func `the whole pool in equal parts: sizes as worked out by hand`() throws {
    // 600 = 7 · 85 + 5; the cuts are at 0, 85, 171, 257, 342, 428, 514, 600.
    let sizes = [85, 86, 86, 85, 86, 86, 86]
    #expect(try iid(7).shards().map(\.count) == sizes)
    #expect(try dirichlet(7, 0.3).shards().map(\.count) == sizes)
    #expect(try Set(iid(7).shards().joined()).count == 600)
    #expect(try Set(dirichlet(7, 0.3).shards().joined()).count == 600)
  }

  @Test func `sizes that are given are kept`() throws {
    #expect(try iid(7, 50).shards().allSatisfy { $0.count == 50 })
    #expect(try dirichlet(7, 0.3, 50).shards().allSatisfy { $0.count == 50 })
    #expect(try replacement(3, 1000).shards().map(\.count) == [1000, 1000, 1000])
  }

  @Test func `more samples than the pool has are a fault`() {
    let fault = PartitionFault.tooFewSamples(needed: 601, available: 600)
    #expect(throws: fault) { try iid(601).shards() }
    #expect(throws: fault) { try dirichlet(601, 1).shards() }
    #expect(throws: fault) { try dirichlet(1, 1, 601).shards() }
    #expect(throws: PartitionFault.tooFewSamples(needed: 602, available: 600)) {
      try pieces(301, 2).shards()
    }
    #expect(throws: PartitionFault.tooFewSamples(needed: 1, available: 0)) {
      try replacement(1, 1).shards(of: [])
    }
  }

  @Test func `with sizes given, another client changes no shard`() throws {
    for (few, many) in [
      (iid(6, 50) as any Partitioner, iid(7, 50) as any Partitioner),
      (dirichlet(6, 0.05, 80), dirichlet(7, 0.05, 80)), (replacement(6, 50), replacement(9, 50)),
    ] {
      #expect(try few.shards() == Array(many.shards()[..<6]))
    }
    // Where the whole pool is dealt out sizes change, and so do shards; the mixes do not.
    #expect(try iid(6).shards()[0] != iid(7).shards()[0])
    for client in 0..<6 {
      #expect(
        dirichlet(6, 0.3).shares(client: client, classCount: 10, streams: streams())
          == dirichlet(7, 0.3).shares(client: client, classCount: 10, streams: streams()))
    }
  }

  @Test func `the histogram counts each client's labels`() throws {
    let partition = Partition(shards: [[0, 1, 3], [2]])
    #expect(
      partition.labelHistogram(labels: [2, 0, 1, 2], classCount: 3) == [[1, 0, 2], [0, 1, 0]])
  }

  @Test func `a given partition is checked and taken as it is`() throws {
    #expect(try PartitionGiven(shards: [[3, 1], [2]]).shards() == [[3, 1], [2]])
    #expect(throws: PartitionFault.emptyShard(client: 1)) {
      try PartitionGiven(shards: [[0], []]).shards()
    }
    #expect(throws: PartitionFault.sampleOutOfRange(client: 1, sample: 600, available: 600)) {
      try PartitionGiven(shards: [[0], [600]]).shards()
    }
    #expect(throws: PartitionFault.sampleTwice(sample: 4, firstClient: 0, secondClient: 1)) {
      try PartitionGiven(shards: [[4], [5, 4]]).shards()
    }
  }

  @Test func `draws with replacement repeat, at about the rate of chance`() throws {
    let shard = try replacement(1, 600).shards()[0]
    // The expected number of distinct ones is 600(1 − (1 − 1/600)^600) = 379.5, standard deviation
    // 7.7.
    #expect((340...420).contains(Set(shard).count))
  }
}

@Suite struct PartitionShardsTests {
  @Test func `pieces follow the labels, two of 30 for each of ten clients`() throws {
    // 600 samples in 20 pieces of 30: each piece is within one label.
    let shards = try pieces(10, 2).shards()
    for shard in shards {
      #expect(shard.count == 60)
      let found = shard.map { labels[Int($0)] }
      #expect(Set(found[..<30]).count == 1 && Set(found[30...]).count == 1)
    }
    #expect(Set(shards.joined()).count == 600)
  }

  @Test func `a remainder is spread over the pieces, not dropped`() throws {
    // 600 in 14 pieces: cuts at 0, 42, 85, 128, …; every piece has 42 or 43 and none is left out.
    let shards = try pieces(7, 2).shards()
    #expect(shards.allSatisfy { (84...86).contains($0.count) })
    #expect(Set(shards.joined()).count == 600)
  }
}

@Suite struct PartitionValidationTests {
  func split(
    _ partitioner: any Partitioner, _ fraction: Double, seed: UInt64 = 1
  ) throws -> Partition {
    try partitioner.partition(
      labels: labels, classCount: 10, streams: streams(seed), validationFraction: fraction)
  }

  @Test func `validation takes the floor of its share and the parts make up the shard`() throws {
    let shards = try iid(7).shards()
    let partition = try split(iid(7), 0.1)
    // ⌊8.5⌋ and ⌊8.6⌋ of 85 and 86.
    #expect(partition.validation.map(\.count) == [8, 8, 8, 8, 8, 8, 8])
    for client in 0..<7 {
      let kept = Set(partition.validation[client])
      #expect(partition.shards[client] == shards[client].filter { !kept.contains($0) })
      #expect(partition.validation[client] == shards[client].filter { kept.contains($0) })
      #expect(partition.validation[client] != Array(shards[client].prefix(8)))
    }
  }

  @Test func `a share that rounding puts just below a whole number counts as that number`() throws {
    // In binary 0.29 · 100 is 28.999999999999996.
    #expect(try split(iid(6, 100), 0.29).validation.allSatisfy { $0.count == 29 })
  }

  @Test func `at least one training sample remains`() throws {
    #expect(try split(iid(600), 0.9).shards.allSatisfy { $0.count == 1 })
    // Here the floor itself would take all: 1 − 10⁻¹² and the allowance of 10⁻⁹ make a whole 1.
    #expect(try split(iid(600), 1 - 1e-12).shards.allSatisfy { $0.count == 1 })
    let two = try split(iid(300), 0.999)
    #expect(two.shards.allSatisfy { $0.count == 1 } && two.validation.allSatisfy { $0.count == 1 })
  }

  @Test func `the split is the client's own and follows the seed`() throws {
    let few = try split(iid(6, 50), 0.2)
    let many = try split(iid(7, 50), 0.2)
    #expect(few.validation == Array(many.validation[..<6]))
    #expect(few.validation.allSatisfy { $0.count == 10 })
    #expect(try split(iid(6, 50), 0.2, seed: 2) != few)
    #expect(try split(iid(6, 50), 0).validation == [[], [], [], [], [], []])
  }

  @Test func `a sample that a client holds twice is in one part only`() throws {
    let partition = try split(replacement(5, 900), 0.25)
    for client in 0..<5 {
      let training = Set(partition.shards[client])
      let kept = Set(partition.validation[client])
      #expect(training.isDisjoint(with: kept))
      #expect(kept.count == (training.count + kept.count) / 4)
      #expect(partition.shards[client].count + partition.validation[client].count == 900)
    }
  }
}
