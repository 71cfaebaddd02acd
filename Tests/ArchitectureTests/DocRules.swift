/// Which members of a tree follow from a protocol, and say there what they are.
struct Witnesses {
  /// The requirements of each protocol, by its last name.
  private var requirements: [String: Set<String>] = Self.known
  /// What each protocol and type conforms to, by its last name.
  private var parents: [String: Set<String>] = [:]

  /// Requirements of the language's own protocols and of packages.
  private static let known: [String: Set<String>] = {
    let equal: Set<String> = ["==(_:_:)"]
    let coded: Set<String> = ["encode(to:)", "init(from:)", "CodingKeys"]
    let sequence: Set<String> = ["makeIterator()", "Element", "Iterator", "underestimatedCount"]
    let collection = sequence.union([
      "startIndex", "endIndex", "subscript", "index(after:)", "index(before:)", "indices", "count",
      "isEmpty", "Index", "Indices", "replaceSubrange(_:with:)",
    ])
    let number = equal.union([
      "zero", "+(_:_:)", "-(_:_:)", "+=(_:_:)", "-=(_:_:)", "*(_:_:)", "*=(_:_:)", "<(_:_:)",
      "magnitude", "init(exactly:)", "negate()", "advanced(by:)", "distance(to:)",
    ])
    let raw: Set<String> = ["rawValue", "init(rawValue:)", "RawValue"]
    let command: Set<String> = ["configuration", "run()", "validate()"]
    return [
      "Equatable": equal, "Hashable": equal.union(["hash(into:)"]),
      "Comparable": equal.union(["<(_:_:)", ">(_:_:)", "<=(_:_:)", ">=(_:_:)"]),
      "Codable": coded, "Encodable": coded, "Decodable": coded, "CodingKey": raw,
      "CustomStringConvertible": ["description"],
      "LosslessStringConvertible": ["description", "init(_:)"],
      "CustomDebugStringConvertible": ["debugDescription"], "RawRepresentable": raw,
      "OptionSet": raw, "LocalizedError": ["errorDescription"], "CaseIterable": ["allCases"],
      "Identifiable": ["id"], "Sequence": sequence, "IteratorProtocol": ["next()", "Element"],
      "Collection": collection, "BidirectionalCollection": collection,
      "RandomAccessCollection": collection, "MutableCollection": collection,
      "RangeReplaceableCollection": collection.union(["init()"]),
      "AdditiveArithmetic": number, "Numeric": number, "SignedNumeric": number,
      "Strideable": number, "RandomNumberGenerator": ["next()"], "ParsableCommand": command,
      "ParsableArguments": command, "TextOutputStream": ["write(_:)"],
      "ExpressibleByArrayLiteral": ["init(arrayLiteral:)"],
      "ExpressibleByStringLiteral": ["init(stringLiteral:)"],
      "ExpressibleByIntegerLiteral": ["init(integerLiteral:)"],
      "ExpressibleByFloatLiteral": ["init(floatLiteral:)"],
      "ExpressibleByDictionaryLiteral": ["init(dictionaryLiteral:)"],
      "ExpressibleByNilLiteral": ["init(nilLiteral:)"],
      "ExpressibleByBooleanLiteral": ["init(booleanLiteral:)"],
    ]
  }()

  init(_ outlines: [Outline]) {
    for outline in outlines {
      for type in outline.types {
        let inherited = type.inherits.map(Self.last)
        parents[Self.last(type.name), default: []].formUnion(inherited)
      }
      for member in outline.members where member.ownerKind == "protocol" {
        requirements[Self.last(member.owner), default: []].insert(member.fullName)
      }
    }
  }

  private static func last(_ name: String) -> String {
    name.split(separator: ".").last.map(String.init) ?? name
  }

  /// Whether a member of a type has the name of a requirement of what the type conforms to, or
  /// is in an extension of a protocol that has it.
  func covers(_ member: Outline.Member) -> Bool {
    guard !member.owner.isEmpty, member.ownerKind != "protocol" else { return false }
    return requires(Self.last(member.owner), member.fullName)
  }

  /// Whether a nested type is an associated type of what the type around it conforms to.
  func covers(_ type: Outline.TypeDeclaration) -> Bool {
    let names = type.name.split(separator: ".").map(String.init)
    guard let name = names.last, let outer = names.dropLast().last else { return false }
    return requires(outer, name)
  }

  private func requires(_ type: String, _ requirement: String) -> Bool {
    var (seen, work) = (Set<String>(), [type])
    while let name = work.popLast() {
      guard seen.insert(name).inserted else { continue }
      if requirements[name]?.contains(requirement) == true { return true }
      work += parents[name] ?? []
    }
    return false
  }
}

private func library(_ text: String) -> Source {
  Source(path: "Sources/FedSim/Device/Hall.swift", text: text)
}

