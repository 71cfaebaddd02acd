import FedSim
import Learning
import Schema
import Testing

/// Offline, or on another link, from one microsecond to another; Wi-Fi before and `then` after.
private func link(
  _ state: String, from: Int64, to: Int64, then: String = "wifi"
) -> Choice<any TimelineSource> {
  var stretch = FixedSource.Stretch()
  (stretch.from, stretch.to) = (SimTime(microseconds: from), SimTime(microseconds: to))
  stretch.state = StateName(state)
  var settings = FixedSource.Settings()
  (settings.intervals, settings.otherwise) = ([stretch], StateName("wifi"))
  if then != "wifi" {
    var rest = FixedSource.Stretch()
    (rest.from, rest.to) = (SimTime(microseconds: to), ms(5_000_000))
    rest.state = StateName(then)
    settings.intervals.append(rest)
  }
  return Choice(FixedSource.self, settings) { $0 }
}

/// A phone whose connections wait this long for their link, and whose link is as said.
private func scene(
  _ link: Choice<any TimelineSource>, patience: SimDuration = .seconds(5),
  _ change: (inout FleetGroupSettings) -> Void = { _ in }
) -> Scene {
  Scene(
    fleet: [
      .group(windows: [[0, 100_000, 105_000]]) {
        $0.participation.retrain = .newVersions
        $0.link = link
        $0.network.patience = patience
        change(&$0)
      }
    ])
}

extension Played {
  /// The outcome of the uploads of the phone.
  fileprivate var uploads: [String] {
    story(of: 0, only: "uploads", "fails", "arrives", "receipt", "ends")
  }
}

@Suite("Handovers")
struct HandoverTests {
  @Test("Wi-Fi becomes cellular in an upload: the connection breaks, and all is sent again")
  func upload() {
    // 500 bytes by 8.840. Again over cellular: 1,300 bytes in 2.6 s, 20 ms, 20 ms, 1,000 in 2 s.
    let played = scene(link("cellular", from: 8_840_000, to: 500_000_000)).play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "8840 fails 0 linkLost", "8840 uploads 0", "11460 arrives 0",
        "13480 receipt 0 pending v0 n1", "13480 ends completed",
      ])
    #expect(played.simulation.books.ledgers.bytesUp == 2000 + 500 + 1300)
    #expect(played.simulation.books.ledgers.transmissions[.linkLost] == 1)
    #expect(played.simulation.books.ledgers.transmissions[.delivered] == 3)
  }

  @Test("Cellular becomes Wi-Fi in a download: the device asks again over Wi-Fi")
  func download() {
    // Over cellular: accepted 4.040, the model begins at 6.080; 500 bytes of it by 7.080. Then the
    // check again: sent 8.080, answered 8.100, read 9.100; the model from 10.120 to 11.420.
    let played = scene(link("cellular", from: 0, to: 7_080_000)).play()
    #expect(
      played.story(of: 0, only: "accepted", "download", "check") == [
        "4040 accepted r1", "7080 download fails linkLost", "9100 accepted r1",
        "11420 downloaded v0",
      ])
    #expect(played.simulation.books.ledgers.bytesDown == 1000 + 500 + 1000 + 1300 + 1000)
  }

  @Test("Wi-Fi becomes cellular while the answer is awaited: the server has it and gets it again")
  func awaiting() {
    // At the server 9.650; the answer would be there at 9.660. Again from 9.655: 2.6 s and 20 ms.
    let played = scene(link("cellular", from: 9_655_000, to: 500_000_000)).play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "9650 arrives 0", "9655 fails 0 unacknowledged", "9655 uploads 0",
        "12275 arrives 0", "14295 receipt 0 pending v0 n1", "14295 ends completed",
      ])
    #expect(played.simulation.books.tallies.repeatedDeliveries == 1)
  }

  @Test("A handover does what a gap of a microsecond does where no connection waits")
  func asAGap() {
    // In the gap 499.999 bytes are through; what follows is the same.
    let gap = scene(
      link("offline", from: 8_839_999, to: 8_840_000, then: "cellular"), patience: .zero
    ).play()
    #expect(
      gap.uploads == [
        "8340 uploads 0", "8839.999 fails 0 linkLost", "8840 uploads 0", "11460 arrives 0",
        "13480 receipt 0 pending v0 n1", "13480 ends completed",
      ])
  }

  @Test("An app that tries no lost upload again tries none after a handover")
  func givesUp() {
    let played = scene(link("cellular", from: 8_840_000, to: 500_000_000)) {
      $0.outbox.retriesLost = false
    }.play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "8840 fails 0 linkLost", "8840 ends unreachable",
      ])
  }

  @Test("A gap that ends on another link is a handover at that moment")
  func afterAGap() {
    // 500 bytes by 8.840, nothing until 9.840, then 1,300 over cellular in 2.6 s.
    let change = link("offline", from: 8_840_000, to: 9_840_000, then: "cellular")
    #expect(
      scene(change).play().uploads == [
        "8340 uploads 0", "9840 fails 0 linkLost", "9840 uploads 0", "12460 arrives 0",
        "14480 receipt 0 pending v0 n1", "14480 ends completed",
      ])
    // Where it survives, the other 800 in 1.6 s: sent 11.440.
    #expect(
      scene(change) { $0.network.handover = .survives }.play().uploads == [
        "8340 uploads 0", "11460 arrives 0", "13480 receipt 0 pending v0 n1",
        "13480 ends completed",
      ])
  }

  @Test("A collector's file breaks off, and the next one goes over the new link")
  func files() {
    // f0 is sent from 0, half of it by 1.000, and is missed there; its metadata are not. The next
    // session sends it again, over cellular: 2,000 bytes from 30.000 on in 4 s, 20 ms.
    var group = FleetGroupSettings.collectors(
      "a", windows: [[0, 15_000, 16_000], [30_000, 45_000, 46_000]])
    group.link = link("cellular", from: 1_000_000, to: 500_000_000)
    let played = Scene(fleet: [group]).play()
    #expect(
      played.story(of: 0, only: "sends", "misses", "stored", "ends") == [
        "0 sends f0", "1000 misses f0 linkLost", "1000 ends completed", "30000 sends f0",
        "34020 stored f0", "36040 ends completed",
      ])
  }
}

