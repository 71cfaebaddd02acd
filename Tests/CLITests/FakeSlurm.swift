import Foundation
import Testing

/// Slurm's commands as scripts that write down what they are given; jobs are run by the test.
struct FakeSlurm {
  let command: Command
  /// Blanks, a quote and a percent sign, as in paths that somebody has.
  let home = "it's 100% mine"

  /// Puts the scripts into `bin` and the scenario into a folder with an awkward name.
  init(_ command: Command, section: String) throws {
    self.command = command
    for folder in ["bin", "said", home] {
      try FileManager.default.createDirectory(
        atPath: "\(command.folder)/\(folder)", withIntermediateDirectories: true)
    }
    try command.write(
      Command.scenario.replacing(
        "    partition: {iid: {clients: 4}}\n",
        with: "    partition: {iid: {clients: 4}}\n    validationFraction: 0.2\n")
        + section, to: "\(home)/sweep.yaml")
    // One word a line; the n-th call's job has the number 100 + n, unless `refuse` names n.
    try script(
      "sbatch",
      """
      n=$(($(ls "$SAID" | grep -c '^call') + 1))
      printf '%s\\n' "$@" > "$SAID/call$n"
      if grep -qx "$n" "$SAID/refuse" 2>/dev/null; then
        echo "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy" \
      "(job submit limit, user's size and/or time limits)" >&2
        exit 1
      fi
      echo "$((100 + n));cluster"
      """)
    try script("squeue", "cat \"$SAID/queue\" 2>/dev/null || :")
    try script("scontrol", "cat \"$SAID/config\" 2>/dev/null || :")
    try script("scancel", "echo \"$*\" >> \"$SAID/cancelled\"")
  }

  private func script(_ name: String, _ text: String) throws {
    try command.write("#!/bin/sh\nPATH=/usr/bin:/bin\n\(text)\n", to: "bin/\(name)")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: "\(command.folder)/bin/\(name)")
  }

  /// Slurm's commands before all others.
  var environment: [String: String] {
    ["PATH": "\(command.folder)/bin:/usr/bin:/bin", "SAID": "\(command.folder)/said"]
  }

  /// The sweep's folder.
  var folder: String { "\(home)/out/s" }

  /// The command that submits the sweep, with a short wait for files.
  func sweep(_ arguments: String...) throws -> Command.Result {
    // Nothing is late here, unless a test says so.
    let delay = arguments.contains("--file-delay") ? [] : ["--file-delay", "10 ms"]
    return try command.run(
      ["sweep", "\(home)/sweep.yaml", "-o", folder, "--slurm"] + delay + arguments,
      environment)
  }

  /// What each call of sbatch was given.
  func calls() throws -> [[String]] {
    let count = command.names.count { $0.hasPrefix("said/call") }
    return try (0..<count).map { try lines("said/call\($0 + 1)") }
  }

  /// The lines of a file.
  func lines(_ path: String) throws -> [String] {
    String(decoding: try command.bytes(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Runs a job as Slurm does, in an environment without Slurm's commands on the PATH.
  ///
  /// `meanwhile` happens while it runs.
  func job(
    _ call: [String], task: Int? = nil, meanwhile: () throws -> Void = {}
  ) throws -> Int32 {
    let script = try #require(call.firstIndex { $0.hasSuffix(".sh") })
    let process = try command.process([])
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = Array(call[script...])
    process.currentDirectoryURL = URL(fileURLWithPath: "/")
    var environment = ["PATH": "/nowhere", "SAID": "\(command.folder)/said"]
    environment["SLURM_ARRAY_TASK_ID"] = task.map { "\($0)" }
    environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
    process.environment = environment
    let log = "\(command.folder)/said/log"
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
    process.standardOutput = file
    process.standardError = file
    try process.run()
    try meanwhile()
    process.waitUntilExit(within: 600)
    return process.terminationStatus
  }

  /// What the last job wrote.
  var log: String {
    String(decoding: (try? command.bytes("said/log")) ?? Data(), as: UTF8.self)
  }

  /// The tasks of an array, as its `--array` says.
  static func tasks(_ call: [String]) throws -> ClosedRange<Int> {
    let option = try #require(call.first { $0.hasPrefix("--array=0-") })
    return 0...(try #require(Int(option.dropFirst("--array=0-".count))))
  }
}
