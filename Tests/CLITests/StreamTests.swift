import Foundation
import Testing

/// What a command does whose streams are closed or full, and whose disk is.
@Suite("The streams of a command")
struct StreamTests {
  /// The result of a shell line in which `$F` is the command: its output with its errors.
  private func shell(_ command: Command, _ line: String) throws -> String {
    let process = try command.process(["-c", line], ["F": Command.executable])
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let out = Pipe()
    (process.standardOutput, process.standardError) = (out, out)
    try process.run()
    let text = out.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self)
  }

  @Test(
    "what cannot be written to standard output is reported, once, with exit code 3",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
    arguments: ["list --json", "validate s.yaml --resolved", "--help", "run s.yaml -q -o r.h5"])
  func full(arguments: String) throws {
    let told = try shell(Command(), "$F \(arguments) > /dev/full; echo $?")
    #expect(told == "standard output: write failed: No space left on device\n3\n")
  }

  @Test("a claim that is broken keeps its exit code where standard output is full")
  func broken() throws {
    let command = try Command()
    try command.write(
      Command.scenario + "expect: [{versions: {atLeast: 100000}}]\n", to: "c.yaml")
    let told = try shell(command, "$F check -q c.yaml > /dev/full; echo $?")
    #expect(told == "standard output: write failed: No space left on device\n1\n")
  }

  @Test("a reader that goes away, and streams that are closed, are no failure")
  func closed() throws {
    let command = try Command()
    #expect(
      try shell(command, "{ $F list --json; echo $? > code; } | head -c 1 > /dev/null; cat code")
        == "0\n")
    #expect(try shell(command, "$F run s.yaml -o r.h5 <&- >&- 2>&-; echo $?") == "0\n")
    #expect(try shell(command, "$F replay r.h5") == "same bytes: r.h5\n")
  }

  @Test("a scenario that cannot be written whole leaves no file behind")
  func starter() throws {
    let command = try Command()
    let told = try shell(
      command, "( trap '' XFSZ; ulimit -f 0; $F init my.yaml 2>&1; echo $? ) | cat")
    #expect(told == "my.yaml: write failed: File too large\n3\n")
    #expect(command.names == ["s.yaml"])
    #expect(try command("init", "my.yaml").code == 0)
  }
}
