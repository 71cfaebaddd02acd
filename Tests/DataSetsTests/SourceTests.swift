import DataSets
import Foundation
import Learning
import Schema
import Testing

@Suite struct SourceTests {
  /// Writes the four files of a tiny Fashion-MNIST and gives back the folder.
  func tiny(rows: [UInt8] = [1, 1]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (part, name) in ["train", "t10k"].enumerated() {
      let head: [UInt8] = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, rows[part], 0, 0, 0, 2]
      let pixels = (0..<4 * rows[part]).map { UInt8(part * 100) + $0 }
      _ = try folder.write(head + pixels, as: "\(name)-images-idx3-ubyte")
      _ = try folder.write([0, 0, 8, 1, 0, 0, 0, 2, 9, 0], as: "\(name)-labels-idx1-ubyte")
    }
    return folder
  }

  @Test func `Fashion-MNIST comes from the first folder that has it`() throws {
    let folder = try tiny()
    let data = try FashionMNIST(.init()).load(
      folders: DataFolders(["/nowhere", folder.path]), seed: 1)
    guard case .bytes(let train) = data.train.features, case .bytes(let test) = data.test.features
    else { return #expect(Bool(false), "bytes stay bytes") }
    #expect(train == [0, 1, 2, 3])
    #expect(test == [100, 101, 102, 103])
    #expect(data.train.labels == [9, 0] && data.train.classCount == 10)
    #expect(data.train.sampleShape == [1, 2])
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: FashionMNIST.debianFolder)))
  func `the real files read as NumPy reads them`() throws {
    let data = try FashionMNIST(.init()).load(folders: DataFolders([]), seed: 1)
    #expect(data.train.count == 60_000 && data.test.count == 10_000)
    #expect(data.train.sampleShape == [28, 28] && data.train.classCount == 10)
    guard case .bytes(let train) = data.train.features, case .bytes(let test) = data.test.features
    else { return #expect(Bool(false), "bytes stay bytes") }
    // By NumPy: (a * (np.arange(a.size) % 1009 + 1)).sum() over all bytes a behind the header.
    func sum(_ values: some Sequence<some BinaryInteger>) -> Int {
      values.enumerated().reduce(0) { $0 + Int($1.element) * ($1.offset % 1009 + 1) }
    }
    #expect(sum(train) == 1_732_623_764_176)
    #expect(sum(test) == 290_147_369_575)
    #expect(sum(data.train.labels) == 135_586_688)
  }

  @Test func `a folder without the files says what to do, in the caller's words if any`() throws {
    var settings = FashionMNIST.Settings()
    settings.folder = "/nowhere"
    let source = FashionMNIST(settings)
    let standard = fault { _ = try source.load(folders: DataFolders([]), seed: 1) }
    #expect(standard?.kind == .missingFile)
    #expect(standard?.advice?.contains("dataset-fashion-mnist") == true)
    #expect(standard?.advice?.contains("FEDSIM_DATA") == true)
    let own = fault { _ = try source.load(folders: DataFolders([], advice: "ask Ada"), seed: 1) }
    #expect(own?.advice == "ask Ada")
  }

  @Test func `named folders without the files are not passed over for installed ones`() {
    let folders = DataFolders(["/nowhere"], includesInstalled: false)
    let found = fault { _ = try FashionMNIST(.init()).load(folders: folders, seed: 1) }
    #expect(found?.kind == .missingFile)
    let name = "train-images-idx3-ubyte"
    #expect(
      found?.description.hasPrefix(
        "\(name): not found in `/nowhere` (also looked for `\(name).gz`); ") == true)
  }

  @Test func `a missing file is a fault that names the nearest there is`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("label,a\nx,1\n", as: "trian.csv")
    let folders = DataFolders([folder.path], advice: "ask Ada")
    let near = fault { _ = try folders.locate("train.csv") }
    #expect(near?.advice?.hasSuffix("/trian.csv`; ask Ada") == true, "\(near as Any)")
    #expect(fault { _ = try folders.locate("labels.csv") }?.advice == "ask Ada")
    #expect(fault { _ = try folders.locate("none/train.csv") }?.advice == "ask Ada")
  }

  @Test func `test images of another size are a fault`() throws {
    let folder = try tiny(rows: [1, 2])
    let fault = fault {
      _ = try FashionMNIST(.init()).load(folders: DataFolders([folder.path]), seed: 1)
    }
    #expect(fault?.kind == .countMismatch)
  }

  @Test func `four IDX files make a source`() throws {
    var settings = IDXFiles.Settings()
    settings.trainImages = "images.idx"
    settings.trainLabels = "labels.idx"
    settings.testImages = Fixture.path("images.idx.gz")
    settings.testLabels = "labels.idx"
    settings.classes = 3
    let data = try IDXFiles(settings).load(
      folders: DataFolders([Fixture.path("")]), seed: 1)
    #expect(data.train.count == 3 && data.test.count == 3)
    #expect(data.train.sampleShape == [2, 4] && data.train.labels == [2, 0, 1])
  }

  func blobs(_ change: (inout Blobs.Settings) -> Void = { _ in }, seed: UInt64 = 1) throws
    -> TrainAndTest
  {
    var settings = Blobs.Settings()
    change(&settings)
    return try Blobs(settings).load(folders: DataFolders([]), seed: seed)
  }

  func floats(_ dataset: Dataset) -> [Float] {
    guard case .floats(let floats) = dataset.features else { return [] }
    return floats
  }

  @Test func `blobs depend on the seed, and a sample on no other sample`() throws {
    let data = try blobs { $0.train = 40 }
    let more = try blobs { $0.train = 60 }
    #expect(floats(data.train).count == 40 * 8 && data.train.labels[..<5] == [0, 1, 2, 3, 0])
    #expect(floats(data.train) == Array(floats(more.train)[..<(40 * 8)]))
    #expect(floats(data.test) == floats(more.test))
    #expect(try floats(blobs({ $0.train = 40 }, seed: 2).train) != floats(data.train))
    #expect(floats(data.test)[..<8] != floats(data.train)[..<8])
  }

  @Test func `without spread every sample is its class's centre`() throws {
    let data = try blobs { $0.spread = 0 }
    let train = floats(data.train)
    #expect(train[..<8] == train[32..<40] && train[..<8] != train[8..<16])
    #expect(floats(data.test)[..<32] == train[..<32])
  }

  @Test func `the spread is the standard deviation around the centre`() throws {
    func change(_ spread: Double) -> (inout Blobs.Settings) -> Void {
      { settings in
        settings.spread = spread
        settings.features = 50
      }
    }
    let samples = try floats(blobs(change(0.5)).train)
    let centres = try floats(blobs(change(0)).train)
    var sum = 0.0
    for (value, centre) in zip(samples, centres) {
      sum += Double(value - centre) * Double(value - centre)
    }
    // 100,000 squares: the relative standard error of their mean is sqrt(2/100,000) = 0.0045.
    #expect(abs(sum / Double(samples.count) / 0.25 - 1) < 0.02)
  }

  @Test func `sources and partitions are read as parts of a scenario`() throws {
    var catalog = Catalog()
    catalog.add(Blobs.self, to: .dataSource) { $0 }
    catalog.add(PartitionDirichlet.self, to: .partition) { $0 }
    catalog.add(PartitionFile.self, to: .partition) { $0 }
    var reader = Reader(catalog: catalog)
    let node = Node.mapping([
      ("dirichlet-by-device", .mapping([("clients", .text("7")), ("alpha", .text("0.5"))]))
    ])
    let choice = reader.readPart(node, .partition)
    let partitioner = try choice?.value.partitioner(folders: DataFolders([]))
    #expect(partitioner?.clients == 7)
    #expect(reader.readPart(.text("blobs"), .dataSource)?.name == "blobs")
    #expect(reader.faults.isEmpty)
  }
}
