import FedSim
import Learning
import Schema
import Testing

@Suite("Conditions that gate a start")
struct ConditionTests {
  // MARK: The app

  /// 36 kJ, half full; nothing is drawn but for what a test says.
  private static func battery(_ change: (inout BatterySettings) -> Void = { _ in })
    -> BatterySettings
  {
    var battery = BatterySettings()
    battery.capacity = .milliwattHours(10_000)
    battery.initialLevel = 0.5
    battery.idle = Power(milliwatts: 0)
    battery.lowPowerAcceptance = 0
    change(&battery)
    return battery
  }

  /// Heat that nothing sheds: serious from 2 J on.
  private static var heat: ThermalSettings {
    var thermal = ThermalSettings()
    thermal.cooling = Power(milliwatts: 0)
    thermal.chargingLoss = 0
    thermal.fair = Energy(nanojoules: 1_000_000_000)
    thermal.serious = Energy(nanojoules: 2_000_000_000)
    thermal.critical = Energy(nanojoules: 900_000_000_000_000)
    return thermal
  }

  /// A phone whose app asks for everything that can hold at once, and has it at 60 s.
  private static func phone(_ change: (inout FleetGroupSettings) -> Void) -> FleetGroupSettings {
    .group(windows: [[60_000, 120_000, 125_000]]) {
      $0.battery = battery()
      $0.thermal = heat
      // Training and the radio heat, so they draw nothing here.
      $0.battery!.training = Power(milliwatts: 0)
      $0.battery!.wifi = Power(milliwatts: 0)
      $0.battery!.cellular = Power(milliwatts: 0)
      $0.battery!.screen = Power(milliwatts: 0)
      $0.participation.avoidsLowPower = true
      $0.participation.avoidsHeat = true
      $0.participation.externalPower = true
      $0.participation.chargingOnly = true
      $0.participation.minimumBattery = 20
      $0.participation.network = .unmetered
      $0.participation.idle = true
      change(&$0)
    }
  }

  /// A phone that lacks one condition at 60 s, and nothing else that its app asks for.
  private static let lacking: [(Condition, @Sendable (inout FleetGroupSettings) -> Void)] = [
    (
      .normalPower,
      {
        // 180 J above 20 %: at 6 W they are gone at 30 s, and low-power mode is on. The charger
        // comes at 40 s, and 80 % is far.
        $0.battery!.initialLevel = 0.205
        $0.battery!.idle = Power(milliwatts: 6_000)
        $0.battery!.lowPowerAcceptance = 1
        $0.thermal = nil
        $0.participation.minimumBattery = nil
        $0.power = .states("plugged", in: [40_000...200_000], otherwise: "unplugged")
      }
    ),
    // 6 J in the first second.
    (.cool, { $0.battery!.idle = Power(milliwatts: 6_000) }),
    (.charging, { $0.power = .always("unplugged") }),
    (.filling, { $0.battery!.initialLevel = 1 }),
    (
      .battery,
      {
        $0.power = .always("unplugged")
        $0.battery!.initialLevel = 0.1
        $0.participation.externalPower = false
      }
    ),
    (
      .wifi,
      {
        $0.link = .always("cellular")
        $0.participation.network = .wifi
      }
    ),
    (.unmetered, { $0.link = .always("cellular") }),
    (.idle, { $0.usage = .states("active", in: [55_000...200_000], otherwise: "locked") }),
    (
      .allowance,
      {
        $0.link = .always("cellular")
        $0.participation.network = .any
        $0.participation.cellularBytesPerDay = 0
      }
    ),
  ]

