import Foundation
import Testing

/// The built `fedsim`, run as a process in its own folder.
final class Command {
  /// What a process left behind.
  struct Result {
    var code: Int32
    var out: String
    var error: String
  }

  /// Made-up data, four phones, half a day: some milliseconds.
  static let scenario = """
    stop: {after: 12 h}
    task:
      data:
        source: {blobs: {classes: 3, features: 4, train: 80, test: 30}}
        partition: {iid: {clients: 4}}
      model: softmax
    fleet:
      - name: phones
        count: 4
        background: {processing: {earliestBegin: 1 h}}
    server:
      trigger: {threshold: 2}

    """

  /// Tests and the command are built into one folder.
  static let executable: String = {
    let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("fedsim").path
    if FileManager.default.isExecutableFile(atPath: beside) { return beside }
    return URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../.build/release/fedsim").standardized.path
  }()

  let folder: String

  /// A folder with the scenario as `s.yaml`.
  init() throws {
    folder = NSTemporaryDirectory() + "fedsim-cli-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try write(Self.scenario, to: "s.yaml")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Writes a text.
  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
  }

  /// The bytes of a file.
  func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
  }

  /// Whether two files have the same bytes.
  func areEqual(_ a: String, _ b: String) throws -> Bool {
    let (a, b) = try (bytes(a), bytes(b))
    return a == b
  }

  /// The names of the files in the folder and below, sorted.
  var names: [String] {
    (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).sorted()
  }

  /// A process that has not been started, with its streams in files.
  func process(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Self.executable)
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.standardInput = FileHandle.nullDevice
    var all = ProcessInfo.processInfo.environment
    all["FEDSIM_DATA"] = nil
    process.environment = all.merging(environment) { $1 }
    return process
  }

  /// Runs it to the end.
  func callAsFunction(
    _ arguments: String..., environment: [String: String] = [:]
  ) throws -> Result {
    try run(arguments, environment)
  }

  /// Runs it to the end; what takes minutes is killed.
  func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Result {
    let process = try process(arguments, environment)
    let streams = NSTemporaryDirectory() + "fedsim-cli-\(UUID().uuidString)"
    func stream(_ ending: String) throws -> FileHandle {
      _ = FileManager.default.createFile(atPath: streams + ending, contents: nil)
      return try FileHandle(forWritingTo: URL(fileURLWithPath: streams + ending))
    }
    func text(_ ending: String) throws -> String {
      defer { try? FileManager.default.removeItem(atPath: streams + ending) }
      return String(
        decoding: try Data(contentsOf: URL(fileURLWithPath: streams + ending)), as: UTF8.self)
    }
    process.standardOutput = try stream(".out")
    process.standardError = try stream(".err")
    try process.run()
    process.waitUntilExit(within: 180)
    let code =
      process.terminationReason == .exit
      ? process.terminationStatus : -process.terminationStatus
    return Result(code: code, out: try text(".out"), error: try text(".err"))
  }
}

extension Process {
  /// Waits for its end; if it takes longer it is killed, and the test fails.
  func waitUntilExit(within seconds: Double, _ location: SourceLocation = #_sourceLocation) {
    let (id, begin) = (processIdentifier, ContinuousClock.now)
    let killing = DispatchWorkItem { kill(id, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: killing)
    waitUntilExit()
    killing.cancel()
    if begin.duration(to: .now) >= .seconds(seconds) {
      let words = (arguments ?? []).joined(separator: " ")
      Issue.record("not over after \(seconds) s, killed: \(words)", sourceLocation: location)
    }
  }
}
