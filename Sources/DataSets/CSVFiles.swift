import Learning
import Schema

/// Samples from two comma-separated tables: a column of labels, columns of numbers.
///
/// With a header line columns go by their names, without one by their places, `1`, `2`, …. Every
/// column but the label's and the user's is a feature, in the training table's order, unless
/// `features` lists them; the test table needs the same columns, in any order. Every row has as
/// many cells as the first one, and every feature is a finite number. Allowed: spaces around
/// cells, cells in double quotes, empty lines, lines that begin with `#`, gzip. Classes are those
/// listed in `classes`, in that order; without it the labels met in the training table, by value
/// where all are whole numbers and else by their UTF-8 bytes. With `user`, that column says whose
/// each training sample is: users in the order in which they are met. With `targets`, these columns
/// are the numbers to learn, and there is no label.
public struct CSVFiles: DataSource, Part {
  public struct Settings: PartSettings {
    /// The training table.
    public var train = ""
    /// The test table.
    public var test = ""
    /// Whether the first line names the columns.
    public var header = true
    /// The column of labels.
    public var label = "label"
    /// The column of users.
    public var user: String?
    /// The columns of features; nil: all others.
    public var features: [String]?
    /// The columns of numbers to learn; nil: there is a label.
    public var targets: [String]?
    /// The labels in the order of their classes; nil: those met.
    public var classes: [String]?
    /// The extents of a sample; nil: one axis.
    public var shape: [Int]?

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("train", \.train, .path, required: true, "Table of training samples, plain or .gz."),
        Field("test", \.test, .path, required: true, "Table of test samples, plain or .gz."),
        Field("header", \.header, .flag, "The first line names the columns."),
        Field("label", \.label, .text, "Column of labels, by name or, without header, by place."),
        Field(
          "user", \.user, optional: .text,
          "Column with the user of a training sample; absent: there are no users."),
        Field(
          "features", \.features, optional: .list(of: .text, minimum: 1),
          "Columns of features in their order; absent: all other columns."),
        Field(
          "targets", \.targets, feature: .list(of: .text, minimum: 1),
          "Columns of numbers to learn instead of a label; absent: the label is a class."),
        Field(
          "classes", \.classes, optional: .list(of: .text, minimum: 2),
          "Labels in the order of their classes; absent: those of the training table."),
        Field(
          "shape", \.shape, optional: .list(of: .integer(1...1_000_000), minimum: 1),
          "Shape of a sample, such as [28, 28]; absent: one axis."),
      ]
    }

    /// Numbers have no classes, and are no features.
    public func contradictions() -> [(key: String, message: String)] {
      guard let targets else { return [] }
      var faults: [(key: String, message: String)] = []
      if classes != nil { faults.append(("classes", "with `targets` there are no classes")) }
      if let both = features?.first(where: { targets.contains($0) }) {
        faults.append(("features", "column '\(both)' is also one of the `targets`"))
      }
      if let user, targets.contains(user) {
        faults.append(("user", "column '\(user)' is also one of the `targets`"))
      }
      return faults
    }
  }

  public static let name = "csv"
  public static let summary = "Samples from two comma-separated tables with a column of labels."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  public var targets: Dataset.TargetKind { settings.targets == nil ? .classes : .values }

  /// Reads the two tables, each looked for in `folders`.
  ///
  /// Throws: `missingName`, `duplicate` for columns; `countMismatch` for rows of other lengths and
  /// a shape that does not fit; `malformed`, `outOfRange` for values; `truncated` without a row.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    let trainPath = try folders.locate(settings.train)
    let testPath = try folders.locate(settings.test)
    var train = CSVSamples(settings: settings)
    try train.read(trainPath, columns: settings.features, classes: settings.classes, isTest: false)
    let classes = settings.classes ?? train.sortedClasses
    guard classes.count >= 2 || settings.targets != nil else {
      throw DataFault(
        .countMismatch, in: trainPath, found: "the only label '\(classes.first ?? "")'",
        expected: "at least two classes")
    }
    var test = CSVSamples(settings: settings)
    try test.read(testPath, columns: train.columns, classes: classes, isTest: true)
    let shape = settings.shape ?? [train.columns.count]
    guard shape.reduce(1, *) == train.columns.count else {
      throw DataFault(
        .countMismatch, in: trainPath, at: .text(line: 1, column: 1),
        found: "\(train.columns.count) columns of features",
        expected: "\(shape.reduce(1, *)) for samples of shape \(shape)")
    }
    let users = settings.user.map { _ in
      DataUsers(names: train.users, shards: train.shards)
    }
    return TrainAndTest(
      train: train.dataset(classes: classes, shape: shape),
      test: test.dataset(classes: classes, shape: shape), users: users)
  }
}

