import DataSets
import Learning
import Testing

@Suite struct PartitionFileTests {
  func shards(_ path: String, clients: Int? = nil) throws -> [[Int32]] {
    var settings = PartitionFile.Settings()
    settings.path = path
    settings.clients = clients
    return try PartitionFile(settings).partitioner(folders: DataFolders([])).shards(
      labels: [0, 0, 0, 0, 0], classCount: 1, streams: PartitionStreams(seed: 1))
  }

  @Test func `an archive of NumPy's gives its shards`() throws {
    #expect(try shards(Fixture.path("partition.npz")) == [[4], [0, 3, 1]])
  }

  @Test func `a table gives its shards in the order of its lines`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("sample,client\n3,1\n0,0\n1,1\n", as: "partition.csv")
    #expect(try shards(path) == [[0], [3, 1]])
  }

  @Test func `a partition that is written reads back`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/partition.npz"
    try PartitionFile.write(Partition(shards: [[2, 1], [4], [0]]), to: path)
    #expect(try shards(path) == [[2, 1], [4], [0]])
  }

  static let tables: [(String, DataFault.Kind)] = [
    ("client,sample\n", .truncated), ("client,sample\n0,1\n2,3\n", .countMismatch),
    ("client,sample\n0,-1\n", .outOfRange), ("client,sample\n0,1.5\n", .malformed),
    ("client,index\n", .unknownName), ("client,sample\n0,2147483648\n", .outOfRange),
  ]

  @Test(arguments: tables)
  func `broken tables are faults`(text: String, kind: DataFault.Kind) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(text, as: "partition.csv")
    #expect(fault { _ = try shards(path) }?.kind == kind)
  }

  static let archives: [([Int32], [Int32], DataFault.Kind)] = [
    ([0, 1], [0, 1], .countMismatch), ([0, 1], [1, 2], .countMismatch), ([0], [], .countMismatch),
    ([0, 1], [0, 0, 2], .outOfRange), ([0, 1], [0, 5, 2], .outOfRange),
    ([0, -1], [0, 1, 2], .outOfRange),
  ]

  @Test(arguments: archives)
  func `broken archives are faults`(
    samples: [Int32], offsets: [Int32], kind: DataFault.Kind
  ) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/partition.npz"
    try NPZ.write(
      [("samples", NPYArray(integers: samples)), ("offsets", NPYArray(integers: offsets))],
      to: path)
    #expect(fault { _ = try shards(path) }?.kind == kind)
  }

  @Test func `arrays of another type or name are faults`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/partition.npz"
    try NPZ.write([("samples", NPYArray(shape: [1], floats: [0]))], to: path)
    #expect(fault { _ = try shards(path) }?.kind == .unsupported)
    try NPZ.write([("sample", NPYArray(integers: [0] as [Int32]))], to: path)
    #expect(fault { _ = try shards(path) }?.advice == "the nearest name there is 'sample'")
  }

  @Test func `another number of clients than asked for is a fault`() throws {
    #expect(
      fault { _ = try shards(Fixture.path("partition.npz"), clients: 3) }?.kind == .countMismatch)
  }

  @Test func `samples that the pool does not have are the partition's fault`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("client,sample\n0,5\n", as: "partition.csv")
    #expect(throws: PartitionFault.sampleOutOfRange(client: 0, sample: 5, available: 5)) {
      try shards(path)
    }
  }
}
