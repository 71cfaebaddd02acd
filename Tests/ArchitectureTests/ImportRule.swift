/// What each target may import. The manifest alone does not hold this: SwiftPM lets a target import
/// whatever its dependencies depend on, and Foundation always.
private let allowedImports: [(target: String, modules: [String])] = [
  ("Numerics", []),
  ("Schema", ["Synchronization"]),
  ("Processes", ["Foundation", "Synchronization"]),
  ("CKernels", []),
  ("Learning", ["CKernels", "Numerics", "Schema", "Foundation", "Synchronization"]),
  ("FedSim", ["Learning", "Numerics", "Schema"]),
  // What protoc generates is not in the tree that is checked; the manifest holds it to its product.
  ("CoreMLFormat", ["SwiftProtobuf"]),
  ("FedSimTesting", ["FedSim", "Learning", "Numerics", "Schema"]),
  (
    "DataSets",
    [
      "CHDF5", "CZlib", "CoreMLFormat", "SwiftProtobuf", "Learning", "Numerics", "Processes",
      "Schema",
    ] + host
  ),
  ("Results", ["CHDF5", "FedSim", "Learning", "Numerics", "Processes", "Schema"] + host),
  ("PythonParts", ["FedSim", "Learning", "Numerics", "Processes", "Schema"] + host),
  (
    "Scenarios",
    [
      "DataSets", "FedSim", "Learning", "Numerics", "PythonParts", "Schema", "Yams", "Foundation",
    ]
  ),
  ("Analysis", ["CGSL", "Numerics", "Results", "Schema", "Foundation"]),
  (
    "Runs",
    [
      "Analysis", "DataSets", "FedSim", "Learning", "Numerics", "Processes", "PythonParts",
      "Results", "Scenarios", "Schema",
    ] + host
  ),
  (
    "Sweeps",
    [
      "Analysis", "DataSets", "FedSim", "Numerics", "Processes", "Results", "Runs", "Scenarios",
      "Schema",
    ] + host
  ),
  (
    "FedSimCLI",
    [
      "FedSim", "FedSimTesting", "Processes", "Runs", "Scenarios", "Schema", "Sweeps",
      "ArgumentParser",
    ] + host
  ),
  ("fedsim", ["FedSimCLI"]),
  ("MyPolicy", ["FedSim", "Learning", "Scenarios", "Schema"]),
  ("my-fedsim", ["FedSimCLI", "MyPolicy"]),
  ("CHDF5", []),
  ("CGSL", []),
  ("CZlib", []),
  ("CMPI", []),
]

/// The host's own modules.
private let host = ["Foundation", "Glibc", "Darwin", "Dispatch", "Synchronization"]

private func file(_ path: String, _ text: String) -> Source { Source(path: path, text: text) }

extension Rule {
  static let imports = Rule.perFile(
    "A target imports only what stands below it",
    planted: [
      file("Sources/FedSim/A.swift", "import Foundation\n"),
      file("Sources/FedSim/A.swift", "#if canImport(Glibc)\n  import Glibc\n#endif\n"),
      file("Sources/FedSim/A.swift", "@preconcurrency public import Dispatch\n"),
      file("Sources/FedSim/A.swift", "import struct Results.RunFile\n"),
      file("Sources/Numerics/A.swift", "import Schema\n"),
      file("Sources/Schema/A.swift", "import Numerics\n"),
      file("Sources/Learning/A.swift", "import FedSim\n"),
      file("Sources/Results/A.swift", "import Yams\n"),
      file("Sources/Brandnew/A.swift", "import Numerics\n"),
      file("Sources/FedSimTesting/A.swift", "import Testing\n"),
      file("Examples/my-policy/Sources/MyPolicy/A.swift", "import Foundation\n"),
    ],
    allowed: [
      file("Sources/FedSim/A.swift", "import Learning\nimport Numerics\nimport Schema\n"),
      file("Sources/FedSim/A.swift", "// import Foundation\nlet a = \"import Glibc\"\n"),
      file("Sources/Learning/A.swift", "import CKernels\nimport Foundation\n"),
      file("Tests/FedSimTests/A.swift", "import Foundation\n"),
      file("Examples/my-policy/Tests/MyPolicyTests/A.swift", "import Foundation\n"),
    ]
  ) { source in
    guard let target = source.target else { return [] }
    guard let rule = allowedImports.first(where: { $0.target == target }) else {
      let message = "Target \(target) has no import rule: add its line to ImportRule.swift."
      return [Violation(path: source.path, line: 1, message: message)]
    }
    return imports(of: source).filter { !rule.modules.contains($0.text) }.map { module in
      let list = rule.modules.isEmpty ? "nothing" : rule.modules.joined(separator: ", ")
      return Violation(
        path: source.path, line: module.line,
        message: "\(target) imports \(module.text); it may import \(list).")
    }
  }

  static let noTestable = Rule.perFile(
    "Tests use public and package declarations, never @testable",
    planted: [file("Tests/FedSimTests/A.swift", "@testable import FedSim\n")],
    allowed: [
      file("Tests/FedSimTests/A.swift", "import FedSim  // no @testable here\n"),
      file("Scripts/a", "swift test --disable-testable-imports\n"),
    ]
  ) { source in
    guard source.isSwift else { return [] }
    return source.tokens.filter { $0.text == "testable" }.map {
      Violation(
        path: source.path, line: $0.line,
        message: "@testable needs a build of its own; make the declaration `package`.")
    }
  }

  /// The modules that a file imports, each as the token of its name.
  private static func imports(of source: Source) -> [Token] {
    let kinds = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
    let tokens = source.tokens
    return tokens.indices.compactMap { index in
      guard source.isSwift, tokens[index].text == "import", index + 1 < tokens.count,
        index == 0 || tokens[index - 1].text != "."
      else { return nil }
      let next = kinds.contains(tokens[index + 1].text) ? index + 2 : index + 1
      return next < tokens.count && tokens[next].isName ? tokens[next] : nil
    }
  }
}
