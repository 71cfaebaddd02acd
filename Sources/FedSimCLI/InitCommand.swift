import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim init`.
struct InitCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a commented scenario as a starting point; the scenario needs no data file.")

  @Argument(
    help: "The file to write; it must not exist (default: scenario.yaml, or example.yaml).")
  var path: String?

  @Option(
    help: ArgumentHelp(
      "Template: \(Template.allCases.map(\.rawValue).joined(separator: ", ")) (default: "
        + "\(Template.example.rawValue))."))
  var template: Template?

  @Flag(help: "Write example.yaml: phones that train on made-up points; it runs in a second.")
  var example = false

  func validate() throws {
    guard example, template != nil else { return }
    throw ValidationError("--example is a template, too: leave --template out")
  }

  func run(_ registry: Registry) -> Int32 {
    let path = path ?? (example ? "example.yaml" : "scenario.yaml")
    let template = template ?? .example
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      let reason =
        errno == EEXIST
        ? "already exists; give another path, or remove the file" : String(cString: strerror(errno))
      Output.error("\(path): \(reason)")
      return 2
    }
    // Until its end is written the file is this command's own, and goes where it fails.
    let text = "# yaml-language-server: $schema=\(SchemaCommand.fileName)\n" + template.text
    var failure = Output.write(bytes: text.utf8, to: descriptor)
    if close(descriptor) != 0, failure == 0 { failure = errno }
    guard failure == 0 else {
      unlink(path)
      Output.error("\(path): write failed: \(String(cString: strerror(failure)))")
      return 3
    }
    Output.out("for completion in an editor: fedsim schema -o \(Self.schema(for: path))")
    Output.out("wrote \(path); next: \(CommandLine.arguments[0]) run \(path)")
    return 0
  }

  /// Where the first line of a scenario looks for the schema.
  private static func schema(for path: String) -> String {
    let folder = (path as NSString).deletingLastPathComponent
    return (folder as NSString).appendingPathComponent(SchemaCommand.fileName)
  }
}
