import FedSim
import Learning
import Schema
import Testing

/// A session over a cellular network that begins at s takes 2 s for 1,000 bytes, 2.6 s for 1,300,
/// and 20 ms each way: the check is answered at s + 4.040, batch 1 begins at s + 8.680, and the
/// receipt of the update is there at s + 17.320. It has sent 3,300 bytes and received as many by
/// then. A session that finds nothing new sends 1,000 bytes and receives as many.
@Suite("A limit of bytes over a cellular network")
struct CellularDayTests {
  /// A phone with the processing task `exact` that trains on each version once. The run starts at
  /// midnight UTC.
  private func scene(
    _ limit: Int64?, until end: SimDuration = .seconds(86_500),
    _ change: (inout FleetGroupSettings) -> Void = { _ in }
  ) -> Scene {
    var scene = Scene(
      fleet: [
        .group {
          $0.background.processing = .exact
          $0.participation.retrain = .newVersions
          $0.participation.cellularBytesPerDay = limit
          $0.link = .always("cellular")
          change(&$0)
        }
      ])
    scene.inputs.stop.after = end
    return scene
  }

  /// How many sessions the limit refused.
  private func refusals(_ played: Played) -> Int {
    Condition.count(of: "cellularBytes", in: played.simulation.books.tallies.ineligible)
  }

  private func begins(_ scene: Scene) -> [String] {
    scene.play().story(of: 0, only: "begins").map {
      $0.replacing(" begins task", with: "").replacing(" begins window", with: "")
    }
  }

  @Test("At the limit a device starts no task before the next midnight")
  func midnight() {
    // 6,600 bytes by 117.320. The next task would start at 900 s.
    #expect(begins(scene(6_600)) == ["100000", "86400000"])
    // One byte is left at 900 s: that task finds nothing new, with 2,000 bytes.
    #expect(begins(scene(6_601)) == ["100000", "900000", "86400000"])
    #expect(begins(scene(nil, until: .seconds(2000))) == ["100000", "900000", "1800000"])
  }

  @Test("Midnight is that of the device's own day")
  func localDay() {
    // From 82,800 s on each task finds nothing new, with 2,000 bytes; 8,000 are too many at 86,400.
    #expect(
      begins(scene(6_600) { $0.utcOffset = .hours(1) }) == [
        "100000", "82800000", "83700000", "84600000", "85500000",
      ])
  }

  @Test("A session that began below the limit may finish")
  func finishes() {
    let played = scene(1, until: .seconds(2000)).play()
    #expect(
      played.story(of: 0, only: "begins", "makes", "ends") == [
        "100000 begins task", "112680 makes 0 of v0 4b 4s", "117320 ends completed",
      ])
    // What the device has sent and received is what the ledger of links has.
    let traffic = played.simulation.books.traffic
    #expect(traffic.up(.cellular, .delivered) == 3_300)
    #expect(traffic.down(.cellular, .delivered) == 3_300)
  }

  @Test("On Wi-Fi there is no limit, and its bytes do not count")
  func wifi() {
    // Wi-Fi from 1000 s to 3000 s: the tasks of 1000, 1800 and 2700 s start. At 3600 s it is
    // cellular again, and the 6,600 bytes of the first task are still those of the day.
    let phone = scene(6_600, until: .seconds(10_000)) {
      $0.link = .states("wifi", in: [1_000_000...3_000_000], otherwise: "cellular")
    }
    #expect(begins(phone) == ["100000", "1000000", "1800000", "2700000"])
    // On Wi-Fi up to 500 s, so that nothing was used up.
    let later = scene(1, until: .seconds(2000)) {
      $0.link = .states("wifi", in: [0...500_000], otherwise: "cellular")
    }
    #expect(begins(later) == ["100000", "900000"])
    // Nothing is allowed: only on Wi-Fi.
    let none = scene(0, until: .seconds(90_000)) {
      $0.link = .states("wifi", in: [1_000_000...1_500_000], otherwise: "cellular")
    }
    #expect(begins(none) == ["1000000"])
  }

  @Test("A window that opens at the limit is not used, and one of the next day is")
  func windows() {
    let phone = scene(6_600, until: .seconds(90_000)) {
      $0.background.processing = nil
      $0.background.windows = .fixed(
        [100_000, 20_000_000, 86_400_000].map {
          (from: $0, soft: Optional($0 + 60_000), to: $0 + 65_000, state: nil)
        })
      $0.participation.retrain = .always
    }
    let played = phone.play()
    #expect(
      played.story(of: 0, only: "begins", "ends") == [
        "100000 begins window", "117320 ends completed",
        "20000000 begins window", "20000000 ends ineligible",
        // It holds version 0: trained from 4.040 on to 8.040, sent by 10.660, receipt at 12.680.
        "86400000 begins window", "86412680 ends completed",
      ])
    #expect(refusals(played) == 1)
    #expect(Condition.refusals(in: phone.inputs.fleet).last == "cellularBytes")
    #expect(!Condition.refusals(in: scene(nil).inputs.fleet).contains("cellularBytes"))
  }

  @Test("Heartbeats count, too")
  func heartbeats() throws {
    // The app is open from 1 s to 1000 s. It asks and downloads version 0: 2,000 bytes sent, 2,300
    // received. Heartbeats at 301, 601 and 901 s: 110 bytes each, and 210 for the answer, 960 in
    // all. At 2000 s its window opens.
    func played(_ limit: Int64) -> Played {
      var phone = scene(limit, until: .seconds(3000)) {
        $0.heartbeats = HeartbeatSettings()
        $0.participation.pollOnActivation = 1
        $0.participation.retrain = .always
        $0.usage = .states("active", in: [1_000...1_000_000], otherwise: "locked")
        $0.background.processing = nil
        $0.background.windows = .fixed(
          [(from: 2_000_000, soft: Optional(2_060_000), to: 2_065_000, state: nil)])
      }
      var messages = MessageSettings()
      (messages.heartbeat, messages.heartbeatAnswer) = (110, 210)
      phone.inputs.server.messages = messages
      return phone.play()
    }
    let refused = played(5_260)
    #expect(try #require(refused.simulation.deviceRecords.identityCounts).heartbeats.accepted == 3)
    #expect(refused.simulation.books.ledgers.bytesUp == 2_330)
    #expect(refusals(refused) == 1)
    let begun = played(5_261)
    #expect(refusals(begun) == 0)
    #expect(begun.simulation.books.ledgers.updates.opened == 1)
  }

  @Test("A run that is saved after each turn continues to count")
  func resumes() throws {
    var inputs = scene(6_601) { $0.count = 3 }.inputs
    inputs.stop.after = .seconds(90_000)
    let whole = try Stretches(inputs, stops: [])
    let parts = try Stretches(inputs, stops: Array(1..<min(whole.turns, 300)))
    #expect(parts.archives.count > 10)
    Stretches.expectSame(whole.found, parts.found)
  }

  @Test("Where nothing was counted an archive is the same as without the setting")
  func absent() throws {
    func archive(_ limit: Int64?) throws -> [UInt8] {
      var simulation = Simulation(
        scene(limit, until: .seconds(2000)) { $0.link = .always("wifi") }.inputs)
      simulation.run()
      return try simulation.archive()
    }
    #expect(try archive(1) == archive(nil))
  }
}
