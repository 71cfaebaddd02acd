import Foundation
import Learning
import Schema

/// Users and their samples from JSON files as LEAF's scripts write them.
///
/// A folder of training and one of test files, each read in the order of their names' bytes; a file
/// is an object with `users` (names), `num_samples` (one count a user) and `user_data`, from each
/// user to `x` (samples, each a number or a list of numbers, nested or not) and `y` (labels, whole
/// numbers from 0); `hierarchies` is passed over. The keys may be in any order. Texts as samples
/// are not read. Samples of the pool are in the order of `user_data`, users in that of `users`,
/// file by file. A user is in one training file only; who the test samples belong to does not
/// matter. The files are read as a stream: besides the samples no part of them is held.
/// Source: Caldas et al., "LEAF: a benchmark for federated settings" (2018), `data/*/data/train`.
public struct LEAFFiles: DataSource, Part {
  public struct Settings: PartSettings {
    /// The folder of training files.
    public var train = "train"
    /// The folder of test files.
    public var test = "test"
    public var classes = 10
    /// The extents of a sample; nil: one axis.
    public var shape: [Int]?

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("train", \.train, .path, "Folder of training files, *.json or *.json.gz."),
        Field("test", \.test, .path, "Folder of test files, *.json or *.json.gz."),
        Field(
          "classes", \.classes, .integer(2...1_048_576), required: true,
          "Number of classes; labels are below it."),
        Field(
          "shape", \.shape, optional: .list(of: .integer(1...1_000_000), minimum: 1),
          "Shape of a sample, such as [28, 28]; absent: one axis."),
      ]
    }
  }

  public static let name = "leaf"
  public static let summary = "Users with their samples from LEAF's JSON files; has users."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Reads all files of the two folders, each looked for in `folders`.
  ///
  /// Throws: `missingFile` for a folder without such files, `malformed`, `truncated`,
  /// `trailingBytes` for what is no such JSON, `countMismatch` for counts and sizes that differ,
  /// `outOfRange` for labels and for numbers that are not finite, `duplicate`, `missingName`,
  /// `unknownName` for users and keys.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    var train = LEAFSamples(classes: settings.classes, sampleSize: settings.shape?.reduce(1, *))
    for path in try files(settings.train, folders) { try train.read(path) }
    var test = LEAFSamples(classes: settings.classes, sampleSize: train.sampleSize)
    for path in try files(settings.test, folders) { try test.read(path) }
    for (samples, folder) in [(train, settings.train), (test, settings.test)]
    where samples.labels.isEmpty {
      throw DataFault(.truncated, in: folder, found: "no samples", expected: "at least one")
    }
    let shape = settings.shape ?? [train.sampleSize ?? 1]
    return TrainAndTest(
      train: train.dataset(shape: shape), test: test.dataset(shape: shape),
      users: DataUsers(names: train.names, shards: train.shards)
        .withTests(of: DataUsers(names: test.names, shards: test.shards)))
  }

  private func files(_ folder: String, _ folders: DataFolders) throws(DataFault) -> [String] {
    let places = folder.hasPrefix("/") ? [folder] : folders.paths.map { "\($0)/\(folder)" }
    for place in places {
      let names = ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).filter {
        $0.hasSuffix(".json") || $0.hasSuffix(".json.gz")
      }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      if !names.isEmpty { return names.map { "\(place)/\($0)" } }
    }
    throw DataFault(
      .missingFile, in: folder, found: "no *.json in \(places.joined(separator: ", "))",
      expected: "a folder with LEAF's files", advice: folders.advice)
  }
}

/// The samples of some of LEAF's files as they are read.
struct LEAFSamples {
  let classes: Int
  var sampleSize: Int?
  private(set) var names: [String] = []
  private(set) var shards: [[Int32]] = []
  private(set) var labels: [Int32] = []
  private var values: [Float] = []
  private var numbers: [String: Int] = [:]