/// The samples of one table as they are read.
struct CSVSamples {
  let settings: CSVFiles.Settings
  var columns: [String] = []
  var users: [String] = []
  var shards: [[Int32]] = []

  private var values: [Float] = []
  private var targets: [Float] = []
  private var count = 0
  private var labels: [Int] = []
  private var names: [String] = []
  private var nameNumbers: [String: Int] = [:]
  private var userNumbers: [String: Int] = [:]

  init(settings: CSVFiles.Settings) { self.settings = settings }

  /// The labels met, by value where all are whole numbers, else by their bytes.
  var sortedClasses: [String] {
    let numbers = names.map { DecimalNumber($0.utf8)?.whole(times: 1) }
    let isNumeric = numbers.allSatisfy { $0 != nil }
    return names.indices.sorted { first, second in
      if isNumeric, numbers[first] != numbers[second] {
        return numbers[first] ?? 0 < numbers[second] ?? 0
      }
      return names[first].utf8.lexicographicallyPrecedes(names[second].utf8)
    }.map { names[$0] }
  }

  func dataset(classes: [String], shape: [Int]) -> Dataset {
    if let columns = settings.targets {
      return Dataset(
        features: .floats(values), sampleShape: shape,
        targets: .values(.init(targets, width: columns.count)))
    }
    let order = names.map { name in classes.firstIndex(of: name) ?? 0 }
    return Dataset(
      features: .floats(values), sampleShape: shape, labels: labels.map { Int32(order[$0]) },
      classCount: classes.count)
  }

  mutating func read(
    _ path: String, columns wanted: [String]?, classes: [String]?, isTest: Bool
  ) throws(DataFault) {
    var lines = DelimitedLines(
      stream: try ByteStream(path: path, limit: 1 << 40), buffer: [], file: path)
    guard try lines.next() else {
      throw lines.fault(.truncated, at: 0, found: "an empty table", expected: "a row per sample")
    }
    let known = lines.cells.indices.map { settings.header ? lines.text($0) : String($0 + 1) }
    var numbers: [String: Int] = [:]
    if let again = known.indices.first(where: { numbers.updateValue($0, forKey: known[$0]) != nil })
    {
      throw lines.fault(
        .duplicate, at: lines.cells[again].bytes.lowerBound,
        found: "column '\(known[again])' again",
        expected: "each column once")
    }
    func place(_ name: String, _ key: String) throws(DataFault) -> Int {
      if let place = numbers[name] { return place }
      throw missing(name, key, known, lines)
    }
    var label: Int?
    var targetPlaces: [Int] = []
    if let columns = settings.targets {
      for name in columns { targetPlaces.append(try place(name, "targets")) }
    } else {
      label = try place(settings.label, "label")
    }
    let answers = targetPlaces + [label].compactMap { $0 }
    var user: Int?
    if let name = settings.user, !isTest || numbers[name] != nil { user = try place(name, "user") }
    columns =
      wanted ?? known.indices.filter { !answers.contains($0) && $0 != user }.map { known[$0] }
    guard !columns.isEmpty else {
      throw lines.fault(
        .missingName, at: lines.lineBytes.lowerBound, found: "no column of features",
        expected: "at least one besides "
          + (settings.targets ?? [settings.label]).map { "'\($0)'" }.joined(separator: ", "))
    }
    let taken = Set(columns)
    if isTest, settings.features == nil,
      let other = known.indices.first(where: {
        !answers.contains($0) && $0 != user && !taken.contains(known[$0])
      })
    {
      throw lines.fault(
        .unknownName, at: lines.cells[other].bytes.lowerBound, found: "column '\(known[other])'",
        expected: "the training table's columns",
        advice: "list the columns to take in `features`")
    }
    var places: [Int] = []
    for name in columns { places.append(try place(name, "features")) }
    if settings.header {
      guard try lines.next() else {
        throw lines.fault(
          .truncated, at: lines.lineBytes.lowerBound, found: "no row", expected: "a row per sample")
      }
    }
    repeat {
      try takeNumbers(lines, known, places, targetPlaces)
      if let label { try take(lines, label: label, classes, isTest) }
      if let user, !isTest { own(lines.text(user)) }
      count += 1
    } while try lines.next()
  }

