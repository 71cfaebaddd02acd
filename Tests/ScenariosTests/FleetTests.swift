import FedSim
import Scenarios
import Schema
import Testing

@Suite("What a fleet consists of, as written")
struct FleetTests {
  private func text(_ keys: String) -> String {
    """
    task:
      data: {source: {blobs: {classes: 3}}, partition: {iid: {clients: 4}}}
      model: {mlp: [4]}
    fleet: [{name: a, count: 1, \(keys)}]
    """
  }

  private func group(_ keys: String) throws -> FleetGroupSettings {
    try Scenario(text: text(keys)).settings.fleet[0]
  }

  @Test("a class by its name, classes with shares, classes with figures")
  func hardware() throws {
    let one = try #require(try group("hardware: iphone-13").hardware)
    #expect(one.classes.map(\.name) == ["iphone-13"])
    #expect(one.classes[0].value.hardware.battery == .milliwattHours(12_410))
    #expect(one.classes[0].value.hardware.speed == 2.5)
    let mix = try #require(
      try group(
        "hardware: {classes: {iphone-8: 3, android-slow: {share: 2, memory: 2 GB}},"
          + " speeds: [{at: 0.5, value: 2}]}"
      ).hardware)
    #expect(mix.classes.map(\.value.hardware.share) == [3, 2])
    #expect(mix.classes.map(\.value.hardware.memory) == [2_000_000_000, 2_000_000_000])
    #expect(mix.classes[1].value.hardware.gigaflops == 4.02)
    #expect(mix.speeds?[0].value == 2)
  }

  @Test("every class that comes with the simulator has figures with which it trains")
  func classes() throws {
    let names = Registry.standard.catalog.parts(of: "hardware class").map(\.name)
    #expect(names.count == 17)
    let all = try #require(try group("hardware: [\(names.joined(separator: ", "))]").hardware)
    for choice in all.classes {
      let hardware = choice.value.hardware
      #expect(hardware.speed >= 1 && hardware.gigaflops > 1, "\(choice.name)")
      #expect(hardware.memory >= 2_000_000_000, "\(choice.name)")
    }
  }

  @Test("what is written is resolved to the same, and absent sections are not written")
  func resolved() throws {
    let scenario = try Scenario(
      text: text(
        "hardware: iphone-15, presence: {stay: {median: 1 d}}, arrival: {perDay: 3}, "
          + "couple: {labels: {by: timeZone, strength: 0.5}}, compute: {jitter: 0.1}"))
    let again = try Scenario(text: scenario.resolvedText)
    #expect(again.resolvedText == scenario.resolvedText)
    let keys = try group("power: {fixed: plugged}").resolved
    for key in ["hardware", "presence", "arrival", "couple"] { #expect(keys[key] == nil) }
    #expect(keys["compute"]?["jitter"] == nil)
  }

  @Test(
    "what cannot be is a fault",
    arguments: [
      "hardware: {engine: cpu}", "hardware: {classes: []}", "hardware: nokia-3310",
      "hardware: {classes: iphone-8, speeds: []}",
      "hardware: {classes: iphone-8, speeds: [{at: 0.5, value: 2}, {at: 0.5, value: 3}]}",
      "hardware: {classes: iphone-8, speeds: [{at: 0.1, value: 2}, {at: 0.5, value: 1}]}",
      "arrival: {}", "arrival: {perDay: 1, schedule: [{at: 1 d, share: 1}]}",
      "arrival: {schedule: [{at: 2 d, share: 0.5}, {at: 1 d, share: 1}]}",
      "arrival: {initial: 0.6, schedule: [{at: 2 d, share: 0.5}]}",
      "couple: {}", "couple: {labels: speed}", "couple: {labels: timeZone}, firstClient: 1",
      "presence: {fixed: plugged}",
      "background: {processing: {startDelays: [{at: 1, value: 2 s}, {at: 0, value: 1 s}]}}",
    ])
  func faults(keys: String) {
    #expect(throws: Faults.self) { try Scenario(text: text(keys)) }
  }
}
