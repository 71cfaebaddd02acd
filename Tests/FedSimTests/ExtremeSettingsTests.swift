import FedSim
import Schema
import Testing

@Suite("Settings at the ends of what may be written")
struct ExtremeSettingsTests {
  @Test("A rate that its spread takes beyond the largest that there is, is the largest")
  func rates() {
    // Any transfer takes the least time there is, 1 µs. The check is at the server at 10.001 ms,
    // its answer there at 20.002, the download asked for at 20.003, the model there at 40.004; four
    // batches later the update begins at 4,040.004, is sent at 4,040.005, and there 10 ms later.
    let scene = Scene(fleet: [
      .group(count: 8, windows: [[0, 45_000, 50_000]]) {
        $0.network.wifi.down = BitRate(bitsPerSecond: 9_000_000_000_000_000_000)
        $0.network.wifi.up = $0.network.wifi.down
        $0.network.spread = 2
      }
    ])
    let played = scene.play()
    for device in 0..<8 {
      #expect(
        played.story(of: device, only: "arrives").first == "4050.005 arrives \(device)")
    }
  }

  @Test("A clock is out by a hundred years at most, whatever the spread")
  func clocks() {
    // Tokens are asked for before the check: 1.010 there, 1.020 back, 1 s for the answer.
    let scene = Scene(fleet: [
      .group(count: 8, windows: [[0, 45_000, 50_000]]) {
        $0.authentication = AuthenticationSettings()
        $0.clock = ClockSettings()
        $0.clock!.skewSpread = .days(100_000_000)
      }
    ])
    let played = scene.play()
    for device in 0..<8 {
      #expect(played.story(of: device, only: "identity").first == "2020 identity bootstrapped")
    }
  }

  @Test("Two states that follow one another are each the first as often as their means say")
  func weights() {
    // With two states the next one is certain, so weights say nothing, and equal means make each
    // the first for half of the devices: 200 of 400, give or take 10 (one standard deviation).
    for weights in [(1.0, 1.0), (1, 1e-12), (1, 1e-30), (1e30, 1e-30), (1e-30, 1e-30)] {
      let source = markov([
        ("wifi", .hours(1), weights.0), ("offline", .hours(1), weights.1),
      ])
      let first = (0..<400).count { device in
        var timeline = source.timeline(context(.link, ordinal: UInt32(device)))
        return timeline.state(at: .start) == StateSpace.link.number(of: "wifi")
      }
      #expect((140...260).contains(first), "\(weights): \(first)")
    }
  }
}
