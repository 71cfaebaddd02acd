/// Finds walks over dictionaries and sets, whose order differs in every process.
///
/// A heuristic on tokens: a name counts as unordered when the file declares it so, or another file
/// of its target does and the file itself declares it as nothing else.
struct UnorderedNames {
  let names: Set<String>

  init(in source: Source, declaredInTarget: Set<String>) {
    let (unordered, other) = Self.declarations(in: source)
    names = unordered.union(declaredInTarget.subtracting(other))
  }

  /// The names a file declares as dictionaries or sets, and those it declares as anything else.
  static func declarations(in source: Source) -> (unordered: Set<String>, other: Set<String>) {
    let tokens = source.tokens
    var unordered: Set<String> = []
    var other: Set<String> = []
    for index in tokens.indices where tokens[index].isName && index + 2 < tokens.count {
      let name = tokens[index].text
      let before = index > 0 ? tokens[index - 1].text : ""
      let isBinding = before == "let" || before == "var"
      switch tokens[index + 1].text {
      case ":" where before != "?":
        if isUnordered(tokens, from: index + 2) {
          unordered.insert(name)
        } else if isBinding || before == "(" || before == "," {
          other.insert(name)
        }
      case "=" where isBinding:
        if isUnordered(tokens, from: index + 2) {
          unordered.insert(name)
        } else {
          other.insert(name)
        }
      case "(" where before == "func":
        guard let arrow = arrow(tokens, from: index + 1) else { break }
        if isUnordered(tokens, from: arrow) { unordered.insert(name) }
      default: break
      }
    }
    return (unordered, other)
  }

  /// Whether a type or a literal that begins here is a dictionary or a set.
  private static func isUnordered(_ tokens: [Token], from start: Int) -> Bool {
    guard start < tokens.count else { return false }
    if tokens[start].text == "Set" || tokens[start].text == "Dictionary" { return true }
    guard tokens[start].text == "[" else { return false }
    var depth = 0
    for index in start..<tokens.count {
      switch tokens[index].text {
      case "[", "(", "{", "<": depth += 1
      case "]", ")", "}": depth -= 1
      case ">" where tokens[index - 1].text != "-": depth -= 1
      case "?" where depth == 1: return false  // `[condition ? a : b]`
      case ":" where depth == 1: return true
      default: break
      }
      if depth == 0 { return false }
    }
    return false
  }

  /// Where the result type begins, after the parameters that open at `start`.
  private static func arrow(_ tokens: [Token], from start: Int) -> Int? {
    var depth = 0
    for index in start..<tokens.count {
      if tokens[index].text == "(" { depth += 1 }
      if tokens[index].text == ")" { depth -= 1 }
      guard depth == 0 else { continue }
      return tokens[index...].prefix(12).firstIndex { $0.text == "{" }.flatMap { brace in
        (index..<brace).first { tokens[$0].text == "-" && tokens[$0 + 1].text == ">" }
      }.map { $0 + 2 }
    }
    return nil
  }

  private static let walks = [
    "map", "flatMap", "compactMap", "forEach", "reduce", "enumerated", "lazy", "reversed", "first",
    "prefix", "dropFirst", "makeIterator", "randomElement", "popFirst", "values", "keys",
  ]

  func violations(in source: Source) -> [Violation] {
    let tokens = source.tokens
    var found: [Int] = []
    for index in tokens.indices {
      let text = tokens[index].text
      if text == "for" { found += loop(tokens, from: index) }
      if names.contains(text) { found += walk(tokens, at: index) }
      if text == "keys", index > 0, tokens[index - 1].text == ".", !isSorted(tokens, after: index) {
        found.append(index)
      }
    }
    return Set(found.map { tokens[$0].line }).sorted().map {
      Violation(
        path: source.path, line: $0,
        message: "walks over a Dictionary or Set: sort it first, or keep an Array beside it.")
    }
  }

  private func isSorted(_ tokens: [Token], after index: Int) -> Bool {
    index + 2 < tokens.count && tokens[index + 1].text == "."
      && ["sorted", "min", "max", "count", "isEmpty", "contains"].contains(tokens[index + 2].text)
  }

