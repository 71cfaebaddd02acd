import ArgumentParser
import Runs
import Scenarios

/// `fedsim export`.
struct ExportCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract:
      "Write a result as CSV, NPZ, safetensors, Core ML, the backend's JSON, or requests.",
    discussion: """
      csv: a folder with one table per group, and schema.csv, which describes every column. npz: \
      all variables in one archive. safetensors: the tensors of the last model. \
      coreml: the scenario's Core ML file with the last model's weights. \
      automatic-backend-json: the last model as the backend's answer to GET /api/model/latest. \
      requests: the run's HTTP requests, one per line, with the simulated answers; the run is \
      played again, and python -m fedsim replay sends them to a server. \
      Every number reads back to the same bits. See docs/export.md.
      """)

  @Argument(help: "The result file of a run.", completion: .file(extensions: ["h5"]))
  var result: String

  @Option(
    help: ArgumentHelp("The file to write; for csv the folder.", valueName: "path"),
    completion: .file())
  var to: String

  @Option(
    help: ArgumentHelp(
      "csv, npz, safetensors, coreml, automatic-backend-json, or requests; by default from the "
        + "ending of --to: .npz, .safetensors, .mlmodel, .json, .jsonl.", valueName: "name"))
  var format: Export.Format?

  @Option(
    help: ArgumentHelp(
      "Only this group, repeatable; for a model the group that holds the model, by default model.",
      valueName: "name"))
  var group: [String] = []

  @Flag(help: "Replace an existing file, or a folder that an earlier export made.")
  var force = false

  @OptionGroup(title: "Requests") var requests: RequestArguments

  func validate() throws {
    if kind != .requests, let option = requests.given,
      kind != .coreML || option != "--folder"
    {
      throw ValidationError("\(option): needs --format requests")
    }
    guard format != nil || Export.Format(endingOf: to) != nil else {
      let known = Export.Format.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError(
        "--to: the ending of `\(to)` is not .npz, .safetensors, .mlmodel, .json or .jsonl; "
          + "give --format, one of "
          + known)
    }
  }

  private var kind: Export.Format { format ?? Export.Format(endingOf: to) ?? .csv }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      var export = Export(result, as: kind)
      (export.groups, export.replaces) = (group, force)
      export.requests = requests.choice
      let summary = try export.write(
        to: to, options: ReplayCommand.options(nil), registry: registry)
      if let warning = summary.warning { Output.error("warning: \(warning)") }
      let files = summary.files == 1 ? "" : "\(Format.count(summary.files)) files, "
      Output.out(
        "wrote \(to): \(files)\(Format.count(summary.variables)) "
          + "\(export.format.noun), "
          + "\(Format.count(summary.bytes)) bytes")
      return 0
    } catch {
      return Output.report(error, nothingWas: "written")
    }
  }
}

extension Export.Format: ExpressibleByArgument {
  /// What it holds.
  fileprivate var noun: String {
    switch self {
    case .csv, .npz: "variables"
    case .safetensors, .automaticBackendJSON, .coreML: "tensors"
    case .requests: "requests"
    }
  }
}
