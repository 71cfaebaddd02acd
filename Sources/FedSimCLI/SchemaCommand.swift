import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim schema`.
struct SchemaCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print or write the JSON Schema of scenarios, for completion in editors.",
    discussion: """
      Editors complete keys and mark what no scenario has (docs/editors.md). A scenario
      of `fedsim init` names the file in its first line.
      """)

  /// The name that scenarios of `fedsim init` give the file.
  static let fileName = "fedsim.schema.json"

  @Option(
    name: .shortAndLong,
    help: "The file to write, such as \(fileName); an earlier schema there is replaced.",
    completion: .file())
  var output: String?

  func run(_ registry: Registry) -> Int32 {
    let text = Listing(registry).schema
    guard let output else {
      Output.out(text)
      return 0
    }
    if let there = FileManager.default.contents(atPath: output), !Self.isSchema(there) {
      Output.error(
        "\(output): holds something else than a schema of scenarios; give another path, or "
          + "remove the file")
      return 2
    }
    do {
      try Data((text + "\n").utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
    } catch {
      Output.error("\(output): write failed: \(error.localizedDescription)")
      let folder = URL(fileURLWithPath: output).deletingLastPathComponent().path
      return FileManager.default.fileExists(atPath: folder) ? 3 : 2
    }
    Output.out("wrote \(output)")
    return 0
  }

  /// Whether a file was written by this command, by whichever version.
  private static func isSchema(_ bytes: Data) -> Bool {
    let tree = try? JSONSerialization.jsonObject(with: bytes) as? [String: Any]
    return tree?["title"] as? String == "A FedSim scenario"
  }
}
