import Foundation
import Processes
import Testing

#if os(Linux)
  @Suite("Processors of a process")
  struct ProcessorsTests {
    /// What the kernel says of a process, such as `0-1` or `3`.
    private func list(_ process: String) throws -> String {
      let lines = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        .split(separator: "\n")
      let line = try #require(lines.first { $0.hasPrefix("Cpus_allowed_list:") })
      return String(line.split(separator: "\t")[1])
    }

    @Test("those that are allowed are the kernel's")
    func allowed() throws {
      let numbers = try list("self").split(separator: ",").flatMap { range in
        let ends = range.split(separator: "-").compactMap { Int($0) }
        return Array(ends[0]...ends[ends.count - 1])
      }
      #expect(Processors.allowed == numbers)
    }

    @Test("a process is confined to one of them")
    func confined() throws {
      let last = try #require(Processors.allowed.last)
      let sleeper = Process()
      sleeper.executableURL = URL(filePath: "/bin/sleep")
      sleeper.arguments = ["60"]
      try sleeper.run()
      defer { sleeper.terminate() }
      #expect(Processors.confine(sleeper.processIdentifier, to: [last]))
      #expect(try list("\(sleeper.processIdentifier)") == "\(last)")
      #expect(!Processors.confine(sleeper.processIdentifier, to: [1023]))
      #expect(!Processors.confine(sleeper.processIdentifier, to: [1024]))
    }

    @Test("a thread that was confined for a run can run everywhere afterwards")
    func released() throws {
      let before = Processors.allowed
      let last = try #require(before.last)
      let confined = ConfinedThreads()
      confined.confineCaller(to: last)
      #expect(Processors.allowed == [last])
      confined.confineCaller(to: before[0])
      #expect(Processors.allowed == [before[0]])
      confined.release()
      #expect(Processors.allowed == before)
      // Workers that nobody uses any more release theirs.
      do {
        let others = ConfinedThreads()
        others.confineCaller(to: last)
      }
      #expect(Processors.allowed == before)
    }
  }
#endif
