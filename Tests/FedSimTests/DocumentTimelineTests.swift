import FedSim
import Learning
import Schema
import Testing

/// Timelines worked out from the source systems' documents and the pages: what their apps and
/// servers do, in the units of `Scene` (1,000 B a message and second, 10 ms each way; a check takes
/// 2.020 s, a model 2.320, an update 1.310 to arrive and 1.010 more to its receipt).
@Suite("Timelines of the documents, by hand")
struct DocumentTimelineTests {
  @Test("The third caller hears `aggregated` and the new version, the two before it `pending`")
  func thirdCaller() {
    // Phone i asks at i, and trains from i + 4.340 on; its update arrives at i + 9.650.
    var scene = Scene(
      fleet: (0..<3).map { place in
        .group("p\(place)", windows: [[1_000 * Int64(place), 60_000, 65_000]])
      })
    scene.threshold(3)
    let played = scene.play()
    #expect(played.story(of: 0, only: "receipt") == ["10660 receipt 0 pending v0 n1"])
    #expect(played.story(of: 1, only: "receipt") == ["11660 receipt 1 pending v0 n2"])
    #expect(played.story(of: 2, only: "receipt") == ["12660 receipt 2 aggregated v1 n0"])
    #expect(played.version(1).publishedAt == ms(11_650))
  }

  @Test("A task without a connection trains on the app's model; the opened app sends the update")
  func offlineTask() {
    // Locked for 100 s the task starts: batches until 104.000. It waits for the link until its
    // time expires, 5 s before 160. Opened at 600 s the app sends first and then looks for news.
    var phone = Phone()
    phone.processing.requiresNetworkConnectivity = false
    phone.group.participation.trainsOffline = true
    phone.group.link = .states("offline", in: [0...500_000], otherwise: "wifi")
    phone.app = AppSettings()
    phone.app!.comesWithModel = true
    phone.stop = .seconds(700)
    var scene = phone.scene()
    scene.inject(.open, "phones/0", at: 600_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "begins", "does", "trains", "makes", "uploads", "arrives", "ends")
        == [
          "100000 begins task", "100000 does trainsUnasked", "100000 trains v0 0/4",
          "104000 makes 0 of v0 4b 4s", "155000 ends expired", "600000 begins activation",
          "600000 uploads 0", "601310 arrives 0", "604340 ends completed",
        ])
    #expect(played.simulation.books.tallies.waitedOffline == 1)
  }

  @Test("A task that wants a connection does not start without one")
  func onlineTask() {
    var phone = Phone()
    phone.group.participation.trainsOffline = true
    phone.group.link = .states("offline", in: [0...500_000], otherwise: "wifi")
    phone.app = AppSettings()
    phone.app!.comesWithModel = true
    phone.stop = .seconds(700)
    // At 500 s it has been locked for long: check 502.020, batches until 506.020.
    #expect(
      phone.scene().play().story(of: 0, only: "begins", "does", "makes")
        == ["500000 begins task", "506020 makes 0 of v0 4b 4s"])
  }

  @Test("README's client: a token, a number, a heartbeat, and a fresh token before the fourth one")
  func readme() throws {
    // Opened at 1 s: token 3.020, number 5.040, heartbeats at 5.040, 305.040, 605.040. The token
    // was issued at 2.010 for 900 s: at 905.040 another one comes first, until 907.060.
    var scene = Scene(
      fleet: [
        .group {
          $0.authentication = AuthenticationSettings()
          $0.registration = RegistrationSettings()
          $0.registration!.bytes = 1000
          $0.heartbeats = HeartbeatSettings()
          $0.heartbeats!.afterRegistration = true
          $0.usage = .states("active", in: [1_000...1_000_000], otherwise: "locked")
          $0.participation.pollOnActivation = 1
        }
      ])
    var tokens = TokenSettings()
    tokens.tokenLife = .seconds(900)
    scene.inputs.server.authentication = tokens
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "identity") == [
        "3020 identity bootstrapped", "5040 identity registered 1", "907060 identity refreshed",
      ])
    let counts = try #require(played.simulation.deviceRecords.identityCounts)
    #expect((counts.heartbeats.due, counts.heartbeats.accepted) == (4, 4))
    #expect((counts.bootstraps, counts.refreshes) == (1, 1))
  }

  @Test("A refresh task's heartbeat waits for the token that the task has to get first")
  func refreshToken() throws {
    // The task of 900 s gets a token until 902.020, and sends its heartbeat then; its check lasts
    // until 904.040. The task of 1800 s has a good token and sends at once.
    var phone = Phone()
    phone.refresh = Phone.refreshing { $0.earliestBegin = .seconds(900) }
    phone.stop = .seconds(2000)
    phone.group.authentication = AuthenticationSettings()
    phone.group.heartbeats = HeartbeatSettings()
    phone.group.heartbeats!.background = .seconds(1200)
    phone.group.heartbeats!.inRefresh = true
    var scene = phone.scene(hasProcessing: false)
    var tokens = TokenSettings()
    tokens.tokenLife = .hours(1)
    scene.inputs.server.authentication = tokens
    let played = scene.play()
    #expect(played.story(of: 0, only: "identity") == ["902020 identity bootstrapped"])
    let counts = try #require(played.simulation.deviceRecords.identityCounts)
    #expect((counts.heartbeats.due, counts.heartbeats.accepted) == (2, 2))
  }
}
