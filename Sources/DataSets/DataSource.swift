import Learning
import Schema

/// The samples to train on and those to test on.
public struct TrainAndTest: Sendable {
  /// The training pool, which partitions deal out.
  public let train: Dataset
  /// The test set, which only central evaluation sees.
  public let test: Dataset

  /// The source's own users and which training samples are whose; nil where it has none.
  public let users: DataUsers?

  /// A pair of data sets with samples of one shape and the same classes.
  public init(train: Dataset, test: Dataset, users: DataUsers? = nil) {
    precondition(train.sampleShape == test.sampleShape, "train and test samples differ in shape")
    precondition(train.outputCount == test.outputCount, "train and test classes differ in number")
    precondition(
      train.kind == test.kind && train.targets.width == test.targets.width,
      "train and test targets differ")
    self.train = train
    self.test = test
    self.users = users
  }
}

/// The users that a source knows, and the training samples of each.
public struct DataUsers: Sendable, Equatable {
  /// What the source calls them.
  public let names: [String]
  /// Each one's samples in the training pool. Shapes: [user][its samples]; some may have none.
  public let shards: [[Int32]]
  /// Each one's samples in the test set. Shapes: [user][its samples], some may have none; empty
  /// where the source does not say whose test samples are.
  public let tests: [[Int32]]

  /// Users with their samples.
  public init(names: [String], shards: [[Int32]], tests: [[Int32]] = []) {
    precondition(names.count == shards.count, "one list of samples per user")
    precondition(tests.isEmpty || tests.count == names.count, "one list of test samples per user")
    self.names = names
    self.shards = shards
    self.tests = tests
  }

  /// The same users with the samples that users of the same names have in the test set.
  public func withTests(of other: DataUsers) -> DataUsers {
    var places: [String: Int] = [:]
    for (place, name) in other.names.enumerated() { places[name] = place }
    return DataUsers(
      names: names, shards: shards, tests: names.map { places[$0].map { other.shards[$0] } ?? [] })
  }

  /// Users whose samples are one behind the other in the pool, from the first; and so in the test
  /// set, where `testSizes` is given.
  public init(names: [String], sizes: [Int], testSizes: [Int] = []) {
    self.init(names: names, shards: Self.runs(sizes), tests: Self.runs(testSizes))
  }

  private static func runs(_ sizes: [Int]) -> [[Int32]] {
    var start: Int32 = 0
    return sizes.map { size in
      defer { start += Int32(size) }
      return Array(start..<start + Int32(size))
    }
  }
}

/// Where the training pool and the test set come from.
public protocol DataSource: Sendable {
  /// Reads or makes the data.
  ///
  /// `folders` are searched for files; `seed` is the scenario's `data` seed. The same files and
  /// seed give the same data. Throws: what is wrong with a file.
  func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest

  /// Whether another seed gives other data; without its own implementation a part says yes.
  var drawsFromSeed: Bool { get }

  /// What its samples are learned by; without its own implementation a part says classes.
  var targets: Dataset.TargetKind { get }
}

extension DataSource {
  /// Another seed may give other data.
  public var drawsFromSeed: Bool { true }
  /// A class each.
  public var targets: Dataset.TargetKind { .classes }
}

extension Seam where Value == any DataSource {
  /// The seam of data sources.
  public static var dataSource: Seam {
    Seam("data source", "Where do the training pool and the test set come from?")
  }
}

extension LabelledImages {
  /// The images as a data set of bytes. Shapes: sample [rows, columns].
  func dataset(classes: Int) -> Dataset {
    Dataset(
      features: .bytes(pixels), sampleShape: [rows, columns], labels: labels.map { Int32($0) },
      classCount: classes)
  }

  /// Two pairs of files as training pool and test set.
  ///
  /// Throws: `countMismatch` where the images differ in size, and what reading throws.
  static func trainAndTest(
    train: (images: String, labels: String), test: (images: String, labels: String), classes: Int
  ) throws(DataFault) -> TrainAndTest {
    let learned = try LabelledImages(
      imagesAt: train.images, labelsAt: train.labels, classes: classes)
    let tested = try LabelledImages(imagesAt: test.images, labelsAt: test.labels, classes: classes)
    guard learned.rows == tested.rows, learned.columns == tested.columns else {
      throw DataFault(
        .countMismatch, in: test.images, at: .byte(8),
        found: "images of \(tested.rows) x \(tested.columns)",
        expected: "\(learned.rows) x \(learned.columns), as in \(train.images)")
    }
    return TrainAndTest(
      train: learned.dataset(classes: classes), test: tested.dataset(classes: classes))
  }
}
