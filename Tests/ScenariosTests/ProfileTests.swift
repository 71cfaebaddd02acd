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

  @Test("the system of an iPhone grants a processing task in 10 to 20 h, that of Android any")
  func processingStarts() throws {
    for profile in FleetProfile.standard {
      let system = try groups("{name: a, count: 1, profile: \(profile.name)}")[0].background
      guard system.processing != nil, let starts = system.system else { continue }
      let isAndroid = ["workmanager", "gboard"].contains(profile.name)
      #expect((starts.processingStarts == nil) == isAndroid, "\(profile.name)")
      guard let given = starts.processingStarts else { continue }
      #expect(given.atMost == 1)
      #expect(given.within.map(\.at) == [0, 1])
      #expect(given.within.map(\.value) == [.hours(10), .hours(20)])
    }
    let own = try groups(
      "{name: a, count: 1, profile: iphone, background: {system: {processingStarts: null}}}")[0]
    #expect(own.background.system?.processingStarts == nil)
  }

  @Test("Android finds a device idle after 31 to 36 min, as AOSP's JobScheduler does")
  func idle() throws {
    for name in ["gboard", "workmanager"] {
      let background = try groups("{name: a, count: 1, profile: \(name)}")[0].background
      #expect(background.processing?.idleDwell == .minutes(31))
      #expect(background.system?.idleSlop == .minutes(5))
    }
    let phone = try groups("{name: a, count: 1, profile: iphone}")[0].background
    #expect(phone.processing?.idleDwell == .minutes(5) && phone.system?.idleSlop == nil)
  }

  @Test("apps whose state lives in memory have processes that end")
  func processes() throws {
    for name in ["edgeml", "edgeml-as-coded"] {
      let app = try groups("{name: a, count: 1, profile: \(name)}")[0].app
      #expect(app?.openFor?.median == .seconds(36) && app?.openFor?.spread == 1)
      #expect(app?.evictedAfter?.median == .hours(1) && app?.evictedAfter?.spread == 1)
    }
    let coded = try groups("{name: a, count: 1, profile: swiftsyft-as-coded}")[0].app
    #expect(coded?.evictedAfter?.median == .hours(1) && coded?.openFor == nil)
    let phone = try groups("{name: a, count: 1, profile: iphone}")[0].app
    #expect(phone?.evictedAfter == nil && phone?.openFor == nil)
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

  @Test("EdgeML's profile is its SDK's standard configuration")
  func edgeml() throws {
    let group = try groups("{name: a, count: 1, profile: edgeml}")[0]
    #expect(group.participation.avoidsLowPower == true)
    #expect(group.participation.avoidsHeat == true)
    #expect(group.participation.externalPower)
    #expect(group.participation.chargingOnly == nil)
    #expect(group.participation.minimumBattery == 20)
    #expect(group.participation.network == .unmetered)
    #expect(group.participation.pollEvery == .hours(1))
    #expect(group.network.requestTimeout == .seconds(30))
    #expect(group.network.downloadTimeout == .seconds(300))
    let processing = try #require(group.background.processing)
    #expect(processing.earliestBegin == .hours(1))
    #expect(processing.resubmit == .atStart)
    #expect(processing.requiresNetworkConnectivity && processing.requiresExternalPower)
    #expect(group.background.refresh?.earliestBegin == .seconds(900))
    #expect(group.background.refresh?.resubmit == .atStart)
    #expect(group.outbox.supersedes == true && group.outbox.flushes == nil)
    #expect((group.outbox.attempts, group.outbox.delay) == (3, .seconds(2)))
    #expect(group.outbox.backoff == 2 && group.outbox.retriesLost == false)
    #expect(group.authentication?.leeway == .seconds(30))
    #expect(group.authentication?.onUnauthorised == .fail)
    #expect(group.authentication?.refreshes == nil)
    #expect(group.registration?.persists == true)
    #expect(group.registration?.content == .edgeml)
    #expect(group.heartbeats?.foreground == .seconds(300))
    #expect(group.heartbeats?.background == .seconds(900))
    #expect(group.heartbeats?.ignoresStatus == false)
    #expect(group.heartbeats?.reportedLink == .actual)
    #expect(group.clock == nil)
  }

  @Test("EdgeML as coded differs in what its sample and its SDK do otherwise")
  func edgemlAsCoded() throws {
    let group = try groups("{name: a, count: 1, profile: edgeml-as-coded}")[0]
    #expect(group.registration?.persists == false)
    #expect(group.registration?.inBackground == false)
    #expect(group.heartbeats?.ignoresStatus == true)
    #expect(group.heartbeats?.reportedLink == .wifi)
    #expect(group.authentication?.refreshes == false)
    #expect(group.authentication?.bootstrapsInUse == true)
    #expect(group.app?.onRefreshExpiration == .ignore)
    #expect(group.app?.onExpiration == .complete)
    #expect(group.background.refresh?.resubmit == .atCompletion)
    #expect(group.background.processing?.resubmit == .atStart)
    #expect(group.network.requestTimeout == .seconds(60))
    #expect(group.outbox.flushes == false && group.outbox.supersedes == true)
    #expect(group.participation.minimumBattery == 20)
  }

  @Test("the automatic backend's client: as documented, and as its sample is coded")
  func automaticBackend() throws {
    let said = try groups("{name: a, count: 1, profile: automatic-backend}")[0]
    #expect(said.participation.pollEvery == .minutes(5))
    #expect(!said.participation.repeats && said.participation.trainsOffline == true)
    #expect(said.participation.pollOnActivation == 1)
    #expect(said.outbox.capacity == 10)
    #expect(said.authentication != nil && said.authentication?.refreshes == nil)
    #expect(said.background.processing?.requiresNetworkConnectivity == false)
    let done = try groups("{name: a, count: 1, profile: automatic-backend-as-coded}")[0]
    #expect(done.participation.pollEvery == nil && !done.participation.repeats)
    #expect(done.participation.pollOnActivation == 1)
    #expect(done.outbox.capacity == 0)
    #expect(done.authentication?.refreshes == false)
    #expect(done.authentication?.onUnauthorised == .fail)
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
      "{name: a, count: 1, authentication: {refreshes: false}}",
      "{name: a, count: 1, outbox: {flushes: false, capacity: 0}}",
    ] {
      #expect(throws: (any Error).self) { try groups(fleet) }
    }
  }
}
