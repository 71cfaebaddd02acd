import FedSim
import Learning
import Schema
import Testing

private let minute: Int64 = 60_000

@Suite("What devices were doing by hour")
struct FleetHoursTests {
  private func seconds(
    _ simulation: Simulation, _ hour: Int, _ column: FleetHours.Column, group: Int = 0
  ) -> Double {
    Double(simulation.books.hours[hour, group, column]) / 1e6
  }

  @Test("Power, link and use by hour, and what holds at once")
  func states() {
    // Plugged in from 30 to 90 min, in use from 60 to 75, on Wi-Fi until 45 and on a cellular
    // network then. Both hours are 3,600 s.
    var scene = Scene(
      fleet: [
        .group {
          $0.power = .states("plugged", in: [30 * minute...90 * minute], otherwise: "unplugged")
          $0.usage = .states("active", in: [60 * minute...75 * minute], otherwise: "locked")
          $0.link = .states("wifi", in: [0...45 * minute], otherwise: "cellular")
        }
      ])
    scene.inputs.stop.after = .hours(2)
    let simulation = scene.play().simulation
    let rows: [(FleetHours.Column, [Double])] = [
      (.present, [3600, 3600]), (.wifi, [2700, 0]), (.cellular, [900, 3600]),
      (.plugged, [1800, 1800]), (.idle, [3600, 2700]), (.pluggedIdleOnline, [1800, 900]),
      (.pluggedIdleWifi, [900, 0]), (.training, [0, 0]), (.trainingOfAll, [0, 0]),
    ]
    for (column, expected) in rows {
      #expect((0..<2).map { seconds(simulation, $0, column) } == expected, "\(column)")
    }
    #expect(simulation.books.hours.sampled == [1])
  }

  @Test("A training that continues over the hour counts in both")
  func training() {
    // The session begins at 3,595; batch 1 at 3,599.340; the fourth ends at 3,603.340.
    var scene = Scene(fleet: [.group(windows: [[3_595_000, 3_700_000, 3_701_000]])])
    scene.threshold(1)
    scene.inputs.fleet[0].participation.retrain = .newVersions
    scene.inputs.stop.after = .hours(2)
    let simulation = scene.play().simulation
    #expect(seconds(simulation, 0, .training) == 0.66)
    #expect(seconds(simulation, 1, .training) == 3.34)
    #expect(seconds(simulation, 0, .trainingOfAll) == 0.66)
    #expect(seconds(simulation, 1, .trainingOfAll) == 3.34)
  }

  @Test("Of large fleets a thousand devices are looked at, evenly spaced")
  func sample() {
    // 2,500 devices: every second or third one, 800 of the first 2,000 and 200 of the others.
    var scene = Scene(fleet: [.group("a", count: 2000), .group("b", count: 500)])
    scene.inputs.stop.after = .seconds(10)
    var simulation = Simulation(scene.inputs)
    simulation.run()
    #expect(simulation.books.hours.sampled == [800, 200])
    #expect(seconds(simulation, 0, .present, group: 0) == 8000)
    #expect(seconds(simulation, 0, .present, group: 1) == 2000)
  }

  @Test("Without them nothing is looked at")
  func off() {
    var scene = Scene(fleet: [.group()])
    scene.inputs.record.fleetHours = false
    #expect(!scene.play().simulation.books.hours.isOn)
  }

  @Test("A device that is off or away is neither online nor idle")
  func death() {
    // 100 J, drained at 1 W, are gone after 100 s. Its link, power and use stay as they are.
    var battery = BatterySettings()
    battery.capacity = Energy(nanojoules: 200_000_000_000)
    battery.initialLevel = 0.5
    battery.idle = Power(milliwatts: 1000)
    battery.lowPowerAcceptance = 0
    var scene = Scene(
      fleet: [
        .group {
          $0.battery = battery
          $0.power = .states("plugged", in: [2_000_000...3_000_000], otherwise: "unplugged")
        }
      ])
    scene.inputs.stop.after = .seconds(1000)
    let simulation = scene.play().simulation
    #expect(seconds(simulation, 0, .wifi) == 100)
    #expect(seconds(simulation, 0, .idle) == 100)
    #expect(seconds(simulation, 0, .present) == 1000)
  }

  @Test("In random worlds the hours are those of the exogenous series", arguments: 1...12)
  func recount(seed: Int) {
    var world = RandomWorld(seed: UInt64(seed))
    var inputs = world.scene().inputs
    inputs.injections = []
    for place in inputs.fleet.indices {
      inputs.fleet[place].presence = nil
      inputs.fleet[place].battery = nil
      inputs.fleet[place].thermal = nil
    }
    var simulation = Simulation(inputs)
    simulation.run()
    let hour: Int64 = 3_600_000_000
    for (group, settings) in inputs.fleet.enumerated() {
      var found = [Int64](repeating: 0, count: 9)
      for ordinal in 0..<settings.count {
        for (series, states) in [
          (Series.power, [0, 1]), (.link, [2, 3]), (.usage, [4, 5]),
        ] {
          var timeline = inputs.timeline(series, group: group, ordinal: ordinal)!
          var time = SimTime.start
          while time < simulation.now {
            let state = Int(timeline.state(at: time))
            let next = timeline.next(after: time, before: simulation.end)?.time ?? .never
            let end = min(next, simulation.now)
            if state < 2 {
              found[states[state]] += (end - time).microseconds
            } else {
              found[6] += (end - time).microseconds
            }
            time = end
          }
        }
      }
      func total(_ column: FleetHours.Column) -> Int64 {
        let hours = Int((simulation.now.microseconds + hour - 1) / hour)
        return (0..<hours).reduce(0) { $0 + simulation.books.hours[$1, group, column] }
      }
      #expect(total(.plugged) == found[1])
      #expect(total(.cellular) == found[3])
      #expect(total(.wifi) == found[6])
      #expect(total(.idle) == found[4])
    }
  }
}
