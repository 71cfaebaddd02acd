/// The types of a target over all its files, with their members.
struct TargetOutline: Sendable {
  struct File: Sendable {
    let path: String
    let outline: Outline
    let tokens: [Token]
    let lineCount: Int
  }

  let files: [File]

  init(_ sources: [Source], target: String) {
    files = sources.filter { $0.isSwift && $0.target == target }.map { source in
      File(
        path: source.path, outline: Outline(source), tokens: source.tokens,
        lineCount: source.lines.count)
    }
  }

  /// The members of each type and of its extensions; cases count, nested types do not.
  var members: [String: [Outline.Member]] {
    let counted = ["func", "init", "subscript", "var", "let", "case"]
    let all = files.flatMap(\.outline.members).filter { counted.contains($0.kind) }
    return Dictionary(grouping: all.filter { !$0.owner.isEmpty }, by: \.owner)
  }

  /// Where each type is declared; of two with one name the first.
  var places: [String: (path: String, type: Outline.TypeDeclaration)] {
    var places: [String: (path: String, type: Outline.TypeDeclaration)] = [:]
    for file in files {
      for type in file.outline.types where type.kind != "extension" && places[type.name] == nil {
        places[type.name] = (file.path, type)
      }
    }
    return places
  }

  /// The folder below the target's that a file is in; nil for one that is in none.
  static func folder(_ path: String) -> String? {
    let parts = path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : nil
  }
}

private func type(_ name: String, _ lines: [String], at path: String) -> Source {
  Source(path: path, text: "struct \(name) {\n" + lines.map { "  \($0)\n" }.joined() + "}\n")
}

private func numbered(_ count: Int, _ line: (Int) -> String) -> [String] { (1...count).map(line) }

extension Rule {
  static let members = figures(
    "A type of the engine has at most 80 members, over all its extensions",
    known: KnownExceptions.members,
    planted: [
      [type("Hall", numbered(81) { "func f\($0)() {}" }, at: "Sources/FedSim/Device/Hall.swift")],
      [
        type("Hall", numbered(50) { "var a\($0): Int { \($0) }" }, at: "Sources/FedSim/A/A.swift"),
        Source(
          path: "Sources/FedSim/B/Hall+More.swift",
          text: "extension Hall: Sendable {\n"
            + numbered(31) { "  static func g\($0)() { func h() {} }\n" }.joined() + "}\n"),
      ],
      [
        Source(
          path: "Sources/FedSim/A/A.swift",
          text: "enum Hall {\n  case "
            + numbered(81) { "c\($0)(Int)" }.joined(separator: ", ") + "\n}\n")
      ],
    ],
    allowed: [
      [
        type(
          "Hall", numbered(80) { "func f\($0)() { let a = 1 }" }, at: "Sources/FedSim/A/A.swift"),
        type("Room", numbered(80) { "let a\($0): Int" }, at: "Sources/Runs/Room.swift"),
        type("Room", numbered(9) { "let a\($0): Int" }, at: "Sources/FedSim/A/B.swift"),
      ]
    ]
  ) { sources in
    let outline = TargetOutline(sources, target: "FedSim")
    let places = outline.places
    return outline.members.sorted { $0.key < $1.key }.map { name, members in
      Figure(
        name: name, value: members.count, limit: 80,
        path: places[name]?.path ?? "Sources/FedSim", line: places[name]?.type.line ?? 1,
        message: "give what touches one part of its state a type of its own")
    }
  }

  static let storedProperties = figures(
    "A type of the engine has at most 20 stored properties",
    known: KnownExceptions.storedProperties,
    planted: [
      [type("Hall", numbered(21) { "let a\($0): Int" }, at: "Sources/FedSim/A/A.swift")],
      [
        type(
          "Hall",
          numbered(20) { "@Rebuilt private(set) var a\($0) = f { $0 }" } + [
            "var b: (Int) -> [Int: Int] {", "  didSet { f() }", "}",
          ], at: "Sources/FedSim/A/A.swift")
      ],
      [
        type(
          "Hall", numbered(7) { "var a\($0), b\($0), c\($0): Int" }, at: "Sources/FedSim/A.swift")
      ],
    ],
    allowed: [
      [
        type(
          "Hall",
          numbered(20) { "let a\($0): Int" } + ["static let b = 1", "var c: Int { 1 }"],
          at: "Sources/FedSim/A/A.swift")
      ]
    ]
  ) { sources in
    let outline = TargetOutline(sources, target: "FedSim")
    let places = outline.places
    return outline.members.sorted { $0.key < $1.key }.map { name, members in
      let isProtocol = places[name]?.type.kind == "protocol"
      return Figure(
        name: name, value: isProtocol ? 0 : members.count(where: \.isStored), limit: 20,
        path: places[name]?.path ?? "Sources/FedSim", line: places[name]?.type.line ?? 1,
        message: "put together what belongs together")
    }
  }

  private static let loopTypes: Set<String> = [
    "Simulation", "EventQueue", "EventMarks", "EventLists", "ShakenTies", "Agenda", "PlayingAhead",
  ]

  static let loopAndQueue = figures(
    "Loop and queue stay under 800 lines together, wherever they lie",
    known: KnownExceptions.loopAndQueue,
    planted: [
      [
        Source(
          path: "Sources/FedSim/Run/Simulation.swift",
          text: "public struct Simulation {\n" + String(repeating: "  // …\n", count: 398) + "}\n"),
        Source(
          path: "Sources/FedSim/Storage/Lists.swift",
          text: "extension EventQueue {\n" + String(repeating: "  // …\n", count: 398) + "}\n"),
      ],
      [
        Source(
          path: "Sources/FedSim/Run/Playing.swift",
          text: "extension Simulation {\n  mutating func playNext() -> Bool { true }\n}\n"
            + String(repeating: "\n", count: 797))
      ],
    ],
    allowed: [
      [
        Source(
          path: "Sources/FedSim/Run/Simulation+Scene.swift",
          text: "extension Simulation {\n" + String(repeating: "  // …\n", count: 398) + "}\n"),
        Source(
          path: "Sources/FedSim/Clock/EventQueue.swift",
          text: "struct EventQueue {\n" + String(repeating: "  // …\n", count: 797) + "}\n"),
      ]
    ]
  ) { sources in
    let files = TargetOutline(sources, target: "FedSim").files.filter { file in
      file.outline.types.contains {
        loopTypes.contains($0.name) && ($0.kind != "extension" || $0.name != "Simulation")
      }
        || file.outline.members.contains {
          $0.owner == "Simulation" && $0.kind == "func"
            && ["dispatch", "playNext"].contains($0.name)
        }
    }
    guard let first = files.first else { return [] }
    let message = files.map { "\($0.path): \($0.lineCount)" }.joined(separator: ", ")
    return [
      Figure(
        name: "lines", value: files.reduce(0) { $0 + $1.lineCount }, limit: 799, path: first.path,
        message: message)
    ]
  }
}
