import FedSim
import Schema
import Testing

/// The heartbeats of EdgeML's README that do not wait for their interval. The times are those of
/// `Scene`: 1,000 B a message and second, 10 ms each way.
@Suite("Heartbeats after a registration and in each refresh task")
struct OwedHeartbeatTests {
  /// An app that is open from 1 s to 1000 s and registers itself.
  private func opened(_ change: (inout HeartbeatSettings) -> Void) throws -> IdentityCounts {
    let scene = Scene(
      fleet: [
        .group {
          $0.registration = RegistrationSettings()
          $0.registration!.bytes = 1000
          $0.heartbeats = HeartbeatSettings()
          change(&$0.heartbeats!)
          $0.usage = .states("active", in: [1_000...1_000_000], otherwise: "locked")
          $0.participation.pollOnActivation = 1
        }
      ])
    let played = scene.play()
    #expect(played.story(of: 0, only: "identity") == ["3020 identity registered 1"])
    return try #require(played.simulation.deviceRecords.identityCounts)
  }

  @Test("A device that is registered sends one at once, and the next after the interval")
  func registered() throws {
    // The number at 3.020; heartbeats at 3.020, 303.020, 603.020 and 903.020.
    let heartbeats = try opened { $0.afterRegistration = true }.heartbeats
    #expect((heartbeats.due, heartbeats.accepted) == (4, 4))
  }

  @Test("Without the setting the app sleeps first")
  func later() throws {
    // 301, 601 and 901 s.
    let heartbeats = try opened { _ in }.heartbeats
    #expect((heartbeats.due, heartbeats.accepted) == (3, 3))
  }

  /// Refresh tasks at 900, 1800 and 2700 s; a heartbeat is due 1,000 s after the last one.
  private func refreshing(
    _ inRefresh: Bool?, _ change: (inout FleetGroupSettings) -> Void = { _ in }
  ) throws -> HeartbeatCounts {
    var phone = Phone()
    phone.refresh = Phone.refreshing { $0.earliestBegin = .seconds(900) }
    phone.stop = .seconds(3500)
    phone.group.heartbeats = HeartbeatSettings()
    phone.group.heartbeats!.background = .seconds(1000)
    phone.group.heartbeats!.inRefresh = inRefresh
    change(&phone.group)
    let played = phone.scene(hasProcessing: false).play()
    #expect(
      played.story(of: 0, only: "begins") == [
        "900000 begins refresh", "1800000 begins refresh", "2700000 begins refresh",
      ])
    return try #require(played.simulation.deviceRecords.identityCounts).heartbeats
  }

  @Test("Each refresh task sends one, however recent the last one was")
  func refreshes() throws {
    let sent = try refreshing(true)
    #expect((sent.due, sent.accepted) == (3, 3))
    // 900 s; at 1800 s the last one is 900 s old; 2700 s.
    let waiting = try refreshing(nil)
    #expect((waiting.due, waiting.accepted) == (2, 2))
  }

  @Test("A task whose app has no number withholds its heartbeat, each time")
  func withheld() throws {
    let counts = try refreshing(true) {
      $0.registration = RegistrationSettings()
      $0.registration!.inBackground = false
    }
    #expect((counts.due, counts.withheld, counts.accepted) == (3, 3, 0))
  }
}
