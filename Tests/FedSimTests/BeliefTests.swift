import FedSim
import Learning
import Schema
import Testing

/// A phone whose app sends a heartbeat as its session begins and then each 900 s; one that is due
/// at d is at the server at d + 1.010.
private func phone(
  _ name: String, from start: Int64, _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> FleetGroupSettings {
  .group(name, windows: [[start, 4_000_000, 4_005_000]]) {
    $0.heartbeats = HeartbeatSettings()
    $0.heartbeats!.background = .seconds(900)
    change(&$0)
  }
}

extension Scene {
  /// Who is believed to be online, for 10 min after a heartbeat.
  fileprivate mutating func believe(
    _ of: Choice<AnySelector>, minimumBattery: Double? = nil, onlineFor: Int64 = 600
  ) {
    var presence = PresenceSettings()
    (presence.onlineFor, presence.offlineAfter) = (.seconds(onlineFor), .seconds(2_000))
    inputs.server.presence = presence
    var settings = BelievedOnlineSelector.Settings()
    (settings.minimumBattery, settings.of) = (minimumBattery, of)
    inputs.server.selector = Choice(BelievedOnlineSelector.self, settings) { $0.erased }
  }
}

@Suite("A selector that reads what the server believes")
struct BeliefTests {
  private func two() -> Choice<AnySelector> {
    var uniform = UniformSelector.Settings()
    (uniform.cohort, uniform.overSelection) = (2, 1)
    return Choice(UniformSelector.self, uniform) { $0.erased }
  }

  @Test("A device whose heartbeat timed out is passed over although it waits")
  func timedOut() {
    // All wait from 1.010 s of their windows on. At 701.010 the first one's heartbeat, of 1.010, is
    // 700 s old: it counts as idle. At 801.010 the second and the third are online.
    func played(onlineFor: Int64) -> Played {
      var scene = Scene(
        fleet: [phone("a", from: 0), phone("b", from: 700_000), phone("c", from: 800_000)])
      scene.inputs.stop.after = .seconds(890)
      scene.inputs.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
      scene.believe(two(), onlineFor: onlineFor)
      return scene.play()
    }
    let passed = played(onlineFor: 600)
    #expect(passed.story(of: -1, only: "cohort r1") == ["801010 cohort r1 2"])
    #expect(passed.story(of: 0, only: "accepted").isEmpty)
    #expect(passed.story(of: 1, only: "accepted r1") == ["802020 accepted r1"])
    #expect(passed.story(of: 2, only: "accepted r1") == ["802020 accepted r1"])
    // For one second more than 700 it counts.
    let taken = played(onlineFor: 701)
    #expect(taken.story(of: -1, only: "cohort r1") == ["701010 cohort r1 2"])
    #expect(taken.story(of: 0, only: "accepted r1") == ["702020 accepted r1"])
    // At exactly 700 s it no longer does.
    #expect(played(onlineFor: 700).story(of: -1, only: "cohort r1") == ["801010 cohort r1 2"])
  }

  @Test("It is chosen again once a heartbeat has come")
  func again() {
    // The first one's second heartbeat is due at 900 and there at 901.010. Another asks at 951.010.
    var scene = Scene(fleet: [phone("a", from: 0), phone("d", from: 950_000)])
    scene.inputs.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
    scene.believe(two())
    let played = scene.play()
    #expect(played.story(of: -1, only: "cohort r1") == ["951010 cohort r1 2"])
    #expect(played.story(of: 0, only: "accepted r1") == ["952020 accepted r1"])
  }

  @Test("What was reported counts, not how full the battery is")
  func battery() {
    // 3,000 J, 15 % full, charged with 1 W: 25 % at 300 s. Heartbeats at 0 and 300 s report 15 %
    // and 25 %. The app asks, is turned away, and asks again 102.020 s later: at 1.010, 103.030,
    // 205.050 (21.8 % by then, and 15 % reported) and 307.070.
    func accepted(_ least: Double?) -> [String] {
      var scene = Scene(
        fleet: [
          phone("p", from: 0) {
            $0.heartbeats!.background = .seconds(300)
            ($0.participation.repeats, $0.participation.pause) = (true, .seconds(100))
            var battery = BatterySettings()
            battery.capacity = Energy(nanojoules: 3_000_000_000_000)
            battery.initialLevel = 0.15
            battery.charger = Power(milliwatts: 1_000)
            battery.idle = Power(milliwatts: 0)
            battery.training = Power(milliwatts: 0)
            battery.wifi = Power(milliwatts: 0)
            battery.lowPowerAcceptance = 0
            $0.battery = battery
          }
        ])
      scene.believe(Choice(OpenSelector.self) { $0.erased }, minimumBattery: least)
      scene.inputs.stop.after = .seconds(320)
      return scene.play().story(of: 0, only: "accepted")
    }
    #expect(accepted(0.2) == ["308080 accepted r1"])
    #expect(accepted(0.25) == ["308080 accepted r1"])
    #expect(accepted(0.251).isEmpty)
    #expect(accepted(nil).first == "2020 accepted r1")
    #expect(accepted(0.15).first == "2020 accepted r1")
  }

  @Test("A battery that reports nothing holds nobody back; who sends no heartbeat is offline")
  func unknown() {
    var scene = Scene(
      fleet: [phone("p", from: 0), phone("silent", from: 0) { $0.heartbeats = nil }])
    scene.believe(Choice(OpenSelector.self) { $0.erased }, minimumBattery: 0.5)
    scene.inputs.stop.after = .seconds(100)
    let played = scene.play()
    #expect(played.story(of: 0, only: "accepted") == ["2020 accepted r1"])
    #expect(played.story(of: 1, only: "accepted").isEmpty)
  }

  @Test("To ask what is believed changes nothing: heartbeats and world are the same")
  func pure() {
    for seed in UInt64(0)..<20 {
      func counts(_ reads: Bool) -> [String] {
        var scene = Scene(
          fleet: [phone("a", from: 0), phone("b", from: 100_000)].map { group in
            var group = group
            group.count = 3
            group.heartbeats!.background = .seconds(7)
            group.battery = BatterySettings()
            return group
          })
        scene.inputs.seeds = Seeds(seed)
        scene.inputs.stop.after = .seconds(3_000)
        // All are let in, so that both runs are the same one.
        if reads {
          scene.believe(
            Choice(OpenSelector.self) { $0.erased }, minimumBattery: 0, onlineFor: 2_000)
        } else {
          scene.believe(Choice(OpenSelector.self) { $0.erased }, onlineFor: 2_000)
          scene.inputs.server.selector = Choice(OpenSelector.self) { $0.erased }
        }
        let simulation = scene.play().simulation
        return [
          "\(String(describing: simulation.deviceRecords.identityCounts))",
          "\(simulation.eventDigest)",
          "\(simulation.books.ledgers)",
        ]
      }
      #expect(counts(true) == counts(false))
    }
  }
}
