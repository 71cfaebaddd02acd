import FedSim
import Learning
import Schema
import Testing

@Suite("EdgeML: the order of its conditions, and its chain of refresh tasks")
struct EdgeMLTests {
  @Test(
    "Of what does not hold the first counts: saving energy, heat, power, battery, link",
    arguments: [
      (5, "lowPower"), (4, "heat"), (3, "power"), (2, "battery"), (1, "network"),
    ])
  func order(failing: Int, reason: String) throws {
    // 36 kJ, 180 J of them above 20 %: at 6 W the battery is low, and low-power mode on, at 30 s.
    // What is drawn is heat: 2 J, which is serious, are there before a second has passed.
    var phone = FleetGroupSettings.group(windows: [[60_000, 70_000, 75_000]])
    phone.power = .always("unplugged")
    phone.link = .always("cellular")
    var battery = BatterySettings()
    battery.capacity = .milliwattHours(10_000)
    battery.initialLevel = 0.205
    battery.idle = Power(milliwatts: 6_000)
    battery.lowPowerAcceptance = 1
    phone.battery = battery
    var wanted = ParticipationSettings()
    wanted.network = .unmetered
    if failing >= 2 { wanted.minimumBattery = 20 }
    if failing >= 3 { wanted.externalPower = true }
    if failing >= 4 {
      var thermal = ThermalSettings()
      thermal.cooling = Power(milliwatts: 0)
      thermal.fair = Energy(nanojoules: 1_000_000_000)
      thermal.serious = Energy(nanojoules: 2_000_000_000)
      thermal.critical = Energy(nanojoules: 900_000_000_000_000)
      phone.thermal = thermal
      wanted.avoidsHeat = true
    }
    if failing >= 5 { wanted.avoidsLowPower = true }
    phone.participation = wanted
    let played = Scene(fleet: [phone]).play()
    #expect(
      played.story(of: 0, only: "begins", "ends") == [
        "60000 begins window", "60000 ends ineligible",
      ])
    for word in Condition.refusals(in: [phone]) {
      let count = Condition.count(of: word, in: played.simulation.books.tallies.ineligible)
      #expect(count == (word == reason ? 1 : 0), "\(word)")
    }
    #expect(played.simulation.books.tallies.ineligibleSessions == 1)
  }

  /// A phone whose refresh tasks come every 900 s and find a server that hangs until 1500 s; its
  /// user opens the app at 2000 s.
  private func chain(
    _ onRefresh: AppSettings.OnExpiration?, _ resubmit: ProcessingSettings.Resubmit
  ) -> Played {
    var phone = Phone()
    phone.app = AppSettings()
    phone.app!.onRefreshExpiration = onRefresh
    phone.refresh = Phone.refreshing {
      $0.earliestBegin = .seconds(900)
      $0.resubmit = resubmit
    }
    phone.stop = .seconds(3500)
    var scene = phone.scene(hasProcessing: false)
    scene.inputs.server.reachable = .states("down", in: [0...1_500_000], otherwise: "up")
    scene.inject(.open, "phones/0", at: 2_000_000)
    return scene.play()
  }

  @Test("Without an expiration handler a hanging server ends the chain until the app is opened")
  func chainEnds() {
    // The check waits for up to 60 s, the task has 30. Opened at 2000 s: check 2.020, model 2.320.
    #expect(
      chain(.ignore, .atCompletion).story(of: 0, only: "begins", "killed", "ends") == [
        "900000 begins refresh", "930000 killed", "930000 ends killed",
        "2000000 begins activation", "2004340 ends completed", "2900000 begins refresh",
        "2902020 ends completed",
      ])
  }

  @Test("With one, submitted at the start, the chain continues by itself")
  func chainGoesOn() {
    #expect(
      chain(nil, .atStart).story(of: 0, only: "begins", "killed", "ends") == [
        "900000 begins refresh", "928000 ends expired", "1800000 begins refresh",
        "1804340 ends completed", "2000000 begins activation", "2002020 ends completed",
        "2700000 begins refresh", "2702020 ends completed",
      ])
  }
}
