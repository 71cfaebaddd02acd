import Learning
import Schema

/// Colour images of 32 × 32 pixels from the binary files of CIFAR-10 or CIFAR-100.
///
/// A file is a row of records: one label byte (CIFAR-100: the coarse, then the fine one) and 3,072
/// bytes of pixels, all of red before green before blue, each colour row by row. Images here are
/// channels-last, [32 rows, 32 columns, 3 colours]: byte (row·32 + column)·3 + colour is the file's
/// colour·1,024 + row·32 + column. A file may have any number of records from 1.
/// Source: https://www.cs.toronto.edu/~kriz/cifar.html (Krizhevsky, 2009), "Binary version".
struct CIFARRecords {
  /// How many label bytes lead a record.
  let labelBytes: Int
  /// Which of them is the class.
  let labelAt: Int
  /// The number of classes of each label byte.
  let classCounts: [Int]

  static let pixels = 3_072

  /// The records of files, one file behind the other.
  ///
  /// Throws: `truncated` for a file without a record or with half of one, `outOfRange` for a label
  /// that is no class.
  func dataset(of paths: [String]) throws(DataFault) -> Dataset {
    var bytes: [UInt8] = []
    var labels: [Int32] = []
    for path in paths { try read(path, into: &bytes, &labels) }
    return Dataset(
      features: .bytes(bytes), sampleShape: [32, 32, 3], labels: labels,
      classCount: classCounts[labelAt])
  }

  private func read(
    _ path: String, into bytes: inout [UInt8], _ labels: inout [Int32]
  ) throws(DataFault) {
    let stream = try ByteStream(path: path)
    let size = labelBytes + Self.pixels
    var record: [UInt8] = []
    var start = 0
    while true {
      record.removeAll(keepingCapacity: true)
      let count = try stream.read(size, appendingTo: &record)
      if count == 0 && start > 0 { return }
      for place in 0..<min(labelBytes, count) where Int(record[place]) >= classCounts[place] {
        throw DataFault(
          .outOfRange, in: path, at: .byte(start + place), found: "label \(record[place])",
          expected: "a label from 0 to \(classCounts[place] - 1)",
          advice: start == 0 ? "the binary version is read, not the Python or Matlab one" : nil)
      }
      guard count == size else {
        throw DataFault(
          .truncated, in: path, at: .byte(start + count), found: "the end of the file",
          expected: "records of \(size) bytes, a whole number of them and at least one")
      }
      labels.append(Int32(record[labelAt]))
      for pixel in labelBytes..<labelBytes + 1_024 {
        bytes.append(record[pixel])
        bytes.append(record[pixel + 1_024])
        bytes.append(record[pixel + 2_048])
      }
      start += size
    }
  }
}

/// CIFAR-10: 50,000 training and 10,000 test images in colour, 32 × 32 pixels, 10 classes.
///
/// Samples are bytes of shape [32, 32, 3], channels last; the training pool is the five batches in
/// order. Source: https://www.cs.toronto.edu/~kriz/cifar.html, `cifar-10-binary.tar.gz`.
public struct CIFAR10: DataSource, Part {
  public struct Settings: PartSettings {
    /// The folder of the six files.
    public var folder = "cifar-10-batches-bin"

    public init() {}

    /// A bare value is the folder.
    public static var shorthand: String? { "folder" }

    public static var fields: [Field<Settings>] {
      [
        Field(
          "folder", \.folder, .path,
          "Folder with data_batch_1.bin to data_batch_5.bin and test_batch.bin, plain or .gz.")
      ]
    }
  }

  public static let name = "cifar-10"
  public static let summary = "CIFAR-10, 50,000 + 10,000 colour images of 32 x 32 in 10 classes."

  private let folder: String

  public init(_ settings: Settings) { folder = settings.folder }

  /// Reads the six files.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    let places = folders.within(folder, advice: "unpack cifar-10-binary.tar.gz there")
    let records = CIFARRecords(labelBytes: 1, labelAt: 0, classCounts: [10])
    var batches: [String] = []
    for batch in 1...5 { batches.append(try places.locate("data_batch_\(batch).bin")) }
    let test = try places.locate("test_batch.bin")
    return TrainAndTest(
      train: try records.dataset(of: batches), test: try records.dataset(of: [test]))
  }
}

/// CIFAR-100: 50,000 training and 10,000 test images in colour, with 100 classes in 20 groups.
///
/// Samples are bytes of shape [32, 32, 3], channels last. Source:
/// https://www.cs.toronto.edu/~kriz/cifar.html, `cifar-100-binary.tar.gz`.
public struct CIFAR100: DataSource, Part {
  /// Which of the two labels is the class.
  public enum Labels: String, CaseIterable, Sendable {
    /// The 100 classes.
    case fine
    /// The 20 groups of five classes.
    case coarse
  }

  public struct Settings: PartSettings {
    /// The folder of the two files.
    public var folder = "cifar-100-binary"
    /// Which of the two labels is the class.
    public var labels = Labels.fine

    public init() {}

    /// A bare value is the folder.
    public static var shorthand: String? { "folder" }

    public static var fields: [Field<Settings>] {
      [
        Field("folder", \.folder, .path, "Folder with train.bin and test.bin, plain or .gz."),
        Field(
          "labels", \.labels, .choice, "Label to use as the class: 100 fine or 20 coarse labels."),
      ]
    }
  }

  public static let name = "cifar-100"
  public static let summary =
    "CIFAR-100, 50,000 + 10,000 colour images of 32 x 32, 100 fine or 20 coarse classes."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Reads the two files.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    let places = folders.within(settings.folder, advice: "unpack cifar-100-binary.tar.gz there")
    let records = CIFARRecords(
      labelBytes: 2, labelAt: settings.labels == .fine ? 1 : 0, classCounts: [20, 100])
    let train = try places.locate("train.bin")
    let test = try places.locate("test.bin")
    return TrainAndTest(
      train: try records.dataset(of: [train]), test: try records.dataset(of: [test]))
  }
}

extension DataFolders {
  /// The folder `name` inside each of these, or itself where it is absolute.
  func within(_ name: String, advice: String) -> DataFolders {
    DataFolders(
      name.hasPrefix("/") ? [name] : paths.map { "\($0)/\(name)" }, advice: self.advice ?? advice)
  }
}