extension Rule {
  /// swift-format's rule of the same purpose knows neither witnesses nor settings, and was answered
  /// by sentences that say nothing.
  static let documented = Rule(
    "A public declaration has a doc comment, unless a protocol or a Field says what it is",
    planted: [
      [library("public struct Hall {}\n")],
      [library("/// A hall.\npublic struct Hall {\n\n  public let doors: Int\n}\n")],
      [library("/// A hall.\npublic struct Hall {\n  @inlinable public func open() {}\n}\n")],
      [library("/// A hall.\npublic struct Hall: Sendable {\n  public init() {}\n}\n")],
      [
        library(
          "/// Halls.\npublic enum Hall {}\nextension Hall {\n  public static var a: Int { 1 }\n}\n"
        )
      ],
      [
        library(
          """
          /// A hall.
          public struct Hall {
            public private(set) var doors = 1
            /// What can be set.
            public static var fields: [Field<Hall>] {
              [Field("windows", \\.windows, .count, "How many")]
            }
          }

          """)
      ],
      [library("public func enter() {}\n")],
      [library("/// A hall.\npublic struct Hall: Openable {\n  public struct Settings {}\n}\n")],
      [library("/// A hall.\npublic struct Hall: Codable {\n  public init(_ doors: Int) {}\n}\n")],
      [
        library(
          "/// A hall.\npublic protocol Hall {}\nextension Hall {\n  public func open() {}\n}\n")
      ],
    ],
    allowed: [
      [
        library(
          """
          /// What can be opened.
          public protocol Openable: Named {
            /// What can be set.
            associatedtype Settings
            /// Opens it.
            func open()
          }
          /// What has a name.
          public protocol Named {
            /// The name.
            static var name: String { get }
          }
          extension Openable {
            public func open() {}
          }
          /// A hall.
          @frozen
          public struct Hall: Openable, Hashable, Codable {
            public static let name = "hall"
            public struct Settings {}
            public func open() {}
            public init(from decoder: any Decoder) throws {}
            public static func == (a: Hall, b: Hall) -> Bool { true }
            let doors = 1
            /// How wide it is.
            public let width: Int
            public internal(set) var windows = 1
            package var lamps = 2
            static var fields: [Field<Hall>] {
              [Field("windows", \\.windows, .count, "How many")]
            }
          }
          extension Hall {
            public func hash(into hasher: inout Hasher) {
              public let nothing = 1
            }
          }

          """),
        Source(path: "Tests/FedSimTests/A.swift", text: "public struct A {}\n"),
      ]
    ]
  ) { sources in
    let files = sources.filter { $0.isSwift && $0.target != nil }.map {
      (path: $0.path, outline: Outline($0))
    }
    let witnesses = Witnesses(files.map(\.outline))
    var settings: [String: Set<String>] = [:]
    for field in files.flatMap(\.outline.fields) {
      settings[field.owner, default: []].insert(field.name)
    }
    return files.flatMap { file in
      let types = file.outline.types.filter {
        $0.kind != "extension" && $0.isPublic && !$0.isDocumented && !witnesses.covers($0)
      }.map { (line: $0.line, name: $0.name) }
      let members = file.outline.members.filter {
        $0.isPublic && !$0.isDocumented && !$0.modifiers.contains("override")
          && settings[$0.owner]?.contains($0.name) != true && !witnesses.covers($0)
      }.map { (line: $0.line, name: $0.name) }
      return (types + members).map {
        let message = "\($0.name) needs a doc comment: one sentence that its name does not say."
        return Violation(path: file.path, line: $0.line, message: message)
      }
    }
  }

  static let repeatedDocLines = figures(
    "Doc comments do not say the same again and again: under 100 lines that stand five times",
    known: [:],
    planted: [
      (0..<20).map { file in
        Source(
          path: "Sources/FedSim/A\(file).swift",
          text: String(repeating: "  /// The defaults.\n  init() {}\n", count: 5))
      }
    ],
    allowed: [
      [
        Source(
          path: "Sources/FedSim/A.swift",
          text: (0..<100).map { "/// It does \($0 % 25).\n///\nlet a = 1 /// It.\n" }.joined())
      ]
    ]
  ) { sources in
    var counts: [Substring: Int] = [:]
    for source in sources where source.isSwift && source.path.hasPrefix("Sources/") {
      for line in source.lines {
        let line = line.drop { $0 == " " }
        guard line.hasPrefix("///") else { continue }
        let words = line.dropFirst(3).drop { $0 == " " }
        if !words.isEmpty { counts[words, default: 0] += 1 }
      }
    }
    let repeated = counts.filter { $0.value >= 5 }
    let most = repeated.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(5)
    return [
      Figure(
        name: "lines", value: repeated.reduce(0) { $0 + $1.value }, limit: 99, path: "Sources",
        message: "leave out what a witness or a Field says: "
          + most.map { "\($0.value) times \($0.key)" }.joined(separator: ", "))
    ]
  }
}
