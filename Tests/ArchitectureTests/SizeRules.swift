private func lines(_ count: Int, at path: String) -> Source {
  Source(path: path, text: String(repeating: "let a = 1\n", count: count))
}

private func function(_ count: Int, at path: String) -> Source {
  let body = String(repeating: "  a()\n", count: count - 2)
  return Source(path: path, text: "func f() {\n\(body)}\n")
}

extension Rule {
  static let fileSize = Rule.perFile(
    "A file has at most 400 lines",
    planted: [
      lines(401, at: "Sources/FedSim/A.swift"), lines(401, at: "Tests/RunsTests/A.swift"),
      lines(401, at: "Sources/CKernels/a.c"),
    ],
    allowed: [lines(400, at: "Sources/FedSim/A.swift")]
  ) { source in
    guard source.isSwift || source.isC, source.lines.count > 400 else { return [] }
    let message = "\(source.lines.count) lines; split it as Type+Aspect.swift, at most 400."
    return [Violation(path: source.path, line: 401, message: message)]
  }

  static let lineWidth = Rule.perFile(
    "A line has at most 100 columns",
    planted: [Source(path: "Sources/A/A.swift", text: String(repeating: "x", count: 101) + "\n")],
    allowed: [Source(path: "Sources/A/A.swift", text: String(repeating: "é", count: 100) + "\n")]
  ) { source in
    guard source.isSwift || source.isC else { return [] }
    return source.lines.enumerated().filter { $0.element.count > 100 }.map {
      Violation(
        path: source.path, line: $0.offset + 1, message: "\($0.element.count) columns, at most 100."
      )
    }
  }

  static let functionSize = Rule.perFile(
    "A function has at most 70 lines",
    planted: [
      function(71, at: "Sources/FedSim/A.swift"),
      Source(
        path: "Sources/FedSim/A.swift",
        text: "struct A {\n  init(a: (Int) -> Int = { $0 }) {\n"
          + String(repeating: "    b()\n", count: 69) + "  }\n}\n"),
    ],
    allowed: [
      function(70, at: "Sources/FedSim/A.swift"),
      Source(
        path: "Sources/FedSim/A.swift",
        text: "protocol P {\n  func f()\n" + String(repeating: "  var a: Int { get }\n", count: 80)
          + "}\n"),
    ]
  ) { source in
    guard source.isSwift, source.target != nil else { return [] }
    let tokens = source.tokens
    return tokens.indices.compactMap { index -> Violation? in
      guard ["func", "init"].contains(tokens[index].text), index + 1 < tokens.count,
        index == 0 || tokens[index - 1].text != ".", let end = bodyEnd(tokens, from: index)
      else { return nil }
      let count = tokens[end].line - tokens[index].line + 1
      guard count > 70 else { return nil }
      return Violation(
        path: source.path, line: tokens[index].line, message: "\(count) lines, at most 70.")
    }
  }

  /// The token that closes a function's body; nil where a declaration has none.
  private static func bodyEnd(_ tokens: [Token], from start: Int) -> Int? {
    var parentheses = 0
    var braces = 0
    for index in (start + 1)..<tokens.count {
      switch tokens[index].text {
      case "(", "[": parentheses += 1
      case ")", "]": parentheses -= 1
      case "{" where parentheses == 0: braces += 1
      case "}" where parentheses == 0:
        braces -= 1
        if braces <= 0 { return braces == 0 ? index : nil }
      case "func", "init", "var", "let", "case":
        // The next declaration comes before any body: a protocol's requirement.
        if braces == 0, parentheses == 0 { return nil }
      default: break
      }
    }
    return nil
  }
}
