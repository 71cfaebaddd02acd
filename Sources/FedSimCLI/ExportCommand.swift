import ArgumentParser
import Runs
import Scenarios

/// `fedsim export`.
struct ExportCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a result as CSV, NPZ, safetensors, or as the automatic backend's JSON.",
    discussion: """
      csv: a folder with one table per group, and schema.csv, which describes every column. npz: \
      all variables in one archive. safetensors: the tensors of the last model. \
      automatic-backend-json: the last model as the backend's answer to GET /api/model/latest. \
      Every number reads back to the same bits. See docs/export.md.
      """)

  @Argument(help: "The result file of a run.")
  var result: String

  @Option(help: ArgumentHelp("The file to write; for csv the folder.", valueName: "path"))
  var to: String

  @Option(
    help: ArgumentHelp(
      "csv, npz, safetensors, or automatic-backend-json; by default from the ending of --to: .npz, "
        + ".safetensors, .json.", valueName: "name"))
  var format: Export.Format?

  @Option(
    help: ArgumentHelp(
      "Only this group, repeatable; for a model the group that holds the model, by default model.",
      valueName: "name"))
  var group: [String] = []

  @Flag(help: "Replace an existing file, or a folder that an earlier export made.")
  var force = false

  func validate() throws {
    guard format != nil || Export.Format(endingOf: to) != nil else {
      let known = Export.Format.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError(
        "--to: the ending of `\(to)` is not .npz, .safetensors or .json; give --format, one of "
          + known)
    }
  }

  func run(_ registry: Registry) -> Int32 {
    do throws(RunFailure) {
      var export = Export(result, as: format ?? Export.Format(endingOf: to) ?? .csv)
      (export.groups, export.replaces) = (group, force)
      let summary = try export.write(to: to)
      if let warning = summary.warning { Output.error("warning: \(warning)") }
      let files = summary.files == 1 ? "" : "\(Format.count(summary.files)) files, "
      Output.out(
        "wrote \(to): \(files)\(Format.count(summary.variables)) "
          + "\(export.format.isOfModel ? "tensors" : "variables"), "
          + "\(Format.count(summary.bytes)) bytes")
      return 0
    } catch {
      return Output.report(error, nothingWas: "written")
    }
  }
}

extension Export.Format: ExpressibleByArgument {
  /// Whether it holds a model alone.
  fileprivate var isOfModel: Bool { self == .safetensors || self == .automaticBackendJSON }
}