  init(classes: Int, sampleSize: Int?) {
    self.classes = classes
    self.sampleSize = sampleSize
  }

  func dataset(shape: [Int]) -> Dataset {
    Dataset(features: .floats(values), sampleShape: shape, labels: labels, classCount: classes)
  }

  /// What one file says apart from the samples.
  private struct Claims {
    var users: [(name: String, place: DataFault.Place)]?
    var counts: [(count: Int, place: DataFault.Place)]?
    var samples: [String: Range<Int32>]?
  }

  mutating func read(_ path: String) throws(DataFault) {
    var text = try JSONText(path: path)
    var claims = Claims()
    try text.take("{", "an object with `users`, `num_samples` and `user_data`")
    repeat {
      let key = try text.string("a key")
      let place = text.place
      func once(_ isFirst: Bool) throws(DataFault) {
        guard !isFirst else { return }
        throw DataFault(
          .duplicate, in: path, at: place, found: "`\(key)` again", expected: "each key once")
      }
      try text.take(":", "a colon")
      switch key {
      case "users":
        try once(claims.users == nil)
        claims.users = try Self.list(&text, "a list of users") { text throws(DataFault) in
          (try text.string("a user's name"), text.place)
        }
      case "num_samples":
        try once(claims.counts == nil)
        claims.counts = try Self.list(&text, "a list of counts") { text throws(DataFault) in
          (try Self.whole(&text, below: Int(Int32.max), "a number of samples"), text.place)
        }
      case "user_data":
        try once(claims.samples == nil)
        claims.samples = try userData(&text)
      case "hierarchies": try text.skipValue()
      default:
        throw DataFault(
          .unknownName, in: path, at: place, found: "the key `\(key)`",
          expected: "`users`, `num_samples`, `user_data` or `hierarchies`")
      }
    } while try text.takeIfPresent(",")
    try text.take("}", "a comma or the end of the object")
    try text.end()
    try settle(claims, path)
  }

  /// Holds the three parts of a file against each other and takes its users.
  private mutating func settle(_ claims: Claims, _ path: String) throws(DataFault) {
    guard let users = claims.users, let counts = claims.counts, let samples = claims.samples else {
      let missing =
        claims.users == nil ? "users" : claims.counts == nil ? "num_samples" : "user_data"
      throw DataFault(
        .missingName, in: path, found: "no `\(missing)`",
        expected: "`users`, `num_samples` and `user_data`")
    }
    guard users.count == counts.count, users.count == samples.count else {
      throw DataFault(
        .countMismatch, in: path,
        found: "\(users.count) users, \(counts.count) counts, \(samples.count) users with data",
        expected: "three equal numbers")
    }
    for (user, count) in zip(users, counts) {
      guard let own = samples[user.name] else {
        throw DataFault(
          .missingName, in: path, at: user.place, found: "user '\(user.name)' without data",
          expected: "an entry in `user_data`")
      }
      guard numbers[user.name] == nil else {
        throw DataFault(
          .duplicate, in: path, at: user.place, found: "user '\(user.name)' again",
          expected: "each user once, over all files of the folder")
      }
      guard own.count == count.count else {
        throw DataFault(
          .countMismatch, in: path, at: count.place,
          found: "\(count.count) samples of '\(user.name)' announced",
          expected: "\(own.count), as in `user_data`")
      }
      numbers[user.name] = names.count
      names.append(user.name)
      shards.append(Array(own))
    }
  }

  private mutating func userData(
    _ text: inout JSONText
  ) throws(DataFault) -> [String: Range<Int32>] {
    var samples: [String: Range<Int32>] = [:]
    try text.take("{", "an object from users to their data")
    if try text.takeIfPresent("}") { return samples }
    repeat {
      let name = try text.string("a user's name")
      guard samples[name] == nil else {
        throw text.fault(.duplicate, found: "user '\(name)' again", expected: "each user once")
      }
      try text.take(":", "a colon")
      samples[name] = try user(&text, name)
    } while try text.takeIfPresent(",")
    try text.take("}", "a comma or the end of the object")
    return samples
  }

