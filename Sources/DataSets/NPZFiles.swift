import Learning
import Schema

/// Samples and labels from the arrays of one NPZ archive, as NumPy's `savez` writes it.
///
/// Samples are [n, axes…] of bytes (a byte b means b/255; training and test samples alike), floats
/// or whole numbers, labels [n] or [n, 1] of whole numbers from 0. With `users`, an array [n] of
/// whole numbers of any range says whose each training sample is: users in ascending order, each
/// one's samples in the pool's order. With `targets`, labels are numbers, [n] or [n, outputs], or
/// tokens, [n, positions].
public struct NPZFiles: DataSource, Part {
  public struct Settings: PartSettings {
    /// The archive.
    public var path = ""
    /// The array of training samples.
    public var trainSamples = "x_train"
    /// The array of training labels.
    public var trainLabels = "y_train"
    /// The array of test samples.
    public var testSamples = "x_test"
    /// The array of test labels.
    public var testLabels = "y_test"
    /// The array that says whose each training sample is.
    public var users: String?
    /// Number of classes; nil: the largest label and one.
    public var classes: Int?
    /// What the labels are; nil: classes.
    public var targets: TargetSettings?

    public init() {}

    /// A bare value is the path.
    public static var shorthand: String? { "path" }

    public static var fields: [Field<Settings>] {
      [
        Field("path", \.path, .path, required: true, "NPZ archive with the four arrays."),
        Field("trainSamples", \.trainSamples, .text, "Name of the array of training samples."),
        Field("trainLabels", \.trainLabels, .text, "Name of the array of training labels."),
        Field("testSamples", \.testSamples, .text, "Name of the array of test samples."),
        Field("testLabels", \.testLabels, .text, "Name of the array of test labels."),
        Field(
          "users", \.users, optional: .text,
          "Name of an array with the user of each training sample; absent: there are no users."),
        Field(
          "classes", \.classes, optional: .integer(2...1_048_576),
          "Number of classes, or of tokens; absent: one more than the largest label."),
        Field(
          "targets", \.targets, feature: .settings(),
          "What the labels are; absent: a class for each sample."),
      ]
    }
  }

  public static let name = "npz"
  /// What it is.
  public static let summary = "Samples and labels from the arrays of a NumPy NPZ archive."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var targets: Dataset.TargetKind { settings.targets?.targetKind ?? .classes }

  /// Reads the archive, looked for in `folders`.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    let archive = try NPZ(contentsOf: try folders.locate(settings.path))
    let train = try pair(settings.trainSamples, settings.trainLabels, of: archive)
    let test = try pair(settings.testSamples, settings.testLabels, of: archive)
    var owners: DataUsers?
    if let name = settings.users {
      owners = try users(named: name, of: archive, count: train.count)
    }
    return try LabelledArrays.trainAndTest(train, test, classes: settings.classes, users: owners)
  }

  private func pair(
    _ samples: String, _ labels: String, of archive: NPZ
  ) throws(DataFault) -> LabelledArrays {
    let x = try archive.array(named: samples)
    let place = "\(archive.file):\(samples).npy"
    if let targets = settings.targets, targets.kind == .nextToken {
      return try LabelledArrays(sequences: x, at: place, targets: targets)
    }
    return try LabelledArrays(
      samples: x, at: place, labels: try archive.array(named: labels),
      at: "\(archive.file):\(labels).npy", targets: settings.targets ?? TargetSettings())
  }

  private func users(
    named name: String, of archive: NPZ, count: Int
  ) throws(DataFault) -> DataUsers {
    let array = try archive.array(named: name)
    guard array.shape == [count], let owners = array.integers else {
      throw DataFault(
        .countMismatch, in: "\(archive.file):\(name).npy",
        found: "type \(array.values.descriptor), shape \(array.shape)",
        expected: "whole numbers of shape [\(count)], a user for each training sample")
    }
    let order = (0..<count).sorted { (owners[$0], $0) < (owners[$1], $1) }
    var names: [String] = []
    var shards: [[Int32]] = []
    for sample in order {
      let name = String(owners[sample])
      if names.last != name {
        names.append(name)
        shards.append([])
      }
      shards[shards.count - 1].append(Int32(sample))
    }
    return DataUsers(names: names, shards: shards)
  }
}

/// Samples and labels from four NPY files, as NumPy's `save` writes them; arrays as for `npz`.
public struct NPYFiles: DataSource, Part {
  public struct Settings: PartSettings {
    /// Training samples.
    public var trainSamples = ""
    /// Training labels; nil: samples are their own.
    public var trainLabels: String?
    /// Test samples.
    public var testSamples = ""
    /// Test labels; nil: samples are their own.
    public var testLabels: String?
    /// Number of classes; nil: the largest label and one.
    public var classes: Int?
    /// What the labels are; nil: classes.
    public var targets: TargetSettings?

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "trainSamples", \.trainSamples, .path, required: true, "NPY file of training samples."),
        Field(
          "trainLabels", \.trainLabels, optional: .path,
          "NPY file of training labels; needed, but with `next-token`."),
        Field("testSamples", \.testSamples, .path, required: true, "NPY file of test samples."),
        Field(
          "testLabels", \.testLabels, optional: .path,
          "NPY file of test labels; needed, but with `next-token`."),
        Field(
          "classes", \.classes, optional: .integer(2...1_048_576),
          "Number of classes, or of tokens; absent: one more than the largest label."),
        Field(
          "targets", \.targets, feature: .settings(),
          "What the labels are; absent: a class for each sample."),
      ]
    }

    /// Labels are there, unless samples are their own.
    public func contradictions() -> [(key: String, message: String)] {
      let isOwn = targets?.kind == .nextToken
      return [("trainLabels", trainLabels), ("testLabels", testLabels)].compactMap { key, file in
        if isOwn == (file == nil) { return nil }
        return isOwn
          ? (key, "with `targets: next-token` samples are their own labels")
          : ("", "`\(key)` is needed: a file of labels")
      }
    }
  }

  public static let name = "npy"
  /// What it is.
  public static let summary = "Samples and labels from four NumPy NPY files."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var targets: Dataset.TargetKind { settings.targets?.targetKind ?? .classes }

  /// Reads the four files, each looked for in `folders`.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    func pair(_ samples: String, _ labels: String?) throws(DataFault) -> LabelledArrays {
      let x = try folders.locate(samples)
      let targets = settings.targets ?? TargetSettings()
      guard let labels else {
        return try LabelledArrays(sequences: try NPYArray(contentsOf: x), at: x, targets: targets)
      }
      let y = try folders.locate(labels)
      return try LabelledArrays(
        samples: try NPYArray(contentsOf: x), at: x, labels: try NPYArray(contentsOf: y), at: y,
        targets: targets)
    }
    return try LabelledArrays.trainAndTest(
      try pair(settings.trainSamples, settings.trainLabels),
      try pair(settings.testSamples, settings.testLabels), classes: settings.classes, users: nil)
  }
}
