private let unfinished = ["TODO", "FIXME", "XXX", "HACK"]
private let pretended = ["stub", "stubs", "stubbed", "unimplemented"]

extension Rule {
  static let noUnfinishedWork = Rule.perFile(
    "No word stands for work that is still to be done",
    planted: (unfinished + pretended).flatMap { word in
      [
        Source(path: "Sources/FedSim/A.swift", text: "// \(word): later\n"),
        Source(path: "Tests/FedSimTests/A.swift", text: "let a = \"\(word)\"\n"),
        Source(path: "Scripts/run", text: "# \(word)\n"),
      ]
    } + [Source(path: "Sources/FedSim/A.swift", text: "fatalError(\"Not implemented\")\n")],
    allowed: [Source(path: "Sources/FedSim/A.swift", text: "// A stubborn toDo list.\n")]
  ) { source in
    if source.path.hasPrefix("Tests/ArchitectureTests/") { return [] }
    let words = Token.all(in: source.text).filter {
      unfinished.contains($0.text) || pretended.contains($0.text.lowercased())
    }
    return words.map {
      Violation(
        path: source.path, line: $0.line, message: "`\($0.text)`: finish it or open an issue.")
    }
      + violations(in: source, text: source.text.lowercased(), words: ["not implemented"]) {
        "`\($0)`: finish it or open an issue."
      }
  }

  static let noContraction = Rule.perFile(
    "Every C file turns contraction off",
    planted: [
      Source(path: "Sources/CKernels/a.c", text: "int f(void) { return 1; }\n"),
      Source(path: "Sources/CKernels/a.c", text: "// #pragma STDC FP_CONTRACT OFF\n"),
    ],
    allowed: [
      Source(path: "Sources/CKernels/a.c", text: "// Why.\n#pragma STDC FP_CONTRACT OFF\n"),
      Source(path: "Sources/CKernels/include/a.h", text: "int f(void);\n"),
    ]
  ) { source in
    let pragma = "#pragma STDC FP_CONTRACT OFF"
    guard source.path.hasSuffix(".c"), !source.code.contains(pragma) else { return [] }
    return [Violation(path: source.path, line: 1, message: "needs `\(pragma)`.")]
  }

  private static let emptyNouns = [
    "Manager", "Helper", "Helpers", "Util", "Utils", "Utility", "Handler", "Info",
  ]

  static let noEmptyNouns = Rule.perFile(
    "A type's name says what it is",
    planted: emptyNouns.map {
      Source(path: "Sources/FedSim/A.swift", text: "public struct Event\($0) {}\n")
    },
    allowed: [Source(path: "Sources/FedSim/A.swift", text: "struct Information {}\n// Manager\n")]
  ) { source in
    let kinds = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    return zip(source.tokens, source.tokens.dropFirst()).compactMap { keyword, name in
      guard kinds.contains(keyword.text), emptyNouns.contains(where: { name.text.hasSuffix($0) })
      else { return nil }
      let message = "\(name.text): name it after what it is or decides."
      return Violation(path: source.path, line: name.line, message: message)
    }
  }
}