  private mutating func user(
    _ text: inout JSONText, _ name: String
  ) throws(DataFault) -> Range<Int32> {
    let start = labels.count
    var sampleCount: Int?
    var labelCount: Int?
    try text.take("{", "an object with `x` and `y`")
    repeat {
      let key = try text.string("`x` or `y`")
      let isRepeated = key == "x" ? sampleCount != nil : labelCount != nil
      guard key == "x" || key == "y", !isRepeated else {
        throw text.fault(
          isRepeated ? .duplicate : .unknownName, found: "the key `\(key)` of '\(name)'",
          expected: "`x` and `y`, each once")
      }
      try text.take(":", "a colon")
      if key == "x" {
        sampleCount = try self.samples(&text)
      } else {
        let classes = classes
        let own = try Self.list(&text, "a list of labels") { text throws(DataFault) in
          Int32(try Self.whole(&text, below: classes, "a label"))
        }
        labels += own
        labelCount = own.count
      }
    } while try text.takeIfPresent(",")
    try text.take("}", "a comma or the end of the object")
    guard let sampleCount, let labelCount, sampleCount == labelCount else {
      throw text.fault(
        sampleCount == nil || labelCount == nil ? .missingName : .countMismatch,
        found: "\(sampleCount ?? 0) samples and \(labelCount ?? 0) labels of '\(name)'",
        expected: "`x` and `y` of one length")
    }
    return Int32(start)..<Int32(labels.count)
  }

  private mutating func samples(_ text: inout JSONText) throws(DataFault) -> Int {
    var count = 0
    try text.take("[", "a list of samples")
    if try text.takeIfPresent("]") { return 0 }
    repeat {
      let start = values.count
      _ = try text.peek()
      let place = text.place
      try append(&text, depth: 0)
      let size = values.count - start
      if sampleSize == nil && size > 0 { sampleSize = size }
      guard size == sampleSize else {
        throw DataFault(
          .countMismatch, in: text.file, at: place, found: "a sample of \(size) numbers",
          expected: "\(sampleSize ?? 1) numbers in every sample")
      }
      count += 1
    } while try text.takeIfPresent(",")
    try text.take("]", "a comma or the end of the list")
    return count
  }

  private mutating func append(_ text: inout JSONText, depth: Int) throws(DataFault) {
    guard depth < 16, try text.takeIfPresent("[") else {
      let value = Float(try text.number("a finite number; texts and the like are not read"))
      guard value.isFinite else {
        throw text.fault(
          .outOfRange, found: "a number beyond 3.4e38", expected: "one that 32 bits hold")
      }
      values.append(value)
      return
    }
    if try text.takeIfPresent("]") { return }
    repeat { try append(&text, depth: depth + 1) } while try text.takeIfPresent(",")
    try text.take("]", "a comma or the end of the list")
  }

  private static func whole(
    _ text: inout JSONText, below limit: Int, _ what: String
  ) throws(DataFault) -> Int {
    let expected = "\(what), a whole number from 0 to \(limit - 1)"
    let value = try text.number(expected)
    let whole = Int(exactly: value)
    guard let number = whole, number >= 0, number < limit else {
      throw text.fault(
        .outOfRange, found: "`\(whole.map { "\($0)" } ?? "\(value)")`", expected: expected)
    }
    return number
  }

  private static func list<Element>(
    _ text: inout JSONText, _ expected: String,
    _ element: (inout JSONText) throws(DataFault) -> Element
  ) throws(DataFault) -> [Element] {
    var elements: [Element] = []
    try text.take("[", expected)
    if try text.takeIfPresent("]") { return elements }
    repeat { elements.append(try element(&text)) } while try text.takeIfPresent(",")
    try text.take("]", "a comma or the end of the list")
    return elements
  }
}
