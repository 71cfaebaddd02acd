import Schema

/// Trains on wrong labels, and sends what it has learned.
///
/// Source: Fang et al., "Local model poisoning attacks to Byzantine-robust federated learning"
/// (2020), §5.1: of C classes y becomes C − 1 − y. With `from` and `to` one class is taken for
/// another: Tolpegin et al., "Data poisoning attacks against federated learning systems" (2020).
public struct LabelFlip: Attack {
  public static let name = "label-flip"
  /// What it does, in one sentence.
  public static let summary = "Trains on wrong labels: of C classes, y becomes C - 1 - y"

  public struct Settings: PartSettings {
    /// The class that is taken for another; nil: all are.
    public var from: Int?
    /// What it is taken for.
    public var to: Int?
    public init() {}
    public static var fields: [Field<Settings>] {
      [
        Field(
          "from", \.from, optional: .integer(0...1_000_000),
          "The class to relabel; absent: all classes are swapped"),
        Field("to", \.to, optional: .integer(0...1_000_000), "The class used instead"),
      ]
    }
    public func contradictions() -> [(key: String, message: String)] {
      (from == nil) == (to == nil) ? [] : [("to", "`from` and `to` need each other")]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// The greatest class that it names; nil: none.
  public var greatestClass: Int? {
    settings.from.flatMap { from in settings.to.map { max(from, $0) } }
  }

  /// What is sent is what was learned.
  public var falsifies: Bool { false }

  /// The labels turned round, or one in place of another.
  public func relabelling(classCount: Int) -> [Int32]? {
    (0..<Int32(classCount)).map { label in
      guard let from = settings.from, let to = settings.to else {
        return Int32(classCount) - 1 - label
      }
      return Int(label) == from ? Int32(to) : label
    }
  }
}
