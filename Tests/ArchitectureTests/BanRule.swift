/// A phrase of code that some targets may not hold, and what to write instead.
///
/// A phrase is read as tokens: `Date(` is the word `Date` before a parenthesis, `<Name>` any
/// capitalised word. A phrase that begins with a word does not match after a full stop unless
/// `evenAfterDot` says so: `exp(` bans the C library's function and not `Portable.exp(`.
struct Ban: Sendable {
  let phrase: String
  let instead: String
  var evenAfterDot = true

  private static let declarators = [
    "func", "struct", "enum", "class", "protocol", "extension", "typealias",
  ]

  func violations(in source: Source) -> [Violation] {
    let wanted = Token.all(in: phrase.replacing("<Name>", with: "Name_")).map(\.text)
    let tokens = source.tokens
    guard tokens.count >= wanted.count else { return [] }
    return (0...(tokens.count - wanted.count)).compactMap { start in
      for (offset, text) in wanted.enumerated() {
        let token = tokens[start + offset]
        guard token.text == text || (text == "Name_" && token.isCapitalised) else { return nil }
      }
      if start > 0 {
        let before = tokens[start - 1].text
        if Self.declarators.contains(before) { return nil }
        let isQualified = before == "." && !Self.isHostModule(tokens, at: start - 2)
        if !evenAfterDot, isQualified { return nil }
      }
      return Violation(
        path: source.path, line: tokens[start].line,
        message: "`\(phrase)` is banned in \(source.target ?? "this file"): \(instead).")
    }
  }

  private static func isHostModule(_ tokens: [Token], at index: Int) -> Bool {
    index >= 0 && ["Foundation", "Glibc", "Darwin"].contains(tokens[index].text)
  }
}

/// A list of phrases with the targets that it holds in.
struct BanList: Sendable {
  let targets: [String]
  let bans: [Ban]

  init(_ targets: [String], instead: String, evenAfterDot: Bool = true, _ phrases: [String]) {
    self.targets = targets
    bans = phrases.map { Ban(phrase: $0, instead: instead, evenAfterDot: evenAfterDot) }
  }

  /// The targets on the path to a result.
  static let pure = ["Numerics", "Schema", "Learning", "FedSim", "FedSimTesting", "MyPolicy"]

  static let all = [
    BanList(
      pure, instead: "take SimTime from the event; the host's clock is no part of a result",
      [
        "Date(", "Date.now", "Date.init", "clock_gettime", "gettimeofday", "mach_absolute_time",
        "CFAbsoluteTimeGetCurrent", "DispatchTime", "DispatchWallTime", "ContinuousClock",
        "SuspendingClock", "localtime", "localtime_r", "TimeZone.current", "Locale.current",
        "Calendar.current", "nanosleep", "usleep", "Thread.sleep",
      ]),
    BanList(
      pure, instead: "draw from a keyed stream of RandomStreams",
      [
        "SystemRandomNumberGenerator", ".random(in", ".random(using", ".random()", ".shuffled()",
        ".shuffled(using", ".shuffle()", ".shuffle(using", ".randomElement(", "arc4random",
        "arc4random_uniform", "drand48", "srand", "getrandom", "getentropy", "UUID(",
      ]),
    BanList(
      pure, instead: "draw from a keyed stream of RandomStreams", evenAfterDot: false,
      ["rand(", "random("]),
    BanList(
      pure, instead: "hash with Numerics' digest; Swift's hash values differ in every process",
      ["Hasher(", ".hashValue"]),
    BanList(
      pure, instead: "pass the value in; Runs and FedSimCLI read the host's environment",
      ["getenv", "setenv", "environ", "ProcessInfo", "CommandLine"]),
    BanList(
      pure, instead: "take and return values; DataSets, Results and Scenarios know files",
      ["FileManager", "FileHandle", "fopen", "Data(contentsOf", "String(contentsOf"]),
    BanList(
      ["FedSim"], instead: "the control plane is serial: make it an event, or a training's plan",
      [
        "async", "await", "Task {", "Task<", "Task.detached", "Task.sleep", "Task.yield",
        "actor <Name>", "MainActor", "withTaskGroup", "withCheckedContinuation", "AsyncStream",
        "Thread(", "DispatchQueue",
      ]),
    BanList(
      ["Numerics", "Learning", "FedSim"],
      instead: "write `a * b + c`, or call a kernel; this is slow without the instruction",
      ["addingProduct", "addProduct", "fma", "fmaf"]),
    BanList(
      ["Numerics", "Learning", "FedSim"],
      instead: "add in a stated order; a vector's own sum has none", [".sum()"]),
    BanList(
      ["Numerics", "Learning", "FedSim", "CKernels"],
      instead: "use Portable; the C library's last bit differs between processors",
      evenAfterDot: false, transcendental.flatMap { ["\($0)(", "\($0)f("] }),
  ]

  private static let transcendental = [
    "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "pow", "cbrt", "sin", "cos",
    "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "erf", "erfc", "tgamma", "lgamma", "hypot",
  ]

