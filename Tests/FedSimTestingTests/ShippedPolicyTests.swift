import FedSim
import FedSimTesting
import Foundation
import Scenarios
import Testing

/// The policies of `scenarios`, each in a world of what it needs.
@Suite("Every shipped policy keeps what is promised")
struct ShippedPolicyTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("scenarios")

  /// All scenarios: their paths under `scenarios`.
  private static let paths: [String] = {
    let all = FileManager.default.enumerator(atPath: root.path)?.allObjects as? [String] ?? []
    return all.filter { $0.hasSuffix(".yaml") }.sorted()
  }()

  private func settings(_ path: String) throws -> ServerSettings {
    try Scenario(contentsOf: Self.root.appendingPathComponent(path).path).settings.server
  }

  @Test("the walk sees them all")
  func walk() {
    #expect(Self.paths.count > 80)
    for path in ["quickstart.yaml", "policies/bulyan.yaml", "systems/swiftyforesight.yaml"] {
      #expect(Self.paths.contains(path), "\(path)")
    }
  }

  @Test("a policy as a whole: rounds end, and the same ones where the run is saved and restored")
  func wholes() throws {
    var played: [String] = []
    for path in Self.paths {
      let server = try settings(path)
      // Many scenarios have the same one.
      let text = server.resolved.json
      if played.contains(text) { continue }
      played.append(text)
      let findings = Conformance().findings(ofPolicy: path) { server }
      // The largest world of the conformance has 1,000 devices, some of them are away.
      let size = "not played: it needs 1000 devices"
      let large = path.hasPrefix("published/flute-lr-mnist/")
      let sizeAlone = findings.count == 1 && "\(findings)".contains(size)
      #expect(large ? sizeAlone : findings == [], "\(path)")
    }
    #expect(played.count > 40)
  }

  @Test(
    "a part by itself, in a world that its numbers ask for",
    arguments: [
      "always-on", "policies/adaptive-clipping", "policies/fedadam", "policies/robust-aggregation",
      "synchronous-rounds", "systems/gboard-us", "systems/swiftyforesight-federated",
    ])
  func parts(name: String) throws {
    let server = try settings(name + ".yaml")
    let catalog = Registry.standard.catalog
    var findings = Conformance().findings(
      of: server.selector.name, in: "client selector", server.selector.settings, from: catalog)
    for trigger in server.trigger {
      findings += Conformance().findings(
        of: trigger.name, in: "aggregation trigger", trigger.settings, from: catalog)
    }
    #expect(findings == [], "\(name)")
  }

  @Test("what needs the scenario's task or world is named")
  func unplayed() throws {
    #expect(Conformance.unplayed(try settings("systems/swiftyforesight.yaml")) == ["central"])
    #expect(Conformance.unplayed(try settings("policies/availability-bias.yaml")) == ["reachable"])
    #expect(Conformance.unplayed(ServerSettings()) == [])
  }

  @Test("a policy for more devices than are played is said to be such a one")
  func tooLarge() throws {
    let text = "fleet: [{name: a, count: 4000}]\nserver: {trigger: {threshold: 3000}}\n"
    let server = try Scenario(text: text).settings.server
    let findings = Conformance().findings(ofPolicy: "large") { server }
    #expect(
      findings.map(\.description) == [
        "large, progress: not played: it needs 3000 devices, and the world has 1000 at most; make "
          + "it smaller (`--set`), or leave `progress` out (`--skip progress`)"
      ])
  }
}
