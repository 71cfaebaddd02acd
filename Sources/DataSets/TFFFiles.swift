import Learning
import Processes
import Schema

/// Clients and their samples from two HDF5 files as TensorFlow Federated hands them out.
///
/// A file has a group `examples` with a group a client, each with data sets of one length: samples
/// [n, axes…] (or [n], then [n, 1]) and labels [n] or [n, 1]. Users are the training file's clients
/// in the order of their names' bytes, the pool's samples theirs in that order; the test set is the
/// test file's samples in the same order. A client without samples stays a user without any.
/// Source: TensorFlow Federated, `tff.simulation.datasets.emnist` and the like (`fed_emnist.h5`:
/// `pixels` [n, 28, 28] of 32-bit floats, `label`).
public struct TFFFiles: DataSource, Part {
  public struct Settings: PartSettings {
    /// The training file.
    public var train = ""
    /// The test file.
    public var test = ""
    /// The data set of samples.
    public var samples = "pixels"
    /// The data set of labels.
    public var labels = "label"
    /// The group of clients.
    public var group = "examples"
    /// Number of classes; nil: the largest label and one.
    public var classes: Int?
    /// What the labels are; nil: classes.
    public var targets: TargetSettings?

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("train", \.train, .path, required: true, "HDF5 file of training samples."),
        Field("test", \.test, .path, required: true, "HDF5 file of test samples."),
        Field("samples", \.samples, .text, "Name of each client's data set of samples."),
        Field("labels", \.labels, .text, "Name of each client's data set of labels."),
        Field("group", \.group, .text, "Name of the group of clients."),
        Field(
          "classes", \.classes, optional: .integer(2...1_048_576),
          "Number of classes, or of tokens; absent: one more than the largest label."),
        Field(
          "targets", \.targets, feature: .settings(),
          "What the labels are; absent: a class for each sample."),
      ]
    }
  }

  public static let name = "tff-hdf5"
  public static let summary =
    "Clients with their samples from TensorFlow Federated's HDF5 files; has users."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var targets: Dataset.TargetKind { settings.targets?.targetKind ?? .classes }

  /// Reads the two files, each looked for in `folders`.
  ///
  /// Throws: what `ClientFile` throws; `countMismatch` where lengths or shapes differ, `outOfRange`
  /// for labels and numbers that are not finite, `truncated` without a sample.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    let train = try read(try folders.locate(settings.train))
    let test = try read(try folders.locate(settings.test))
    return try LabelledArrays.trainAndTest(
      train.arrays, test.arrays, classes: settings.classes,
      users: DataUsers(names: train.names, sizes: train.sizes)
        .withTests(of: DataUsers(names: test.names, sizes: test.sizes)))
  }

  private struct Clients {
    var arrays: LabelledArrays
    var names: [String]
    var sizes: [Int]
  }

  /// The data sets of a client.
  private var columns: [String] {
    settings.targets?.kind == .nextToken
      ? [settings.samples] : [settings.samples, settings.labels]
  }

  private func samples(_ arrays: [NPYArray], at place: String) throws(DataFault) -> LabelledArrays {
    let targets = settings.targets ?? TargetSettings()
    guard arrays.count == 2 else {
      return try LabelledArrays(
        sequences: arrays[0], at: "\(place)/\(settings.samples)", targets: targets)
    }
    let isFlat = arrays[0].shape.count == 1
    return try LabelledArrays(
      samples: isFlat
        ? NPYArray(shape: arrays[0].shape + [1], values: arrays[0].values) : arrays[0],
      at: "\(place)/\(settings.samples)", labels: arrays[1], at: "\(place)/\(settings.labels)",
      targets: targets)
  }

  private func read(_ path: String) throws(DataFault) -> Clients {
    try ClientFile.check(path, group: settings.group, columns)
    return try ClientFile.reading(path, group: settings.group) { file throws(DataFault) in
      let names = try file.clients()
      var sizes: [Int] = []
      var joined: LabelledArrays?
      for client in names {
        let arrays = try file.arrays(columns, of: client)
        let place = "\(file.path)/\(client)"
        if arrays.allSatisfy({ $0.shape.first == 0 }) {
          sizes.append(0)
          continue
        }
        let own = try samples(arrays, at: place)
        try own.checkLabels(classes: settings.classes ?? LabelledArrays.mostClasses)
        sizes.append(own.count)
        if joined == nil { joined = own } else { try joined?.append(own) }
      }
      guard let joined else {
        throw DataFault(
          .truncated, in: file.path, found: "\(names.count) clients without samples",
          expected: "at least one sample")
      }
      return Clients(arrays: joined, names: names, sizes: sizes)
    }
  }
}