  func violations(in source: Source) -> [Violation] {
    guard let target = source.target, targets.contains(target) else { return [] }
    // The portable functions call one another by their plain names.
    let isPortable = source.path.hasPrefix("Sources/Numerics/Portable")
    return bans.filter { !(isPortable && !$0.evenAfterDot) }.flatMap { $0.violations(in: source) }
  }
}

extension Rule {
  static let bans = Rule.perFile(
    "Nothing ambient, nothing unordered, nothing of the host on a path to a result",
    planted: BanList.all.flatMap { list in
      list.targets.flatMap { target in
        list.bans.map { ban in
          let code = ban.phrase.replacing("<Name>", with: "Server")
          return Source(path: "Sources/\(target)/A.swift", text: "let a = 1\n  \(code)\n")
        }
      }
    } + [
      Source(path: "Sources/Learning/A.swift", text: "let y = Foundation.exp(x)\n"),
      Source(path: "Sources/FedSim/A.swift", text: "let text = \"at \\(Date())\"\n"),
      Source(path: "Sources/CKernels/a.c", text: "float f(float x) { return expf(x); }\n"),
    ],
    allowed: BanList.all.flatMap { list in
      list.bans.flatMap { ban in
        [
          Source(path: "Sources/\(list.targets[0])/A.swift", text: "// \(ban.phrase)\n"),
          Source(path: "Sources/\(list.targets[0])/A.swift", text: "/* \(ban.phrase) */ 1\n"),
          Source(path: "Sources/\(list.targets[0])/A.swift", text: "let a = \"\(ban.phrase)\"\n"),
          Source(path: "Sources/FedSimCLI/A.swift", text: "\(ban.phrase)\n"),
        ]
      }
    } + [
      Source(path: "Sources/Learning/A.swift", text: "let y = Portable.exp(x)\n"),
      Source(path: "Sources/Numerics/Portable+Exp.swift", text: "let y = exp(log(x))\n"),
      Source(path: "Sources/FedSim/A.swift", text: "struct Key { let actor: Actor }\n"),
      Source(path: "Sources/FedSim/A.swift", text: "struct UpDate { let update: Int }\n"),
    ]
  ) { source in
    BanList.all.flatMap { $0.violations(in: source) }
  }

  private static let dangerousFlags = [
    "-Ounchecked", "-ffast-math", "-Ofast", "fast-math", "-funsafe-math",
    "-ffp-contract=fast", "-Xswiftc -O", "-march=native",
  ]

  static let compilerFlags = Rule.perFile(
    "No flag that changes arithmetic or drops checks, anywhere",
    planted: (dangerousFlags + ["unsafeFlags"]).flatMap { flag in
      [
        Source(path: "Package.swift", text: "let flags = [\"\(flag)\"]\n"),
        Source(path: "Makefile", text: "build:\n\tswift build \(flag)\n"),
        Source(path: "Sources/CKernels/a.c", text: "#pragma GCC optimize(\"\(flag)\")\n"),
      ]
    } + [
      Source(
        path: "Package.swift",
        text: ".testTarget(\n  name: a),\n.target(\n  name: b, s: [.unsafeFlags(flags)])\n"),
      Source(
        path: "Package.swift", text: ".testTarget(name: a, s: [.unsafeFlags([\"-Ofast\"])])\n"),
    ],
    allowed: [
      Source(path: "Package.swift", text: "// No unsafeFlags: packages may depend on us.\n"),
      Source(path: "Package.swift", text: ".testTarget(\n  name: a, s: [.unsafeFlags(flags)])\n"),
      Source(
        path: "Package.swift", text: ".executableTarget(\n  name: a, l: [.unsafeFlags(flags)])\n"),
      Source(path: "Tests/ArchitectureTests/A.swift", text: "let flag = \"-Ounchecked\"\n"),
      Source(path: "Scripts/wheel", text: "swift build -Xswiftc -Osize\n"),
    ]
  ) { source in
    if source.path.hasPrefix("Tests/ArchitectureTests/") { return [] }
    // Code of a smaller size has the same checks and the same arithmetic.
    let text = (source.isSwift || source.isC ? source.uncommented : source.text)
      .replacing("-Xswiftc -Osize", with: "")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let dangerous = violations(in: source, text: text, words: dangerousFlags) {
      "`\($0)` is banned: kernels choose their instructions at run time, checks stay in release."
    }
    let unsafe = violations(in: source, text: text, words: ["unsafeFlags"]) {
      "`\($0)` is for tests and commands alone: other packages depend on the rest."
    }
    return dangerous + unsafe.filter { !isOfNoLibrary(lines[..<$0.line]) }
  }

  /// Whether the last line of these is a part of a test target, or of a command, in a manifest.
  private static func isOfNoLibrary(_ lines: ArraySlice<Substring>) -> Bool {
    guard let target = lines.last(where: { $0.contains("arget(") }) else { return false }
    return target.contains(".testTarget(") || target.contains(".executableTarget(")
  }

  /// The lines of a text that hold one of the words.
  static func violations(
    in source: Source, text: String, words: [String], message: (String) -> String
  ) -> [Violation] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap {
      (index, line) in
      words.filter { line.contains($0) }.map {
        Violation(path: source.path, line: index + 1, message: message($0))
      }
    }
  }
}
