import Foundation
import Testing

import Runs
import Scenarios

@Suite("The shipped scenarios")
struct ShippedBaselineTests {
  private static let smoke = CheckedFolder.shipped + "/smoke"

  @Test("fedsim check scenarios/smoke holds: every smoke scenario is what is recorded of it")
  func smoke() {
    var check = Check([Self.smoke])
    check.jobs = 2
    let report = check.perform()
    #expect(report.exitCode == 0, "\(report.scenarios.map(\.text).joined(separator: "\n"))")
    #expect(report.unchecked == [], "a smoke scenario without a baseline: fedsim check --record")
    #expect(report.scenarios.count >= 17)
  }

  /// Those with claims that take longer than this tier has time for: `make scenarios` plays them.
  private static let long = [
    "cnn-fashion.yaml", "quickstart.yaml", "sensors.yaml", "systems/gboard-us.yaml",
  ]

  @Test("fedsim check scenarios/ holds, but for four that are too long for this tier")
  func others() throws {
    let names = try #require(
      FileManager.default.enumerator(atPath: CheckedFolder.shipped)?.compactMap { $0 as? String })
    let claiming = try names.sorted().filter { name in
      guard name.hasSuffix(".yaml"), !name.hasPrefix("smoke/") else { return false }
      let scenario = try Scenario(contentsOf: "\(CheckedFolder.shipped)/\(name)")
      return scenario.settings.expect?.isEmpty == false
    }
    #expect(
      Self.long.allSatisfy(claiming.contains), "a scenario in `long` is gone or claims nothing")
    let short = claiming.filter { !Self.long.contains($0) }
    for name in [
      "adaptive-clipping", "availability-bias", "fedbuff-against-rounds", "fedprox-partial-work",
      "robust-aggregation", "scaffold-label-skew",
    ] {
      #expect(short.contains("policies/\(name).yaml"), "\(name) claims nothing")
    }
    #expect(short.count >= 8)
    var check = Check(short.map { "\(CheckedFolder.shipped)/\($0)" })
    check.jobs = 2
    let report = check.perform()
    #expect(report.exitCode == 0, "\(report.scenarios.map(\.text).joined(separator: "\n"))")
  }

  @Test("each of the thirteen scenarios of the source systems has claims and a recording")
  func systems() throws {
    let folder = CheckedFolder.shipped + "/systems"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    let scenarios = names.filter { $0.hasSuffix(".yaml") }.map { $0.dropLast(5) }.sorted()
    #expect(scenarios.count == 13)
    for name in scenarios {
      let scenario = try Scenario(contentsOf: "\(folder)/\(name).yaml")
      #expect(scenario.settings.expect?.isEmpty == false, "\(name) claims nothing")
      #expect(names.contains("\(name).baseline"), "\(name): fedsim check --record")
    }
  }

  @Test("every claim and every baseline below scenarios/ can be read")
  func readable() throws {
    let names = try #require(
      FileManager.default.enumerator(atPath: CheckedFolder.shipped)?.compactMap { $0 as? String })
    var claims = 0
    for name in names.sorted() {
      let path = "\(CheckedFolder.shipped)/\(name)"
      if name.hasSuffix(".yaml") {
        claims += try Scenario(contentsOf: path).settings.expect?.count ?? 0
      } else if name.hasSuffix(".baseline") {
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        let baseline = try Baseline(text, file: path)
        #expect(baseline.text == text, "\(name): read and written it is the same")
      }
    }
    #expect(claims >= 12)
  }
}
