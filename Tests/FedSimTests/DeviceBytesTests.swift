import FedSim
import Foundation
import Testing

@Suite("The memory of a device at rest")
struct DeviceBytesTests {
  /// The table of docs/scale.md: each part and its bytes.
  private func documented() throws -> [(name: String, bytes: Int)] {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../docs/scale.md")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let begin = try #require(lines.firstIndex { $0.hasPrefix("| a device at rest |") })
    return lines[(begin + 2)...].prefix { $0.hasPrefix("|") }.compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return Int(cells[1]).map { (cells[0], $0) }
    }
  }

  @Test("docs/scale.md says the bytes of each part, and their sum")
  func table() throws {
    let rows = try documented()
    #expect(rows.dropLast().map(\.name) == DeviceBytes.parts.map(\.name))
    #expect(rows.dropLast().map(\.bytes) == DeviceBytes.parts.map(\.bytes))
    #expect(rows.last?.bytes == DeviceBytes.total)
  }

  @Test("A device, its battery and its app are whole lines of a cache; all of it is below 850")
  func lines() {
    for part in DeviceBytes.parts[..<3] { #expect(part.bytes % 64 == 0, "\(part.name)") }
    #expect(DeviceBytes.total < 850)
  }
}
