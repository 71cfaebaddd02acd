import FedSim
import Scenarios
import Schema
import Testing

@Suite("Profiles of phones")
struct ProfileTests {
  private func groups(_ fleet: String) throws -> [FleetGroupSettings] {
    try Scenario(
      text: """
        task:
          data: {source: {blobs: {classes: 3}}, partition: {iid: {clients: 4}}}
          model: {mlp: [4]}
        fleet: [\(fleet)]
        """
    ).settings.fleet
  }

  @Test("a profile fills the keys of a group, within its sections too; what is written wins")
  func fills() throws {
    let group = try groups(
      "{name: a, count: 1, profile: gboard, background: {processing: {idleDwell: 1 min}}}")[0]
    let processing = try #require(group.background.processing)
    #expect(processing.idleDwell == .minutes(1))
    #expect(processing.requiresExternalPower)
    #expect(processing.requiresUnmetered == true)
    #expect(processing.budgetMedian == .minutes(10))
    #expect(processing.budgetSpread == 0)
    #expect(group.background.system?.cpuLimit == .seconds(60))
    #expect(group.background.system?.endsOnUse == false)
    #expect(group.participation.network == .unmetered)
    #expect(group.interruption.onConditionsLost == .abort)
    #expect(group.battery?.capacity == .milliwattHours(12_980))
  }

  @Test("every profile is read without a fault, and is the same when read from its resolved form")
  func resolved() throws {
    for profile in FleetProfile.standard {
      let scenario = try Scenario(
        text: """
          task:
            data: {source: {blobs: {classes: 3}}, partition: {iid: {clients: 4}}}
            model: {mlp: [4]}
          fleet: [{name: a, count: 1, profile: \(profile.name)}]
          """)
      let again = try Scenario(text: scenario.resolvedText)
      #expect(again.resolvedText == scenario.resolvedText, "\(profile.name)")
    }
  }

  @Test("an unknown profile is a fault with the nearest right word")
  func unknown() {
    #expect(throws: (any Error).self) {
      try groups("{name: a, count: 1, profile: iphon}")
    }
  }

  @Test("a group without the new sections is resolved as if they did not exist")
  func absent() throws {
    let keys = try groups("{name: a, count: 1}")[0].resolved
    let absent = [
      "battery", "thermal", "app", "profile", "authentication", "registration", "heartbeats",
      "clock",
    ]
    for key in absent { #expect(keys[key] == nil) }
  }

  @Test("EdgeML's profile has its tokens, its registration in memory, and heartbeats nobody reads")
  func edgeml() throws {
    let group = try groups("{name: a, count: 1, profile: edgeml}")[0]
    #expect(group.authentication?.leeway == .seconds(30))
    #expect(group.authentication?.onUnauthorised == .fail)
    #expect(group.registration?.persists == false)
    #expect(group.registration?.inBackground == false)
    #expect(group.registration?.atStart == true)
    #expect(group.heartbeats?.foreground == .seconds(300))
    #expect(group.heartbeats?.background == .seconds(900))
    #expect(group.heartbeats?.ignoresStatus == true)
    #expect(group.clock == nil)
  }

  @Test("what the server knows of identities is a fault where no device has any")
  func serverAlone() throws {
    func read(_ fleet: String, _ server: String) throws {
      _ = try Scenario(
        text: """
          task:
            data: {source: {blobs: {classes: 3}}, partition: {iid: {clients: 4}}}
            model: {mlp: [4]}
          fleet: [\(fleet)]
          server: {\(server)}
          """)
    }
    #expect(throws: (any Error).self) {
      try read("{name: a, count: 1}", "authentication: {tokenLife: 5 min}")
    }
    #expect(throws: (any Error).self) { try read("{name: a, count: 1}", "presence: {}") }
    #expect(throws: (any Error).self) {
      try read(
        "{name: a, count: 1, heartbeats: {}}", "presence: {onlineFor: 1 h, offlineAfter: 30 min}")
    }
    try read(
      "{name: a, count: 1, authentication: {}, heartbeats: {}}",
      "authentication: {tokenLife: 5 min}, presence: {onlineFor: 5 min}")
  }

  @Test("what cannot be together is a fault")
  func contradictions() {
    for fleet in [
      "{name: a, count: 1, thermal: {}}",
      "{name: a, count: 1, background: {refresh: {}}}",
      "{name: a, count: 1, background: {windows: {fixed: open}, system: {}}}",
    ] {
      #expect(throws: (any Error).self) { try groups(fleet) }
    }
  }
}
