import ArgumentParser
import Runs

/// Which requests `fedsim export --format requests` writes.
struct RequestArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Whose verbs and paths: automatic-backend, pygrid, edgeml, or swiftyforesight; by default "
        + "those of each group's profile.", valueName: "name"))
  var dialect: RequestDialect?

  @Option(
    help: ArgumentHelp("Only the requests of this device, repeatable.", valueName: "group/number"))
  var device: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only requests from this time of the run on.", valueName: "duration"))
  var from: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only requests before this time of the run.", valueName: "duration"))
  var until: String?

  @Flag(help: "Updates without parameters; nothing is trained again.")
  var withoutWeights = false

  @Option(
    help: ArgumentHelp(
      "Base folder of paths in the scenario; by default the scenario's folder at the time of the "
        + "run.",
      valueName: "path"), completion: .file())
  var folder: String?

  func validate() throws {
    var choice = RequestChoice()
    if let wrong = choice.limit(from: from, until: until) {
      throw ValidationError("--\(wrong.option): \(wrong.reason)")
    }
  }

  /// The first option that was given; nil: none.
  var given: String? {
    if dialect != nil { return "--dialect" }
    if !device.isEmpty { return "--device" }
    if from != nil { return "--from" }
    if until != nil { return "--until" }
    if withoutWeights { return "--without-weights" }
    return folder == nil ? nil : "--folder"
  }

  /// What is chosen, once it was found valid.
  var choice: RequestChoice {
    var choice = RequestChoice()
    (choice.dialect, choice.devices, choice.folder) = (dialect, device, folder)
    choice.hasWeights = !withoutWeights
    _ = choice.limit(from: from, until: until)
    return choice
  }
}

extension RequestDialect: ExpressibleByArgument {}
