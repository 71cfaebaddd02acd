/// Something wrong in what a user wrote: where, at which path, what was found and what was
/// expected.
public struct Fault: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Problem: Hashable, Sendable {
    /// A key that no setting has.
    case unknownKey(String, nearest: String?, known: [String])
    /// A key that must be there is not.
    case missingKey(String, expected: String)
    /// A key is repeated.
    case duplicateKey(String)
    /// A value of another kind than the setting's, or out of its range.
    case unexpected(found: String, expected: String)
    /// A name that no part of a seam has.
    case unknownName(String, seam: String, nearest: String?, known: [String])
    /// Values that are right alone and wrong together, or a reference to nothing.
    case contradiction(String)
    /// The text is no well-formed tree.
    case syntax(String)
    /// A file that cannot be used.
    case file(String)
  }

  /// Where.
  public var place: Place
  /// The path of the key, such as `server.trigger.threshold`; empty at the root.
  public var path: String
  /// What is wrong.
  public var problem: Problem

  /// A fault.
  public init(at place: Place, path: String = "", _ problem: Problem) {
    self.place = place
    self.path = path
    self.problem = problem
  }
}

extension Fault: CustomStringConvertible {
  /// `file:line:column: path: message`, on one line; an argument has a column only.
  public var description: String {
    var text = place.file.isEmpty ? "" : place.file + ":"
    if place.line > 0 {
      text += "\(place.line):\(place.column):"
    } else if place.column > 0 {
      text += " column \(place.column):"
    }
    if !text.isEmpty { text += " " }
    if !path.isEmpty { text += path + ": " }
    return text + message
  }

  /// The message without the place.
  public var message: String {
    switch problem {
    case .unknownKey(let key, let nearest, let known):
      return "unknown key `\(key)`" + suggestion(key, nearest, known: known, noun: "keys")
    case .missingKey(let key, let expected):
      return "missing key `\(key)`: expected \(expected)"
    case .duplicateKey(let key):
      return "the key `\(key)` appears twice"
    case .unexpected(let found, let expected):
      return "found \(found), expected \(expected)"
    case .unknownName(let name, let seam, let nearest, let known):
      return "there is no \(seam) `\(name)`"
        + suggestion(name, nearest, known: known, noun: "names")
    case .contradiction(let text), .syntax(let text), .file(let text):
      return text
    }
  }

  private func suggestion(
    _ word: String, _ nearest: String?, known: [String], noun: String
  ) -> String {
    // A word of the field says more than the letters that it shares with another one.
    if let advice = KeyAdvice.advice(for: word), nearest.map({ !Spelling.isSame($0, word) }) ?? true
    {
      return "; " + advice
    }
    if let nearest { return "; did you mean `\(nearest)`?" }
    return known.isEmpty
      ? "; there are no \(noun) here" : "; known \(noun): " + known.joined(separator: ", ")
  }
}

/// Several faults reported together, in the order in which they are in the text.
public struct Faults: Error, Sendable, CustomStringConvertible {
  /// The faults, at least one.
  public var faults: [Fault]

  /// Faults in the order of their places.
  public init(_ faults: [Fault]) {
    self.faults = faults.enumerated().sorted { a, b in
      (a.element.place.file, a.element.place.line, a.element.place.column, a.offset)
        < (b.element.place.file, b.element.place.line, b.element.place.column, b.offset)
    }.map(\.element)
  }

  /// One line a fault.
  public var description: String { faults.map(\.description).joined(separator: "\n") }
}