  @Test("A device that lacks nothing is not refused")
  func lacksNothing() {
    let played = Scene(fleet: [Self.phone { _ in }]).play()
    #expect(played.simulation.books.tallies.ineligibleSessions == 0)
    #expect(
      played.story(of: 0, only: "begins", "ends") == [
        "60000 begins window", "70660 ends completed",
      ])
  }

  @Test("A device that lacks one condition is refused for it, and no view names another")
  func refused() throws {
    let asked = Condition.allCases.filter { $0.refusal != nil }
    #expect(Self.lacking.map(\.0) == asked, "each has its scene")
    for (condition, change) in Self.lacking {
      let phone = Self.phone(change)
      var scene = Scene(fleet: [phone])
      scene.inputs.stop.after = .seconds(61)
      let played = scene.play()
      #expect(
        played.story(of: 0, only: "begins", "ends") == [
          "60000 begins window", "60000 ends ineligible",
        ], "\(condition)")
      for word in Condition.refusals(in: [phone]) {
        let expected = word == condition.refusal ? 1 : 0
        let refusals = played.simulation.books.tallies.ineligible
        #expect(Condition.count(of: word, in: refusals) == expected, "\(condition): \(word)")
      }
      // `explain` asks the same list, with what is seen from outside.
      let view = DeviceView(0, in: played.simulation)
      #expect(view.unmet(at: ms(60_000), of: phone) == [condition])
    }
  }

  @Test("A session whose condition is lost ends at that change")
  func lost() {
    // The window opens at 60 s and is looked at as the app begins; training begins at 64.340. At
    // 65.840 something changes, one batch being done.
    let unplugs: @Sendable (inout FleetGroupSettings) -> Void = {
      $0.power = .states("plugged", in: [0...65_840], otherwise: "unplugged")
    }
    let changes: [(Condition, @Sendable (inout FleetGroupSettings) -> Void)] = [
      (.charging, unplugs),
      // Below 20 % all the time, which matters once the charger is gone.
      (
        .battery,
        {
          unplugs(&$0)
          $0.participation.externalPower = false
          $0.battery!.initialLevel = 0.1
        }
      ),
      (
        .wifi,
        {
          $0.link = .states("cellular", in: [65_840...200_000], otherwise: "wifi")
          $0.participation.network = .wifi
        }
      ),
      (
        .unmetered,
        { $0.link = .states("cellular", in: [65_840...200_000], otherwise: "wifi") }
      ),
      (.idle, { $0.usage = .states("active", in: [65_840...200_000], otherwise: "locked") }),
      (
        .allowance,
        {
          $0.link = .states("cellular", in: [65_840...200_000], otherwise: "wifi")
          $0.participation.network = .any
          $0.participation.cellularBytesPerDay = 0
        }
      ),
      // Near full the battery takes 1 W, an eighth of the charger's, and 65.84 J are missing.
      (
        .filling,
        {
          $0.battery!.charger = Power(milliwatts: 8_000)
          $0.battery!.initialLevel = 1 - 65.840 / 36_000
        }
      ),
      // 1 W from the start: serious, at 2 J, would come too early; so it is at 65.84 J.
      (
        .cool,
        {
          $0.battery!.idle = Power(milliwatts: 1_000)
          $0.thermal!.serious = Energy(nanojoules: 65_840_000_000)
        }
      ),
    ]
    // Low-power mode has its own scene below.
    let asked = Condition.allCases.filter { $0.refusal != nil && $0 != .normalPower }
    #expect(Set(changes.map(\.0)) == Set(asked), "each has its change")
    for (condition, change) in changes {
      let phone = Self.phone {
        $0.interruption.onConditionsLost = .abort
        change(&$0)
      }
      let played = Scene(fleet: [phone]).play()
      #expect(
        played.story(of: 0, only: "begins", "ends") == [
          "60000 begins window", "65840 ends conditionsLost",
        ], "\(condition)")
    }
    // Low-power mode needs a battery that runs down: 180 J above 20 %, 3 W from 5.840 s on.
    let saving = Self.phone {
      $0.interruption.onConditionsLost = .abort
      $0.thermal = nil
      $0.participation.externalPower = false
      $0.participation.minimumBattery = nil
      $0.battery!.initialLevel = 0.205
      $0.battery!.idle = Power(milliwatts: 3_000)
      $0.battery!.charger = Power(milliwatts: 3_000)
      $0.battery!.lowPowerAcceptance = 1
      $0.power = .states("plugged", in: [0...5_840], otherwise: "unplugged")
    }
    // Below 20 % is a microsecond later than at 20 %.
    #expect(
      Scene(fleet: [saving]).play().story(of: 0, only: "begins", "ends") == [
        "60000 begins window", "65840.001 ends conditionsLost",
      ])
  }

  // MARK: The system

  /// A phone that lacks one condition of its task until a moment, in milliseconds; `first` tasks
  /// start before.
  private struct Wait {
    let condition: Condition
    var first: [String] = []
    let start: String
    /// When it is looked at, and lacks it.
    var at: Int64 = 150_000
    var play: @Sendable () -> Scene
  }

  private static func wait(
    _ condition: Condition, start: String, first: [String] = [], at: Int64 = 150_000,
    _ make: @escaping @Sendable (inout Phone) -> Void,
    then: @escaping @Sendable (inout Scene) -> Void = { _ in }
  ) -> Wait {
    Wait(condition: condition, first: first, start: start, at: at) {
      var phone = Phone()
      phone.stop = .seconds(10_000)
      phone.group.battery = battery { $0.training = Power(milliwatts: 0) }
      make(&phone)
      var scene = phone.scene()
      then(&scene)
      return scene
    }
  }

  /// Idle, and so ready to start, from 100 s on.
  private static let waits: [Wait] = [
    // Empty after 50 s; the charger comes at 200 s. 3 % are 1,080 J, 108 s at 10 W; booting takes
    // 60 s, and it is locked from then on: idle at 468 s.
    wait(.on, start: "468000") {
      $0.group.battery!.initialLevel = 0.01
      $0.group.battery!.idle = Power(milliwatts: 7_200)
      $0.group.power = .states("plugged", in: [200_000...9_000_000], otherwise: "unplugged")
    },
    wait(.energy, start: "200000") {
      $0.group.battery!.initialLevel = 0.1
      $0.group.power = .states("plugged", in: [200_000...9_000_000], otherwise: "unplugged")
    },
    // The screen heats by 4 W, of which 1 W is shed: 180 J at 60 s, where it is locked, and 1 J a
    // second less from then on: 40 J, from which it is serious, at 200 s.
    wait(.cool, start: "200000.001", at: 180_000) {
      $0.group.usage = .states("active", in: [0...60_000], otherwise: "locked")
      $0.group.battery!.screen = Power(milliwatts: 4_000)
      var thermal = heat
      thermal.cooling = Power(milliwatts: 1_000)
      thermal.serious = Energy(nanojoules: 40_000_000_000)
      $0.group.thermal = thermal
    },
    wait(.charging, start: "200000") {
      $0.processing.requiresExternalPower = true
      $0.group.power = .states("plugged", in: [200_000...9_000_000], otherwise: "unplugged")
    },
    wait(.online, start: "200000") {
      $0.processing.requiresNetworkConnectivity = true
      $0.group.link = .states("offline", in: [0...200_000], otherwise: "wifi")
    },
    wait(.unmetered, start: "200000") {
      $0.processing.requiresUnmetered = true
      $0.group.link = .states("cellular", in: [0...200_000], otherwise: "wifi")
    },
    wait(.allowance, start: "200000") {
      $0.group.participation.cellularBytesPerDay = 0
      $0.group.link = .states("cellular", in: [0...200_000], otherwise: "wifi")
    },
    // Locked at 60 s, idle 140 s later: nothing happens then but its own look.
    wait(.idle, start: "200000") {
      $0.processing.idleDwell = .seconds(140)
      $0.group.usage = .states("active", in: [0...60_000], otherwise: "locked")
    },
    // The first task uses its request up; the next is asked for by script.
    wait(.request, start: "2000000", first: ["100000"], at: 1_500_000) {
      $0.processing.resubmit = .never
    } then: {
      $0.submit("processing", at: 2_000_000)
    },
    wait(.due, start: "1000000") { $0.processing.earliestBegin = .seconds(1000) },
    wait(.refreshOn, start: "200000") {
      // Taken while it was on, at the start.
      $0.system.backgroundRefresh = .states("off", in: [50_000...200_000], otherwise: "on")
    },
    // Opened at 200 s: the poll asks and downloads, for 4.340 s in all.
    wait(.used, start: "204340") {
      $0.system.useLimit = .seconds(80)
    } then: {
      $0.inject(.open, "phones/0", at: 200_000)
    },
    wait(.notSwiped, start: "204340") { _ in
    } then: {
      $0.inject(.forceQuit, "phones/0", at: 50_000)
      $0.inject(.open, "phones/0", at: 200_000)
    },
    // 10 s a day, of which the first task takes 10.660; 10/24 s come back each hour: 0.66 s are
    // there again, and more, after two.
    wait(.runTime, start: "7200000", first: ["100000"], at: 1_000_000) {
      $0.system.dailyRunTime = .seconds(10)
    },
    // One task in 4000 s from the first one's start on.
    wait(.startsLeft, start: "4100000", first: ["100000"], at: 1_000_000) {
      $0.system.processingStarts = TaskStartSettings()
      $0.system.processingStarts!.within = [QuantilePoint(at: 0, .seconds(4000))]
    },
  ]

  @Test("The system starts a task as soon as the one condition that it lacked holds")
  func wakes() throws {
    let asked = Condition.allCases.filter { $0 != .window && !$0.isAskedByAppAlone }
    #expect(Set(Self.waits.map(\.condition)) == Set(asked), "each has its scene")
    for wait in Self.waits {
      let played = wait.play().play()
      let begun = played.story(of: 0, only: "begins task").prefix(wait.first.count + 1)
      #expect(
        begun.map { $0.replacing(" begins task", with: "") } == wait.first + [wait.start],
        "\(wait.condition)")
      // Before that `explain` finds it, and it alone, missing.
      var before = wait.play()
      before.inputs.stop.after = SimDuration(microseconds: 1000 * wait.at)
      let simulation = before.play().simulation
      let group = before.inputs.fleet[0]
      let needed = Conditions(askedBy: .processing, of: group)
      let held = DeviceView(0, in: simulation).held(at: ms(wait.at), of: needed)
      let missing = Condition.allCases.filter { needed.contains($0) && !held.contains($0) }
      let implied: [Condition] =
        switch wait.condition {
        // Off, it is offline.
        case .on: [.on, .energy, .online]
        case .request: [.request, .due]
        default: [wait.condition]
        }
      #expect(missing == implied)
    }
  }

  // MARK: Words

  @Test("Each condition has its own words in every report")
  func words() {
    let held = Condition.allCases.map(\.words.held)
    #expect(Set(held).count == held.count)
    let lacking = Condition.allCases.map(\.words.lacking)
    #expect(Set(lacking).count == lacking.count)
    for condition in Condition.allCases {
      #expect(!condition.words.never.isEmpty && condition.words.lacking != condition.words.held)
    }
    #expect(
      Condition.refusals(in: []) == ["lowPower", "heat", "power", "battery", "network", "use"])
  }

  @Test("A set of conditions holds them in the order of looking, and of reports")
  func sets() {
    let set: Conditions = [.due, .idle, .charging]
    #expect(set.count == 3 && set.contains(.due) && !set.contains(.online))
    #expect(set.inReports == [.idle, .charging, .due])
    #expect(Set(Conditions(Condition.allCases).inReports) == Set(Condition.allCases))
    #expect(set.isSuperset(of: [.due]) && !set.isSuperset(of: [.due, .online]))
    #expect(set.union([.online]).count == 4 && Conditions([]).isEmpty)
  }
}

extension Condition {
  /// Whether no task of the system asks for it.
  fileprivate var isAskedByAppAlone: Bool {
    [.normalPower, .filling, .battery, .wifi].contains(self)
  }
}