@Suite("Gaps that a connection waits for")
struct GapTests {
  @Test("A second without a link in an upload: it continues where it was, and ends a second later")
  func second() {
    // 660 bytes by 9.000, the other 640 from 10.000: sent 10.640; the receipt from 10.660.
    let played = scene(link("offline", from: 9_000_000, to: 10_000_000)).play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "10650 arrives 0", "11660 receipt 0 pending v0 n1",
        "11660 ends completed",
      ])
    #expect(played.simulation.books.ledgers.bytesUp == 3300)
    #expect(played.simulation.books.ledgers.transmissions.opened == 3)
    #expect(played.simulation.books.ledgers.transmissions[.delivered] == 3)
    #expect(played.simulation.books.tallies.waitedOffline == 0)
  }

  @Test("Not a bit is lost in a gap, though the byte under way is half through")
  func halfByte() {
    // 660.5 bytes by 9.0005; the other 639.5 take 639.5 ms. With 640 it would be 0.5 ms more.
    let played = scene(link("offline", from: 9_000_500, to: 10_000_500)).play()
    #expect(played.story(of: 0, only: "arrives") == ["10650 arrives 0"])
  }

  @Test("A gap in the microsecond of the last byte: the request leaves when the link is back")
  func lastByte() {
    // The check's last byte would leave at 1.000; it leaves at 2.000, and is answered at 3.020.
    let played = scene(link("offline", from: 1_000_000, to: 2_000_000)).play()
    #expect(played.story(of: 0, only: "accepted") == ["3020 accepted r1"])
    #expect(played.simulation.books.ledgers.bytesUp == 3300)
  }

  @Test("A gap longer than the patience: the upload fails when that is over, and not before")
  func longer() {
    // 660 bytes by 9.000; given up at 14.000; again from 20.000: 1.3 s, 10 ms; the receipt.
    let played = scene(link("offline", from: 9_000_000, to: 20_000_000)).play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "14000 fails 0 linkLost", "20000 uploads 0", "21310 arrives 0",
        "22320 receipt 0 pending v0 n1", "22320 ends completed",
      ])
    #expect(played.simulation.books.ledgers.bytesUp == 2000 + 660 + 1300)
  }

  @Test("A gap as long as the patience is survived, and a longer one is not")
  func exact() {
    // From 9.000 for 5 s: the other 640 bytes from 14.000. Else all of them a microsecond later.
    func arrivals(_ end: Int64) -> [String] {
      scene(link("offline", from: 9_000_000, to: end)).play().story(of: 0, only: "arrives")
    }
    #expect(arrivals(14_000_000) == ["14650 arrives 0"])
    #expect(arrivals(14_000_001) == ["15310.001 arrives 0"])
  }

  @Test("Without patience a lost link ends the upload at once")
  func impatient() {
    let played = scene(link("offline", from: 9_000_000, to: 9_000_001), patience: .zero).play()
    #expect(
      played.story(of: 0, only: "fails", "arrives") == [
        "9000 fails 0 linkLost", "10310.001 arrives 0",
      ])
  }

  @Test("A gap in a download: the rest of the model comes when the link is back")
  func download() {
    // The model comes from 3.040 to 4.340; 460 bytes by 3.500, the other 840 from 5.500.
    let played = scene(link("offline", from: 3_500_000, to: 5_500_000)).play()
    #expect(played.story(of: 0, only: "downloaded") == ["6340 downloaded v0"])
    #expect(played.simulation.books.ledgers.bytesDown == 3300)
  }

  @Test("An answer that comes in the gap is there with the link, one that comes later in its time")
  func answerInTheGap() {
    // Sent 9.640, at the server 9.650, the answer 9.660: with the link at 10.145, and 1 s to read.
    func receipt(_ end: Int64) -> [String] {
      scene(link("offline", from: 9_645_000, to: end)).play().uploads
    }
    #expect(
      receipt(10_145_000) == [
        "8340 uploads 0", "9650 arrives 0", "11145 receipt 0 pending v0 n1",
        "11145 ends completed",
      ])
    #expect(receipt(9_655_000).last == "10660 ends completed")
  }

  @Test("E11: An answer lost for longer than the patience: the server counts the update once")
  func answerLost() {
    // At the server 9.650. The link is gone from 9.655 for 10 s: given up at 14.655.
    let played = scene(link("offline", from: 9_655_000, to: 19_655_000)).play()
    #expect(
      played.uploads == [
        "8340 uploads 0", "9650 arrives 0", "14655 fails 0 unacknowledged", "19655 uploads 0",
        "20965 arrives 0", "21975 receipt 0 pending v0 n1", "21975 ends completed",
      ])
    #expect(played.simulation.books.tallies.repeatedDeliveries == 1)
  }

  @Test("A request times out in a gap, however patient the connection is")
  func timeout() {
    // Sent 9.640: due at 11.640.
    let played = scene(
      link("offline", from: 9_645_000, to: 20_000_000), patience: .seconds(60)
    ) { $0.network.requestTimeout = .seconds(2) }.play()
    #expect(
      played.story(of: 0, only: "fails", "arrives") == [
        "9650 arrives 0", "11640 fails 0 timedOut", "21310 arrives 0",
      ])
  }

  @Test("A session that ends in a gap ends the upload, and no byte passed meanwhile")
  func killed() {
    var scene = scene(link("offline", from: 9_000_000, to: 10_000_000))
    scene.inject(.kill, "phones/0", at: 9_500)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "fails", "ends") == [
        "9500 fails 0 cancelled", "9500 ends killed",
      ])
    #expect(played.simulation.books.ledgers.bytesUp == 2000 + 660)
  }

  @Test("A condition that needs the link is lost at once, whatever the connection waits for")
  func condition() {
    let played = scene(link("offline", from: 9_000_000, to: 10_000_000)) {
      $0.participation.network = .wifi
      $0.interruption.onConditionsLost = .abort
    }.play()
    #expect(
      played.story(of: 0, only: "fails", "ends") == [
        "9000 fails 0 cancelled", "9000 ends conditionsLost",
      ])
  }

  @Test("A share of the rates that changes in a gap holds from its end on")
  func share() {
    // 660 bytes by 9.000; the other 640 from 10.000 at 500 a second: sent 11.280.
    let played = scene(link("offline", from: 9_000_000, to: 10_000_000)) {
      $0.network.share = .states("50", in: [9_500...500_000], otherwise: "100")
    }.play()
    #expect(played.story(of: 0, only: "arrives") == ["11290 arrives 0"])
  }

  @Test("An answer over a cellular network in the gap takes the time of that network")
  func cellular() {
    // Over cellular all along: accepted 4.040, model 6.080 to 8.680, upload 12.680 to 15.280, at
    // the server 15.300, the answer on its way until 15.320. A gap from 15.290 to 15.315 is over
    // before it comes: read 17.320.
    var stretches: [FixedSource.Stretch] = []
    for (from, to) in [(0, 15_290), (15_315, 500_000)] as [(Int64, Int64)] {
      var stretch = FixedSource.Stretch()
      (stretch.from, stretch.to, stretch.state) = (ms(from), ms(to), StateName("cellular"))
      stretches.append(stretch)
    }
    var settings = FixedSource.Settings()
    (settings.intervals, settings.otherwise) = (stretches, StateName("offline"))
    let played = scene(Choice(FixedSource.self, settings) { $0 }).play()
    #expect(played.uploads.last == "17320 ends completed")
  }

  @Test("The radio draws nothing in a gap")
  func energy() {
    // Of Wi-Fi at 2 W: 1, 1, 1, 1.3, 1.3 and 1 s, 6.6 s, as without the gap: 13.2 J.
    let played = scene(link("offline", from: 9_000_000, to: 10_000_000)) {
      var battery = BatterySettings()
      battery.wifi = Power(milliwatts: 2000)
      $0.battery = battery
    }.play()
    let energy = played.simulation.deviceRecords[0].energy!
    #expect(energy.flows.radio == 13_200_000_000)
    #expect(played.simulation.books.ledgers.updates.opened == 1)
  }

  @Test("The server goes down in a gap: what it was sending is lost at once")
  func serverDown() {
    // The receipt is read from 9.660; 340 bytes by 10.000. The server is gone at 10.500.
    var scene = scene(link("offline", from: 10_000_000, to: 11_000_000))
    scene.inputs.server.reachable = .states("down", in: [10_500...20_000], otherwise: "up")
    let played = scene.play()
    #expect(played.story(of: 0, only: "fails").first == "10500 fails 0 linkLost")
  }
}
