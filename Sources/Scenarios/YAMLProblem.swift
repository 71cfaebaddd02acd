import Yams

/// What the YAML parser did not like, in words that help, at the place that helps.
struct YAMLProblem {
  /// Where.
  var position: SourceText.Position
  /// What.
  var message: String

  init(_ error: YamlError, in source: SourceText) {
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      position = SourceText.Position(mark)
      message = problem
      if let quote = UnclosedQuote.position(in: source, failingAt: position) {
        position = quote
        message = Self.unclosed
        return
      }
      explain(problem, context, in: source)
    case .reader(let problem, _, _, _):
      position = SourceText.Position(line: 1, column: 1)
      message = problem
    default:
      position = SourceText.Position(line: 1, column: 1)
      message = "\(error)"
    }
  }

  private static let unclosed = "this quote is never closed"

  private mutating func explain(
    _ problem: String, _ context: YamlError.Context?, in source: SourceText
  ) {
    let start = context.map { SourceText.Position($0.mark) }
    let found = source.scalar(at: position)
    if let found, found == "\t" {
      message = "a tab is not allowed here: indent with spaces"
      return
    }
    switch problem {
    case "found unexpected end of stream":
      position = start ?? position
      message = Self.unclosed
    case "mapping values are not allowed in this context":
      message =
        "this `:` begins a value where no value is allowed: fix the indentation, or quote the text"
    case "could not find expected ':'":
      position = start ?? position
      message = "expected `:` after this key"
    case "did not find expected key", "did not find expected '-' indicator",
      "block sequence entries are not allowed in this context":
      message =
        found == ":"
        ? "a key is missing before this `:`" : "the indentation matches no line above"
    case "did not find expected ',' or ']'":
      message = "expected `,` or `]`" + opened("[", start, in: source)
    case "did not find expected ',' or '}'":
      message = "expected `,` or `}`" + opened("{", start, in: source)
    case "did not find expected node content":
      message = "expected a value here"
    case "found unexpected ':'":
      message = "a blank or a value belongs behind this `:`, such as `{name: {}}`"
    case "found character that cannot start any token":
      message = "a value cannot begin with `\(found.map(String.init) ?? "")`: quote the text"
    case "found undefined alias":
      message = "`\(source.line(from: position).prefix { $0 != " " && $0 != "," })` has no anchor"
    case "but found another document", "did not find expected <document start>":
      message = "a second document begins here: a file must have one"
    case let text where text.hasPrefix("Maximum nesting level"):
      message = "lists and mappings are nested more than \(YAMLReader.mostLevels) deep"
    default:
      let circumstance = context.map { " \($0.text)" } ?? ""
      message = problem + circumstance
    }
  }

  private func opened(
    _ bracket: String, _ start: SourceText.Position?, in source: SourceText
  ) -> String {
    guard let start, source.lineCount > 1 else { return " for the open `\(bracket)`" }
    return " for the `\(bracket)` opened at \(start.line):\(start.column)"
  }
}

extension SourceText.Position {
  init(_ mark: Mark) { self.init(line: mark.line, column: mark.column) }
}
