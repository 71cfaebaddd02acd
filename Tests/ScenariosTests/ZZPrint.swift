import Foundation
import Testing
import Scenarios
import Schema
@Suite struct ZZPrint {
  @Test func zz() throws {
    var out: [String: [String]] = [:]
    for name in BrokenScenarioTests.names {
      let path = BrokenScenarioTests.folder + "/" + name
      let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
      let ov = text.split(separator: "\n").filter { $0.hasPrefix("# override: ") }.map {
        String($0.dropFirst(12))
      }
      var found: [String] = ["NONE"]
      do throws(Faults) { _ = try Scenario(contentsOf: path, overrides: ov) } catch {
        found = error.faults.map {
          $0.description.replacingOccurrences(of: path + ":", with: "").replacingOccurrences(
            of: BrokenScenarioTests.folder + "/", with: "")
        }
      }
      out[String(name.dropLast(5))] = found
    }
    try JSONSerialization.data(withJSONObject: out, options: [.sortedKeys]).write(
      to: URL(fileURLWithPath: "/tmp/scen/found.json"))
  }
}
