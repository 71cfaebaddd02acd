import Foundation

/// Which Python is started.
public enum PythonInterpreter {
  /// The one that is named, else that of `FEDSIM_PYTHON`, that next to this program, or the first
  /// `python3` on the `PATH`; nil: there is none.
  public static func find(_ named: String? = nil) -> String? {
    let environment = ProcessInfo.processInfo.environment
    if let named { return path(of: named, environment) }
    if let given = environment["FEDSIM_PYTHON"], !given.isEmpty {
      return path(of: given, environment)
    }
    let program = ThisProgram.path
    let folder = program.lastIndex(of: "/").map { String(program[..<$0]) } ?? "."
    for name in ["python3", "python"] where isProgram("\(folder)/\(name)") {
      return "\(folder)/\(name)"
    }
    return path(of: "python3", environment)
  }

  private static func path(of name: String, _ environment: [String: String]) -> String? {
    if name.contains("/") { return name }
    let folders = (environment["PATH"] ?? "").split(separator: ":")
    return folders.lazy.map { "\($0)/\(name)" }.first(where: isProgram)
  }

  private static func isProgram(_ path: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: path)
  }
}
