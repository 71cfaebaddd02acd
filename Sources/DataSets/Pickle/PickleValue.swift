/// A value of a pickle, with the byte at which it was written.
struct PickleItem {
  var value: PickleValue
  var at: Int

  /// What it is, for faults.
  var found: String {
    switch value {
    case .none: "None"
    case .bool(let flag): flag ? "True" : "False"
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .text(let text): "the text `\(text.prefix(30))`"
    case .list(let list): "a list of \(list.items.count)"
    case .tuple(let list): "a tuple of \(list.items.count)"
    case .dictionary: "a dictionary"
    }
  }
}

/// The kinds of values that the reader knows: nothing that could do anything.
enum PickleValue {
  case none
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list(PickleList)
  case tuple(PickleList)
  case dictionary(PickleDictionary)
}

/// What holds other values. It is complete before it is in another, as Python writes it: so no
/// value holds itself, and depths are known.
class PickleContainer {
  /// How deep it is; 1: it holds no container.
  final var depth = 1
  /// Whether it is in another.
  final var isComplete = false
}

/// A list or a tuple.
final class PickleList: PickleContainer {
  var items: [PickleItem] = []
}

/// A dictionary, in the order in which it was written.
final class PickleDictionary: PickleContainer {
  var entries: [(key: PickleItem, value: PickleItem)] = []
}

extension PickleValue {
  /// The container that it is; nil: it is none.
  var container: PickleContainer? {
    switch self {
    case .list(let list), .tuple(let list): list
    case .dictionary(let dictionary): dictionary
    default: nil
    }
  }
}
