import Schema

/// What a column says of one version.
public enum ColumnValue: Sendable, Equatable {
  /// A whole number.
  case integer(Int64)
  /// A number; NaN where there is none.
  case number(Double)
  /// A moment; seconds in tables.
  case time(SimTime)
  /// A place among the column's words.
  case code(Int8)

  /// The value as a number, seconds for a moment; exact for whole numbers up to 2⁵³.
  public var asDouble: Double {
    switch self {
    case .integer(let x): Double(x)
    case .number(let x): x
    case .time(let x): x.seconds
    case .code(let x): Double(x)
    }
  }
}

/// A column of the table of versions: declared once, for every place that tells of versions.
///
/// It serves the result's table, claims, sweeps' tables, recordings, the report and the page on
/// results. What it does not say has a default with which a new column is in all of them.
public struct VersionColumn: Sendable {
  /// What its values are.
  public enum Kind: Sendable, Equatable {
    /// Whole numbers.
    case integer
    /// Numbers, NaN where there is none.
    case number
    /// Moments.
    case time
    /// Places among these words.
    case code([String])
  }

  /// Where else than in the result's table a column is.
  public struct Uses: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt8
    /// Uses by their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Claims can be about it.
    public static let claims = Uses(rawValue: 1)
    /// Recordings hold it.
    public static let recordings = Uses(rawValue: 2)
    /// Tables of sweeps hold its final value.
    public static let sweeps = Uses(rawValue: 4)
    /// The report draws it in its own figure.
    public static let report = Uses(rawValue: 8)
    /// All of them.
    public static let all: Uses = [.claims, .recordings, .sweeps, .report]
  }

  /// When a column is there.
  public struct Presence: Sendable {
    /// In words, as the page on results has it; empty: always.
    public let words: String
    /// Whether it is there.
    public let holds: @Sendable (SimulationInputs) -> Bool
  }

  /// The variable's name.
  public let name: String
  /// The unit in UDUNITS' spelling.
  public package(set) var unit = "1"
  /// What the numbers are, in a few words.
  public let text: String
  /// What its values are.
  public let kind: Kind
  /// When it is there.
  public package(set) var presence = Presence(words: "") { _ in true }
  /// Where else it is.
  public package(set) var uses = Uses.all
  /// A remark in the result file, which may depend on what is run; nil: none.
  public package(set) var comment: @Sendable (SimulationInputs) -> String? = { _ in nil }
  /// A version's value.
  public let value: @Sendable (VersionRecord, VersionSeries) -> ColumnValue
  var sentence: String?
  var reason: (@Sendable (VersionRecord) -> String)?
  var figures: [VersionSummary]?

  /// One sentence for claims, without a full stop.
  public var claim: String { sentence ?? text.capitalised + (condition.map { " (\($0))" } ?? "") }

  /// Why a version has no such number.
  public func whyNone(_ record: VersionRecord) -> String {
    let place = condition.map { " (\($0.filter { $0 != "`" }))" } ?? ""
    return reason?(record) ?? "version \(record.version) has no \(name)\(place)"
  }

  /// What tables of sweeps hold of it.
  public var summaries: [VersionSummary] {
    guard uses.contains(.sweeps) else { return [] }
    return figures ?? [.last("final\(name.capitalised)", "last known value: \(text)")]
  }

  private var condition: String? { presence.words.isEmpty ? nil : presence.words }
}

/// A number that summarises a column over a run.
public struct VersionSummary: Sendable {
  /// Which one.
  public enum Kind: Sendable {
    /// The last that is a number.
    case last
    /// The largest.
    case most
    /// The smallest.
    case least
    /// The first version that has the largest.
    case versionOfMost
    /// The sum.
    case sum
    /// The mean over the versions after the initial model.
    case mean
  }

  /// Its name in tables.
  public let name: String
  /// The metric in a few words, for lists and reports.
  public let text: String
  /// Which one.
  public let kind: Kind

  static func last(_ name: String, _ text: String) -> Self { .init(name, text, .last) }

  init(_ name: String, _ text: String, _ kind: Kind) {
    (self.name, self.text, self.kind) = (name, text, kind)
  }
}

/// The versions of a run, as columns look at them.
public struct VersionSeries: Sendable {
  /// Their records, from the initial model on.
  public let records: [VersionRecord]
  /// Which version the server used when; nil where nobody asks.
  public let inUse: ModelsInUse?

  /// The versions of a run that has reached `now` or a later time.
  public init(_ records: [VersionRecord], of inputs: SimulationInputs, at now: SimTime) {
    self.records = records
    guard let loadTime = inputs.loadTime, let last = records.last else {
      inUse = nil
      return
    }
    inUse = ModelsInUse(
      published: records.map(\.publishedAt), loadTime: loadTime,
      // Of a run that was interrupted, a journal may tell of later versions.
      end: max(now, last.publishedAt))
  }
}

// MARK: Declaring columns

extension VersionColumn {
  private init(
    _ name: String, _ text: String, _ kind: Kind,
    _ value: @escaping @Sendable (VersionRecord, VersionSeries) -> ColumnValue
  ) {
    (self.name, self.text, self.kind, self.value) = (name, text, kind, value)
  }

  package static func integer(
    _ name: String, _ text: String, _ value: @escaping @Sendable (VersionRecord) -> Int
  ) -> Self {
    .init(name, text, .integer) { record, _ in .integer(Int64(value(record))) }
  }

  package static func number(
    _ name: String, _ text: String, _ value: @escaping @Sendable (VersionRecord) -> Double?
  ) -> Self {
    .init(name, text, .number) { record, _ in .number(value(record) ?? .nan) }
  }

  static func ofSeries(
    _ name: String, _ text: String,
    _ value: @escaping @Sendable (VersionRecord, VersionSeries) -> Double?
  ) -> Self {
    .init(name, text, .number) { .number(value($0, $1) ?? .nan) }
  }

  package static func time(
    _ name: String, _ text: String, _ value: @escaping @Sendable (VersionRecord) -> SimTime
  ) -> Self {
    .init(name, text, .time) { record, _ in .time(value(record)) }.in("s")
  }

  package static func code(
    _ name: String, _ text: String, words: [String],
    _ value: @escaping @Sendable (VersionRecord) -> String
  ) -> Self {
    .init(name, text, .code(words)) { record, _ in
      .code(Int8(words.firstIndex(of: value(record))!))
    }
  }

  package func `in`(_ unit: String) -> Self { with { $0.unit = unit } }

  package func remark(_ text: String) -> Self { remark { _ in text } }

  package func remark(_ text: @escaping @Sendable (SimulationInputs) -> String?) -> Self {
    with { $0.comment = text }
  }

  package func when(_ presence: Presence) -> Self { with { $0.presence = presence } }

  package func only(_ uses: Uses) -> Self { with { $0.uses = uses } }

  package func claimed(_ sentence: String) -> Self { with { $0.sentence = sentence } }

  package func lacking(_ reason: @escaping @Sendable (VersionRecord) -> String) -> Self {
    with { $0.reason = reason }
  }

  func summed(_ summaries: VersionSummary...) -> Self { with { $0.figures = summaries } }

  private func with(_ change: (inout Self) -> Void) -> Self {
    var column = self
    change(&column)
    return column
  }
}

extension String {
  fileprivate var capitalised: String { prefix(1).uppercased() + dropFirst() }
}
