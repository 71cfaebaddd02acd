import FedSim
import Learning
import Schema
import Testing

private let joule: Int64 = 1_000_000_000

@Suite("Start delays, continued tasks that cannot run, and critical heat")
struct SystemDelayTests {
  @Test("a start is as late as the quantiles say, and the conditions are looked at again")
  func startDelay() {
    func begins(active: [ClosedRange<Int64>]) -> [String] {
      Phone.scene {
        $0.processing.startDelays = [
          QuantilePoint(at: 0, .seconds(10)), QuantilePoint(at: 1, .seconds(10)),
        ]
        $0.system.endsOnUse = true
        $0.processing.resubmit = .never
        $0.group.usage = .states("active", in: active, otherwise: "locked")
      }.play().story(of: 0, only: "begins task")
    }
    #expect(begins(active: []) == ["110000 begins task"])
    // Eligible at 100, taken up at 105: not at 110; locked at 200, idle at 300.
    #expect(begins(active: [105_000...200_000]) == ["310000 begins task"])
  }

  @Test("half of the starts come before the median of a table")
  func median() {
    var group = FleetGroupSettings.group(count: 400)
    group.background.processing = ProcessingSettings()
    group.background.processing!.idleDwell = .zero
    group.background.processing!.resubmit = .never
    group.background.processing!.startDelays = [
      QuantilePoint(at: 0, .zero), QuantilePoint(at: 0.5, .seconds(60)),
      QuantilePoint(at: 1, .hours(2)),
    ]
    let scene = Scene(fleet: [group])
    let tape = Tape(audits: false)
    var simulation = Simulation(scene.inputs)
    simulation.run(observers: [tape])
    let starts = tape.observed.filter { $0.kind == .sessionBegan(.task) }.map(\.time)
    #expect(starts.count == 400)
    // 200 expected, with a standard deviation of 10.
    #expect(abs(starts.count { $0 <= ms(60_000) } - 200) < 40)
    #expect(starts.max()! > ms(3_600_000) && starts.max()! <= ms(7_200_000))
  }

  /// A phone whose user starts a training at 10 s, with 150 of 1,000 J until its charger comes at
  /// 500 s.
  private func continued(_ strategy: ContinuedSettings.Strategy?) -> Scene {
    var group = FleetGroupSettings.group()
    group.background.continued = ContinuedSettings()
    group.background.continued!.strategy = strategy
    group.participation.retrain = .newVersions
    group.power = .states("plugged", in: [500_000...10_000_000], otherwise: "unplugged")
    var battery = BatterySettings()
    battery.capacity = Energy(nanojoules: 1000 * joule)
    battery.initialLevel = 0.15
    battery.lowPowerAcceptance = 0
    battery.idle = Power(milliwatts: 0)
    group.battery = battery
    var scene = Scene(fleet: [group])
    scene.inject(.open, "phones/0", at: 10_000)
    return scene
  }

  @Test("error 4: a continued task that may not wait and cannot run at once")
  func fails() {
    let played = continued(.fail).play()
    #expect(
      played.story(of: 0, only: "submits", "begins") == [
        "10000 submits continued: 4", "10000 begins activation",
      ])
    #expect(played.simulation.books.tallies.refusedRequests == 1)
    #expect(SubmitError.immediateRunIneligible.rawValue == 4)
  }

  @Test("a continued task that may wait begins when the system is at ease, unless swiped away")
  func queues() {
    #expect(
      continued(.queue).play().story(of: 0, only: "submits", "begins") == [
        "10000 submits continued", "10000 begins activation", "500000 begins continued",
      ])
    var swiped = continued(.queue)
    swiped.inject(.forceQuit, "phones/0", at: 100_000)
    #expect(
      swiped.play().story(of: 0, only: "begins") == ["10000 begins activation"])
    #expect(continued(nil).play().story(of: 0, only: "begins") == ["10000 begins continued"])
  }

  @Test("critical heat expires a running task, where the settings say so")
  func critical() {
    func story(_ stops: Bool?) -> [String] {
      Phone.scene {
        $0.processing.resubmit = .never
        var battery = BatterySettings()
        battery.capacity = Energy(nanojoules: 100_000 * joule)
        for part in [\BatterySettings.idle, \.screen, \.wifi, \.cellular] {
          battery[keyPath: part] = Power(milliwatts: 0)
        }
        battery.training = Power(milliwatts: 4000)
        battery.charger = Power(milliwatts: 0)
        $0.group.battery = battery
        var thermal = ThermalSettings()
        thermal.cooling = Power(milliwatts: 0)
        thermal.fair = Energy(nanojoules: joule)
        thermal.serious = Energy(nanojoules: 2 * joule)
        thermal.critical = Energy(nanojoules: 3 * joule)
        thermal.criticalStops = stops
        $0.group.thermal = thermal
      }.play().story(of: 0, only: "is", "attempt", "ends")
    }
    // From 104.340 on at 4 W: 2 J at 104.840; then half as fast at 2 W: 3 J at 105.340. Three
    // quarters of batch 1 are done then; it ends at 105.840, within the grace.
    #expect(
      story(true) == [
        "104590 is fair", "104840 is serious", "105340 is critical",
        "105840 attempt discardedAtExpiry 1", "105840 ends expired",
      ])
    // Else it continues: 3.5 batches at half speed from 104.840.
    #expect(
      story(nil).suffix(2) == ["111840 attempt finished 4", "114160 ends completed"])
  }
}
