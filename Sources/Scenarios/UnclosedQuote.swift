import Yams

/// Looks for the quote that was not closed, in a text that cannot be read.
///
/// YAML lets a text in quotes span lines, so a forgotten quote ends at the next one of its kind, on
/// a later line, and the parser stumbles there. The guess is tested: where the text can be read
/// further once the quote is closed on its own line, that quote is to blame. A text that can be
/// read is never looked at.
struct UnclosedQuote {
  /// The most scalars of a text that is looked at.
  private static let mostScalars = 1 << 18
  /// How often a text is read again.
  private static let mostTrials = 24

  private let source: SourceText
  private var trials = 0

  /// The opening quote to blame for a failure at a position; nil: none is.
  static func position(
    in source: SourceText, failingAt failure: SourceText.Position
  ) -> SourceText.Position? {
    guard source.scalars.count <= mostScalars, !source.mayUseAliasesInKeys else { return nil }
    var search = UnclosedQuote(source: source)
    for line in source.lines(to: failure.line) {
      guard let quote = search.openQuote(in: line) else { continue }
      for end in search.ends(of: quote, in: line) where search.trials < mostTrials {
        if search.reads(past: failure, closing: quote, before: end) {
          return source.position(of: quote)
        }
      }
    }
    return nil
  }

  private init(source: SourceText) { self.source = source }

  /// The quote that begins a value in a line and has no end in it.
  private func openQuote(in line: Range<Int>) -> Int? {
    let scalars = source.scalars
    var mayBegin = true
    var i = line.lowerBound
    while i < line.upperBound {
      let scalar = scalars[i]
      let isAfterSpace = i == line.lowerBound || scalars[i - 1] == " "
      let isBeforeSpace = i + 1 == line.upperBound || scalars[i + 1] == " "
      switch scalar {
      case " ": break
      case "#" where isAfterSpace: return nil
      case "\"" where mayBegin, "'" where mayBegin:
        guard let end = close(of: i, in: line) else { return i }
        (i, mayBegin) = (end, false)
      case "[", "{", ",": mayBegin = true
      case ":", "?", "-": mayBegin = isBeforeSpace
      case "&" where mayBegin, "!" where mayBegin:
        while i + 1 < line.upperBound, scalars[i + 1] != " " { i += 1 }
      default: mayBegin = false
      }
      i += 1
    }
    return nil
  }

  /// Where a text in quotes ends in its line.
  private func close(of quote: Int, in line: Range<Int>) -> Int? {
    let scalars = source.scalars
    let mark = scalars[quote]
    var i = quote + 1
    while i < line.upperBound {
      if mark == "\"", scalars[i] == "\\" {
        i += 1
      } else if scalars[i] == mark {
        guard mark == "'", i + 1 < line.upperBound, scalars[i + 1] == mark else { return i }
        i += 1
      }
      i += 1
    }
    return nil
  }

  /// Where the forgotten end may belong: behind the line, or before a mark of a list or mapping, or
  /// behind a key.
  private func ends(of quote: Int, in line: Range<Int>) -> [Int] {
    let marks = (quote + 1..<line.upperBound).filter {
      [",", "]", "}", ":"].contains(source.scalars[$0])
    }
    return [line.upperBound] + marks.prefix(4)
  }

  /// Whether the text, with one more quote, can be read beyond a position.
  private mutating func reads(
    past failure: SourceText.Position, closing quote: Int, before end: Int
  ) -> Bool {
    trials += 1
    var view = String.UnicodeScalarView()
    view.append(contentsOf: source.scalars[..<end])
    view.append(source.scalars[quote])
    view.append(contentsOf: source.scalars[end...])
    do {
      _ = try Parser(yaml: String(view), resolver: .basic, encoding: .utf8).singleRoot()
      return true
    } catch YamlError.scanner(_, _, let mark, _), YamlError.parser(_, _, let mark, _),
      YamlError.composer(_, _, let mark, _)
    {
      return (mark.line, mark.column) > (failure.line, failure.column)
    } catch YamlError.duplicatedKeysInMapping {
      return true
    } catch {
      return false
    }
  }
}
