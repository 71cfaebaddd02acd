import ArgumentParser
import Foundation
import Runs
import Scenarios

/// `fedsim init`.
struct InitCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a commented scenario as a starting point; the scenario needs no data file.")

  @Argument(help: "The file to write; it must not exist.")
  var path = "scenario.yaml"

  @Option(help: "Template: \(Template.allCases.map(\.rawValue).joined(separator: ", ")).")
  var template = Template.phones

  func run(_ registry: Registry) -> Int32 {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      let reason =
        errno == EEXIST
        ? "already exists; give another path, or remove the file" : String(cString: strerror(errno))
      Output.error("\(path): \(reason)")
      return 2
    }
    // Until its end is written the file is this command's own, and goes where it fails.
    var failure = Output.write(bytes: template.text.utf8, to: descriptor)
    if close(descriptor) != 0, failure == 0 { failure = errno }
    guard failure == 0 else {
      unlink(path)
      Output.error("\(path): write failed: \(String(cString: strerror(failure)))")
      return 3
    }
    Output.out("wrote \(path); next: \(CommandLine.arguments[0]) run \(path)")
    return 0
  }
}