  /// `name.map`, `name.values`, `Array(name)`.
  private func walk(_ tokens: [Token], at index: Int) -> [Int] {
    let next = index + 1 < tokens.count ? tokens[index + 1].text : ""
    if next == ".", index + 2 < tokens.count, Self.walks.contains(tokens[index + 2].text) {
      return isSorted(tokens, after: index + 2) ? [] : [index]
    }
    let isConverted =
      index > 1 && tokens[index - 1].text == "(" && tokens[index - 2].text == "Array"
    return next == ")" && isConverted ? [index] : []
  }

  /// `for … in name {`, `for … in self.name where`, `for … in Set(…)`.
  private func loop(_ tokens: [Token], from start: Int) -> [Int] {
    guard
      let word = (start..<min(start + 40, tokens.count)).first(where: { tokens[$0].text == "in" }),
      let end = (word..<min(word + 80, tokens.count)).first(where: { tokens[$0].text == "{" })
    else { return [] }
    let sequence = (word + 1)..<end
    let isMade =
      !sequence.isEmpty && ["Set", "Dictionary"].contains(tokens[word + 1].text)
      && !sequence.contains { tokens[$0].text == "sorted" }
    return (isMade ? [word + 1] : [])
      + sequence.filter {
        names.contains(tokens[$0].text) && ["{", "where", ",", ")"].contains(tokens[$0 + 1].text)
          && !isInCondition(tokens, from: word, to: $0)
      }
  }

  private func isInCondition(_ tokens: [Token], from start: Int, to end: Int) -> Bool {
    tokens[start..<end].contains { $0.text == "where" }
  }
}

extension Rule {
  private static func numerics(_ text: String) -> Source {
    Source(path: "Sources/Numerics/A.swift", text: text)
  }

  static let noUnorderedIteration = Rule(
    "No walk over a Dictionary or Set on a path to a result",
    planted: [
      [numerics("let a: [Int: Double] = b\nfor (k, v) in a { f(k) }\n")],
      [numerics("var seen = Set<Int>()\nfor x in seen where x > 1 { f(x) }\n")],
      [numerics("let a = [\"x\": 1]\nfor (k, v) in self.a { f(k) }\n")],
      [numerics("func f(_ a: Set<Int>) { a.forEach { g($0) } }\n")],
      [numerics("func f(_ a: [Key: [Int]]) -> Int { a.values.reduce(0, +) }\n")],
      [numerics("let a: Dictionary<Int, Int>\nlet b = Array(a)\n")],
      [numerics("func table() -> [Int: Int] { c }\nlet a = table\nlet b = x.keys.first\n")],
      [numerics("for x in Set(list) { f(x) }\n")],
      [numerics("let a = [Int: Int]()\nfor (i, x) in zip(list, a) { f(x) }\n")],
      [
        Source(path: "Sources/FedSim/A.swift", text: "struct A { var open: [Int: Round] }\n"),
        Source(path: "Sources/FedSim/A+B.swift", text: "for (k, v) in open { f(k) }\n"),
      ],
    ],
    allowed: [
      [numerics("let a: [Int: Double] = b\nfor k in a.keys.sorted() { f(k, a[k]) }\n")],
      [numerics("let a: [Int] = b\nfor x in a { f(x) }\nlet c = a.map { $0 }\n")],
      [numerics("let a: [Int: Int]\nfor x in a[3] ?? 0..<a.count { f(x) }\n")],
      [numerics("let a: Set<Int>\nfor x in list where a.contains(x) { f(x) }\n")],
      [numerics("let a: Set<Int>\nfor x in a.sorted() { f(x) }\n")],
      [numerics("let a = [isOn ? 1 : 2]\nfor x in a { f(x) }\n")],
      [Source(path: "Sources/Analysis/A.swift", text: "let a: Set<Int>\nfor x in a {}\n")],
      [
        Source(path: "Sources/FedSim/A.swift", text: "struct A { var open: [Int: Round] }\n"),
        Source(path: "Sources/FedSim/B.swift", text: "let open: [Round] = c\nfor r in open {}\n"),
      ],
    ]
  ) { sources in
    ["Numerics", "Learning", "FedSim"].flatMap { target -> [Violation] in
      let files = sources.filter { $0.target == target && $0.isSwift }
      let declared = files.reduce(into: Set<String>()) {
        $0.formUnion(UnorderedNames.declarations(in: $1).unordered)
      }
      return files.flatMap {
        UnorderedNames(in: $0, declaredInTarget: declared).violations(in: $0)
      }
    }
  }
}
