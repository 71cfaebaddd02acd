import FedSim
import Learning
import Schema
import Testing

/// Devices that train before the server answers, and apps that are installed with a model. The
/// times are those of `Scene`.
@Suite("Training without an answered check, on a model that the device holds")
struct OfflineTrainingTests {
  /// One phone with two windows that looks in the first one; its link is gone from 150 to 250 s.
  private func scene(_ change: (inout FleetGroupSettings) -> Void = { _ in }) -> Scene {
    var scene = Scene(
      fleet: [
        .group(windows: [[0, 100_000, 105_000], [200_000, 400_000, 405_000]]) {
          $0.link = .states("offline", in: [150_000...250_000], otherwise: "wifi")
          $0.participation.trainsOffline = true
          change(&$0)
        }
      ])
    scene.threshold(5)
    scene.inputs.stop.after = .seconds(1000)
    return scene
  }

  @Test("Offline it trains at once on version 0; the update is sent when the link returns")
  func offline() {
    // The first window as ever: receipt at 10.660. The second: 4 batches from 200.000 on, update 1
    // at 204.000, which waits until 250.000; 1.300 s to send, 0.010 to arrive, 1.010 to hear.
    let played = scene().play()
    #expect(
      played.story(of: 0, only: "begins", "does", "trains", "makes", "uploads", "arrives", "ends")
        == [
          "0 begins window", "4340 trains v0 0/4", "8340 makes 0 of v0 4b 4s", "8340 uploads 0",
          "9650 arrives 0", "10660 ends completed",
          "200000 begins window", "200000 does trainsUnasked", "200000 trains v0 0/4",
          "204000 makes 1 of v0 4b 4s", "250000 uploads 1", "251310 arrives 1",
          "252320 ends completed",
        ])
    #expect(played.simulation.books.tallies.waitedOffline == 1)
    // Who trains unasked counts as accepted; both updates were taken in.
    let funnel = played.simulation.participations.rounds[1]
    #expect((funnel[.accepted], funnel[.started], funnel[.admitted]) == (2, 2, 2))
  }

  @Test("Without the setting it waits for the link and asks")
  func asks() {
    let played = scene { $0.participation.trainsOffline = nil }.play()
    #expect(
      played.story(of: 0, only: "does", "trains") == ["4340 trains v0 0/4", "252020 trains v0 0/4"])
  }

  @Test("A version that it has trained on is not trained on again where only new ones are")
  func newVersions() {
    let played = scene { $0.participation.retrain = .newVersions }.play()
    #expect(played.story(of: 0, only: "does", "trains") == ["4340 trains v0 0/4"])
  }

  @Test("A phone that holds nothing waits for the link")
  func withoutModel() {
    let played = scene {
      $0.link = .states("offline", in: [0...250_000], otherwise: "wifi")
    }.play()
    #expect(played.story(of: 0, only: "does", "trains") == ["254340 trains v0 0/4"])
  }

  @Test("A server that does not answer is as far away: the check times out, then it trains")
  func unreachable() {
    // The check of 201.000 is waited for until 261.000. The upload of 265.000 is sent at 266.300,
    // and given up at 326.300; a third window sends the update before it asks.
    var scene = scene {
      $0.link = .states("offline", in: [900_000...900_001], otherwise: "wifi")
      $0.background.windows = .fixed(
        [(0, 100_000, 105_000), (200_000, 400_000, 405_000), (500_000, 520_000, 525_000)].map {
          (from: $0.0, soft: Optional($0.1), to: $0.2, state: nil)
        })
    }
    scene.inputs.server.reachable = .states("down", in: [150_000...450_000], otherwise: "up")
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "check", "does", "trains", "uploads", "fails", "arrives", "ends")
        == [
          "4340 trains v0 0/4", "8340 uploads 0", "9650 arrives 0", "10660 ends completed",
          "261000 check fails timedOut", "261000 does trainsUnasked", "261000 trains v0 0/4",
          "265000 uploads 1", "326300 fails 1 timedOut", "326300 ends unreachable",
          "500000 uploads 1", "501310 arrives 1", "504340 trains v0 0/4", "508340 uploads 2",
          "509650 arrives 2", "510660 ends completed",
        ])
  }

  @Test("A session that repeats takes part again with each training")
  func repeats() {
    // Offline from 5 s on in its first window: the update of 8.340 is dropped, as are those that
    // follow, each 10 s after the one before and 4 s of batches.
    let played = scene {
      $0.link = .states("offline", in: [5_000...250_000], otherwise: "wifi")
      $0.outbox.capacity = 0
      $0.participation.repeats = true
      $0.participation.pause = .seconds(10)
      $0.background.windows = .fixed([(from: 0, soft: 40_000, to: 45_000, state: nil)])
    }.play()
    #expect(
      played.story(of: 0, only: "does", "trains", "makes", "rests") == [
        "4340 trains v0 0/4", "8340 makes 0 of v0 4b 4s", "8340 rests completed",
        "18340 does trainsUnasked", "18340 trains v0 0/4", "22340 makes 1 of v0 4b 4s",
        "22340 rests completed",
        "32340 does trainsUnasked", "32340 trains v0 0/4", "36340 makes 2 of v0 4b 4s",
        "36340 rests completed",
      ])
    #expect(played.simulation.books.ledgers.updates[.dropped] == 3)
    #expect(played.simulation.participations.rounds[1][.trained] == 3)
  }

  // MARK: Apps with a model

  @Test("An app that comes with its model downloads nothing until there is a version 1")
  func comesWithModel() {
    // Accepted at 2.020 it begins at once: batches until 6.020, arrival at 7.330. The phone that
    // holds nothing is 2.320 s behind it and its update makes version 1 at 9.650.
    var scene = Scene(
      fleet: [
        .group("phones", windows: [[0, 100_000, 105_000], [200_000, 300_000, 305_000]]) {
          $0.app = AppSettings()
          $0.app!.comesWithModel = true
        },
        .group("others", windows: [[0, 100_000, 105_000]]),
      ])
    scene.threshold(2)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "downloaded", "trains", "arrives") == [
        "2020 trains v0 0/4", "7330 arrives 0", "204340 downloaded v1", "204340 trains v1 0/4",
        "209650 arrives 2",
      ])
    #expect(
      played.story(of: 1, only: "downloaded", "arrives") == [
        "4340 downloaded v0", "9650 arrives 1",
      ])
    // One of the two holds version 0 as it is published.
    let first = played.version(0)
    #expect(first.withoutVersion == 1)
    #expect(first.heldAccuracy == first.evaluation.map { $0.test.accuracy })
  }

  @Test("First seen while the server believes itself offline, it trains nevertheless")
  func whileOffline() {
    func trainings(_ comes: Bool) -> [String] {
      var scene = Scene(
        fleet: [
          .group(windows: [[0, 100_000, 105_000]]) {
            $0.app = AppSettings()
            $0.app!.comesWithModel = comes
          }
        ])
      scene.inputs.server.internet = .states("down", in: [0...50_000], otherwise: "up")
      return scene.play().story(of: 0, only: "trains", "ends")
    }
    #expect(trainings(true) == ["2020 trains v0 0/4", "8340 ends completed"])
    #expect(trainings(false) == ["2020 ends nothingNew"])
  }

  @Test("Offline from its first day on, it trains on the model that it came with")
  func neverOnline() {
    let played = scene {
      $0.app = AppSettings()
      $0.app!.comesWithModel = true
      $0.link = .states("offline", in: [0...250_000], otherwise: "wifi")
    }.play()
    #expect(
      played.story(of: 0, only: "trains", "makes", "uploads") == [
        "0 trains v0 0/4", "4000 makes 0 of v0 4b 4s", "200000 trains v0 0/4",
        "204000 makes 1 of v0 4b 4s", "250000 uploads 0", "252320 uploads 1",
      ])
  }

  @Test("An app that is installed again comes with version 0 again")
  func reinstalled() {
    var scene = scene {
      $0.app = AppSettings()
      $0.app!.comesWithModel = true
      $0.registration = RegistrationSettings()
      $0.link = .states("offline", in: [150_000...900_000], otherwise: "wifi")
    }
    scene.threshold(1)
    scene.inject(.reinstall, "phones/0", at: 160_000)
    let played = scene.play()
    #expect(played.version(1).updates == 1)
    // It had trained on version 0 and would hold version 1 only after another check.
    #expect(DeviceView(0, in: played.simulation).heldVersion == 0)
  }
}