  /// A column that a key of the settings names, and that the first line does not have.
  private func missing(
    _ name: String, _ key: String, _ known: [String], _ lines: borrowing DelimitedLines
  ) -> DataFault {
    let columns = known.prefix(10).map { "'\($0)'" }.joined(separator: ", ")
    let others = known.count > 10 ? " and \(known.count - 10) others" : ""
    let verb = known.count == 1 ? "is" : "are"
    return lines.fault(
      .missingName, at: lines.lineBytes.lowerBound, found: "no column '\(name)'",
      expected: settings.header
        ? "one in the header line"
        : "a place from 1 to \(known.count), because there is no header",
      advice: Spelling.nearest(to: name, among: known).map { "did you mean '\($0)'?" }
        ?? "name a column by `\(key)`; there \(verb) \(columns)\(others)")
  }

  /// Takes the features and the targets of the line that was read.
  private mutating func takeNumbers(
    _ lines: borrowing DelimitedLines, _ known: [String], _ places: [Int], _ targetPlaces: [Int]
  ) throws(DataFault) {
    guard lines.cells.count == known.count else {
      throw lines.fault(
        .countMismatch, at: lines.lineBytes.upperBound, found: "\(lines.cells.count) cells",
        expected: "\(known.count), as in the first line")
    }
    for place in places { values.append(try number(lines, place, known[place])) }
    for place in targetPlaces { targets.append(try number(lines, place, known[place])) }
  }

  /// What to do about a column of the first row that has no numbers, where nobody chose the
  /// columns; nil: earlier rows had numbers there, so one cell is wrong.
  private var advice: String? {
    guard settings.features == nil, count == 0 else { return nil }
    let user = settings.user == nil ? ", or name the one of users by `user`" : ""
    return "list the columns to take in `features`" + user
  }

  /// A number of the line that was read.
  private func number(
    _ lines: borrowing DelimitedLines, _ place: Int, _ column: String
  ) throws(DataFault) -> Float {
    let bytes = lines.buffer[lines.cells[place].bytes]
    guard DecimalNumber.isNumber(bytes),
      let number = Double(String(decoding: bytes, as: UTF8.self))
    else {
      throw lines.fault(
        .malformed, at: bytes.startIndex,
        found: bytes.isEmpty ? "nothing" : "`\(lines.text(place))`",
        expected: "a finite number in column '\(column)'", advice: advice)
    }
    let value = Float(number)
    guard value.isFinite else {
      throw lines.fault(
        .outOfRange, at: bytes.startIndex, found: "`\(lines.text(place))`",
        expected: "a number of at most 3.4e38 in column '\(column)'")
    }
    return value
  }

  /// Takes the label of the line that was read.
  private mutating func take(
    _ lines: borrowing DelimitedLines, label: Int, _ classes: [String]?, _ isTest: Bool
  ) throws(DataFault) {
    let name = lines.text(label)
    let start = lines.cells[label].bytes.lowerBound
    // A label that was met before has been checked.
    if nameNumbers[name] == nil, let classes, !classes.contains(name) {
      throw lines.fault(
        .outOfRange, at: start, found: name.isEmpty ? "no label" : "the label '\(name)'",
        expected: isTest && settings.classes == nil
          ? "a label that the training table has" : "one of \(classes.joined(separator: ", "))",
        advice: Spelling.nearest(to: name, among: classes).map { "did you mean '\($0)'?" })
    }
    guard !name.isEmpty else {
      throw lines.fault(.malformed, at: start, found: "no label", expected: "a label")
    }
    if nameNumbers[name] == nil {
      nameNumbers[name] = names.count
      names.append(name)
    }
    labels.append(nameNumbers[name] ?? 0)
  }

  /// Gives the sample that is being read to a user.
  private mutating func own(_ name: String) {
    let number = userNumbers[name] ?? users.count
    if number == users.count {
      userNumbers[name] = number
      users.append(name)
      shards.append([])
    }
    shards[number].append(Int32(count))
  }
}
