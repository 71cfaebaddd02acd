import DataSets
import Learning
import Testing

@Suite struct NaturalTests {
  private func shards(
    _ data: TrainAndTest, _ change: (inout PartitionNatural.Settings) -> Void = { _ in }
  ) throws -> [[Int32]] {
    var settings = PartitionNatural.Settings()
    change(&settings)
    let rule = try PartitionNatural(settings).partitioner(for: data, folders: DataFolders([]))
    let shards = try rule.shards(
      labels: data.train.labels, classCount: data.train.classCount,
      streams: PartitionStreams(seed: 1))
    #expect(rule.clients == shards.count)
    return shards
  }

  @Test func `clients are the source's users, those without enough samples left out`() throws {
    let leaf = try LEAFTests.load(Fixture.path("readers/leaf"))
    #expect(try shards(leaf) == [[2], [0, 1], [3]])
    #expect(try shards(leaf) { $0.clients = 2 } == [[2], [0, 1]])
    #expect(try shards(leaf) { $0.minimumSize = 2 } == [[0, 1]])
    // The third client of the file has no samples.
    #expect(try shards(TFFTests.load("train")) == [[0], [1, 2]])
    #expect(throws: PartitionFault.tooFewUsers(needed: 3, available: 2, minimumSize: 1)) {
      try shards(TFFTests.load("train")) { $0.clients = 3 }
    }
    #expect(throws: PartitionFault.tooFewUsers(needed: 1, available: 0, minimumSize: 9)) {
      try shards(leaf) { $0.minimumSize = 9 }
    }
  }

  @Test func `clients have the test samples of their users`() throws {
    func tests(_ data: TrainAndTest, _ minimumSize: Int = 1) -> [[Int32]] {
      var settings = PartitionNatural.Settings()
      settings.minimumSize = minimumSize
      return PartitionNatural(settings).clientTests(of: data)
    }
    // Of the users f1, f0 and ü only f1 has a test sample; f0 alone has two training samples.
    let leaf = try LEAFTests.load(Fixture.path("readers/leaf"))
    #expect(tests(leaf) == [[0], [], []])
    #expect(tests(leaf, 2) == [[]])
    #expect(PartitionIID(.init()).clientTests(of: leaf) == [])
    // 5 training samples and 2 test samples a device, device after device.
    var settings = Sensors.Settings()
    (settings.devices, settings.samplesPerDevice, settings.testPerDevice) = (3, 5, 2)
    let sensors = try Sensors(settings).load(folders: DataFolders([]), seed: 1)
    #expect(tests(sensors) == [[0, 1], [2, 3], [4, 5]])
    let users = try #require(sensors.users)
    #expect(users.shards == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14]])
  }

  @Test func `a source without users is a fault that says which have them`() throws {
    let blobs = try Blobs(.init()).load(folders: DataFolders([]), seed: 1)
    let expected = PartitionFault.noUsers(sources: PartitionNatural.sources)
    #expect(throws: expected) { try shards(blobs) }
    #expect(
      expected.description.contains("leaf, tff-hdf5, synthetic, sensors, words, csv with `user`"))
    let rule = try PartitionNatural(.init()).partitioner(folders: DataFolders([]))
    #expect(throws: expected) {
      try rule.shards(labels: [0], classCount: 1, streams: PartitionStreams(seed: 1))
    }
  }

  @Test func `other partitions do not look at the users`() throws {
    let data = try LEAFTests.load(Fixture.path("readers/leaf"))
    var settings = PartitionIID.Settings()
    settings.clients = 4
    let rule = try PartitionIID(settings).partitioner(for: data, folders: DataFolders([]))
    #expect(rule.clients == 4)
  }
}
