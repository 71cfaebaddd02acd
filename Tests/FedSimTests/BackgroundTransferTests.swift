import FedSim
import Learning
import Schema
import Testing

/// A phone whose system continues with its uploads, in a window that expires softly at 9.000 unless
/// said otherwise: 660 of 1,300 bytes are sent by then (see `Scene`).
private func scene(
  windows: [[Int64]] = [[0, 9_000, 10_000]],
  _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  Scene(
    fleet: [
      .group(windows: windows) {
        $0.participation.retrain = .newVersions
        $0.background.transfers = true
        change(&$0)
      }
    ])
}

extension Played {
  /// The outcome of the uploads of the phone.
  fileprivate var uploads: [String] {
    story(of: 0, only: "uploads", "fails", "arrives", "receipt", "ends", "is")
  }
}

@Suite("Uploads that the system continues with")
struct BackgroundTransferTests {
  @Test("An upload outlives its session: the receipt comes when no app runs")
  func outlives() {
    // Sent 9.640, at the server 9.650, the receipt from 9.660 to 10.660, as in a longer session.
    let played = scene().play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "9000 is uploadHandedOver", "9000 ends expired", "9650 arrives 0",
        "10660 receipt 0 pending v0 n1",
      ])
    #expect(played.simulation.books.ledgers.transmissions[.delivered] == 3)
    #expect(played.simulation.books.ledgers.bytesUp == 3300)
    // Without the system it would be cut off at the hard expiry, while the receipt comes.
    let cut = scene { $0.background.transfers = nil }.play()
    #expect(
      cut.uploads == [
        "8340 uploads 0", "9650 arrives 0", "10000 fails 0 cancelled", "10000 ends expired",
      ])
  }

  @Test("A kill does not end it, even where the app keeps no outbox on the disk")
  func killed() {
    var scene = scene(windows: [[0, 60_000, 65_000]]) { $0.outbox.persists = false }
    scene.inject(.kill, "phones/0", at: 9_500)
    let played = scene.play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "9500 is uploadHandedOver", "9500 ends killed", "9650 arrives 0",
        "10660 receipt 0 pending v0 n1",
      ])
    #expect(played.simulation.books.ledgers.updates[.lostAtKill] == 0)
  }

  @Test("A user who swipes the app away ends it, and so do a reboot and an empty battery")
  func swiped() {
    // 1,160 bytes by 9.500.
    for verb in [InjectionSettings.Verb.forceQuit, .reboot] {
      for windows in [[[0, 60_000, 65_000]], [[0, 9_000, 10_000]]] as [[[Int64]]] {
        var scene = scene(windows: windows)
        scene.inject(verb, "phones/0", at: 9_500)
        let played = scene.play()
        #expect(
          played.story(of: 0, only: "fails", "arrives") == ["9500 fails 0 cancelled"], "\(verb)")
        #expect(played.simulation.books.ledgers.bytesUp == 2000 + 1160)
        #expect(played.simulation.books.ledgers.updates[.unfinishedAtEnd] == 1)
      }
    }
  }

  @Test("With the link gone it begins again, from the first byte, when there is one")
  func lostLink() {
    // Lost at 9.200; again from 20.000: sent 21.300, the receipt from 21.320 on.
    let played = scene {
      $0.link = .states("offline", in: [9_200...20_000], otherwise: "wifi")
    }.play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "9000 is uploadHandedOver", "9000 ends expired",
        "9200 fails 0 linkLost", "20000 uploads 0", "21310 arrives 0",
        "22320 receipt 0 pending v0 n1",
      ])
    #expect(played.simulation.books.ledgers.bytesUp == 2000 + 860 + 1300)
  }

  @Test("A link that is lost in the session: the system begins again after its end")
  func lostInSession() {
    // Lost at 8.840, in the session, which ends at 9.000 without a link.
    let played = scene {
      $0.link = .states("offline", in: [8_840...20_000], otherwise: "wifi")
      $0.outbox.capacity = 0
    }.play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "8840 fails 0 linkLost", "9000 ends expired", "20000 uploads 0",
        "21310 arrives 0", "22320 receipt 0 pending v0 n1",
      ])
  }

  @Test("It waits for its link in a short gap, and begins again over another link")
  func shortGap() {
    // 860 bytes by 9.200, the other 440 from 10.200; or all of them over cellular in 2.6 s.
    let gap = scene {
      $0.network.patience = .seconds(5)
      $0.link = .states("offline", in: [9_200...10_200], otherwise: "wifi")
    }.play()
    #expect(
      gap.story(of: 0, only: "fails", "arrives", "receipt") == [
        "10650 arrives 0", "11660 receipt 0 pending v0 n1",
      ])
    let other = scene {
      $0.link = .states("cellular", in: [9_200...500_000], otherwise: "wifi")
    }.play()
    #expect(
      other.story(of: 0, only: "fails", "uploads", "arrives", "receipt") == [
        "8340 uploads 0", "9200 fails 0 linkLost", "9200 uploads 0", "11820 arrives 0",
        "13840 receipt 0 pending v0 n1",
      ])
  }

  @Test("A session that begins meanwhile waits until the upload is over")
  func nextSession() {
    // The second session has the line at 10.660: its check is answered 2.020 later.
    let played = scene(windows: [[0, 9_000, 9_500], [9_600, 60_000, 65_000]]).play()
    #expect(
      played.story(of: 0, only: "begins", "receipt", "accepted", "ends") == [
        "0 begins window", "2020 accepted r1", "9000 ends expired", "9600 begins window",
        "10660 receipt 0 pending v0 n1", "12680 accepted r1", "12680 ends nothingNew",
      ])
  }

  @Test("A try that times out is the app's again: it sends the update in its next session")
  func timedOut() {
    // Sent 9.640 to a server that is down: due at 11.640.
    func played(capacity: Int) -> Played {
      var scene = scene(windows: [[0, 9_000, 10_000], [20_000, 60_000, 65_000]]) {
        $0.network.requestTimeout = .seconds(2)
        $0.outbox.capacity = capacity
      }
      scene.inputs.server.reachable = .states("down", in: [9_200...15_000], otherwise: "up")
      return scene.play()
    }
    #expect(
      played(capacity: 10).story(of: 0, only: "uploads", "fails", "arrives") == [
        "8340 uploads 0", "11640 fails 0 timedOut", "20000 uploads 0", "21310 arrives 0",
      ])
    // An app that keeps nothing has nothing to send then.
    let dropped = played(capacity: 0)
    #expect(dropped.story(of: 0, only: "ended") == ["11640 ended 0 dropped"])
  }

  @Test("A refusal that comes when no app runs ends the update")
  func refused() {
    // A token first: all is 2.020 later. Sent 11.660, at the server 11.670, the refusal by 12.680.
    let played = scene(windows: [[0, 11_000, 12_000]]) {
      var authentication = AuthenticationSettings()
      authentication.scopes = [.check, .download, .heartbeat, .register]
      $0.authentication = authentication
    }.play()
    #expect(played.story(of: 0, only: "fails") == ["12680 fails 0 forbidden"])
    #expect(played.simulation.books.ledgers.updates[.forbidden] == 1)
  }

  @Test("An app that stops for a lost condition stops its upload, too")
  func conditionLost() {
    let played = scene(windows: [[0, 60_000, 65_000]]) {
      $0.power = .states("plugged", in: [0...9_000], otherwise: "unplugged")
      $0.participation.externalPower = true
      $0.interruption.onConditionsLost = .abort
    }.play()
    #expect(
      played.story(of: 0, only: "fails", "arrives", "ends") == [
        "9000 fails 0 cancelled", "9000 ends conditionsLost",
      ])
  }

  @Test("The radio's energy is that of the same transfers in a session")
  func energy() {
    // 6.6 s at 2 W, 1.66 s of them after the session.
    let played = scene {
      var battery = BatterySettings()
      battery.wifi = Power(milliwatts: 2000)
      $0.battery = battery
    }.play()
    #expect(played.simulation.deviceRecords[0].energy!.flows.radio == 13_200_000_000)
  }

  @Test("An update that is erased is not sent on")
  func erased() {
    var scene = scene()
    scene.inject(.erase, "phones/0", at: 9_500)
    let played = scene.play()
    #expect(played.story(of: 0, only: "fails", "arrives") == ["9500 fails 0 cancelled"])
    #expect(played.simulation.books.ledgers.updates[.erased] == 1)
  }

  @Test("Streams and collections exclude it")
  func contradictions() {
    var group = FleetGroupSettings.group()
    group.background.transfers = true
    #expect(group.contradictions().isEmpty)
    group.protocol = ProtocolSettings()
    group.protocol!.stream = true
    #expect(group.contradictions().map(\.key) == ["background"])
    group.protocol = nil
    group.collection = CollectionSettings()
    #expect(group.contradictions().map(\.key) == ["background"])
  }
}
