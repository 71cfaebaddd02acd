import FedSim
import Learning
import Numerics
import Schema
import Testing

/// Runs against closed forms. Every bound is four standard errors of what is measured, worked out
/// from the same theory; the seeds are fixed, so a test gives one answer for ever.
@Suite("Theory")
struct TheoryTests {
  /// Two states that take turns, each for an exponential time.
  private func turns(
    _ first: (String, SimDuration), _ second: (String, SimDuration)
  ) -> Choice<any TimelineSource> {
    var settings = MarkovSource.Settings()
    settings.states = [first, second].map { name, mean in
      var state = MarkovSource.State()
      (state.state, state.mean) = (StateName(name), mean)
      return state
    }
    return Choice(MarkovSource.self, settings) { $0 }
  }

  private func mean(_ values: [Double]) -> Double {
    values.reduce(0, +) / Double(max(1, values.count))
  }

  @Test("On-off availability: the share of time online is mean on/(mean on + mean off)")
  func onOff() {
    // On 3 h, off 1 h: p = 3/4, and correlations die out with τ = 1/(1/3 + 1) = 3/4 h. Over
    // T = 720 h a device's share has variance 2pqτ/T·(1 − τ/T) = 3.902e-4, so the mean of 300
    // devices has standard error √(3.902e-4/300) = 1.140e-3. It changes 2·720/4 = 360 times, with
    // a variance below that of a Poisson number: standard error at most √(360/300) = 1.095.
    let source = turns(("wifi", .hours(3)), ("offline", .hours(1))).value
    let end = SimTime(microseconds: 720 * 3_600_000_000)
    var shares: [Double] = []
    var changes: [Double] = []
    for ordinal in UInt32(0)..<300 {
      var series = source.timeline(context(.link, seed: 5, ordinal: ordinal))
      var (time, state, online, count) = (SimTime.start, series.state(at: .start), Int64(0), 0.0)
      while let next = series.next(after: time, before: end) {
        if state != 0 { online += (next.time - time).microseconds }
        (time, state, count) = (next.time, next.state, count + 1)
      }
      if state != 0 { online += (end - time).microseconds }
      shares.append(Double(online) / Double(end.microseconds))
      changes.append(count)
    }
    #expect(abs(mean(shares) - 0.75) < 4 * 1.140e-3)
    #expect(abs(mean(changes) - 360) < 4 * 1.095)
  }

  @Test("On-off availability in a run: who begins offline waits an exponential time")
  func waiting() {
    // On 10 h, off 2 h. Who begins online, 5/6 of the devices, is accepted 2.020 s later unless the
    // link goes before: with 4,000 devices a share of 5/6·e^(-2.02/36000) = 0.83329, standard error
    // √(0.8333·0.1667/4000) = 5.893e-3. The others wait 2 h on average, and so does the spread.
    var scene = Scene(
      .tiny(samples: [Int](repeating: 1, count: 4000)),
      fleet: [
        .group(count: 4000, windows: [[0, 86_400_000_000, 86_400_000_000]]) {
          $0.link = turns(("wifi", .hours(10)), ("offline", .hours(2)))
          $0.compute.perBatch = .hours(1000)
        }
      ])
    scene.inputs.stop.after = .hours(100)
    let tape = Tape(audits: false)
    var simulation = Simulation(scene.inputs)
    simulation.run(observers: [tape])
    var first: [Int: Double] = [:]
    for event in tape.observed {
      guard case .accepted = event.kind, first[event.device] == nil else { continue }
      first[event.device] = Double(event.time.microseconds) / 1e6 - 2.020
    }
    #expect(first.count == 4000)
    let waits = (0..<4000).compactMap { first[$0] }
    let atOnce = waits.count { $0 == 0 }
    #expect(abs(Double(atOnce) / 4000 - 0.83329) < 4 * 5.893e-3)
    let others = waits.filter { $0 > 0 }
    let error = 7200 / Double(others.count).squareRoot()
    #expect(abs(mean(others) - 7200) < 4 * error)
  }

  @Test("Transfers over a rate that comes and goes take as long as the closed form says")
  func transfers() {
    // The link carries 1,000 bytes a second for 20 s on average and carries nothing for 10 s. An
    // update of 6·10,000 + 1,000 bytes needs 61 s of the former. Begun at any time, it waits for a
    // first good stretch with probability q = 1/3, then meets Poisson(61/20 = 3.05) bad ones:
    //     mean      61 + 10·(1/3 + 3.05) = 94.833 s
    //     variance  2·100·(1/3 + 3.05) − (10/3)² = 665.6 s², standard error of 1,000: 0.8158 s
    //     61 s without a stop: 2/3·e^(-3.05) = 0.031573 of them, standard error 5.530e-3
    // Training takes 40 minutes, so where the link was at the download is long forgotten.
    var scene = Scene(
      .tiny(samples: [Int](repeating: 4, count: 1000)),
      fleet: [
        .group(count: 1000, windows: [[0, 80_000_000, 80_000_000]]) {
          $0.network.share = turns(("100", .seconds(20)), ("0", .seconds(10)))
          $0.compute.perBatch = .minutes(10)
          $0.participation.retrain = .newVersions
        }
      ])
    scene.inputs.server.bytesPerParameter = 10_000
    scene.threshold(2000)
    scene.inputs.stop.after = .hours(10)
    let tape = Tape(audits: false)
    var simulation = Simulation(scene.inputs)
    simulation.run(observers: [tape])
    var begun = [Double](repeating: 0, count: 1000)
    var times: [Double] = []
    for event in tape.observed {
      let time = Double(event.time.microseconds) / 1e6
      if case .uploadBegan = event.kind { begun[event.device] = time }
      if case .arrived = event.kind { times.append(time - begun[event.device] - 0.010) }
    }
    #expect(times.count == 1000)
    #expect(abs(mean(times) - 94.833) < 4 * 0.8158)
    let straight = times.count { $0 < 61.000_001 }
    #expect(abs(Double(straight) / 1000 - 0.031573) < 4 * 5.530e-3)
    #expect(times.allSatisfy { $0 > 60.999_999 })
  }
}

@Suite("The ambiguous upload")
struct AmbiguousUploadTests {
  @Test(
    "E11: What an update that came twice does to the model, worked out by hand",
    arguments: [(Duplicates.replace, 1.0), (.ignore, 1), (.overwrite, 1), (.append, 2)])
  func effect(duplicates: Duplicates, copies: Double) {
    // One sample each, zero weights, rate 1/2: the softmax is 1/2, so a step is ±x/4.
    //   phones/0: x = (-1, -3/8), class 0: w = (-1/4, +1/4), (-3/32, +3/32), b = (+1/4, -1/4)
    //   other/0:  x = (1/4, 7/8), class 1: w = (-1/16, +1/16), (-7/32, +7/32), b = (-1/4, +1/4)
    // The first one's upload begins at 5.340 and is at the server at 6.650; at 6.655 the link is
    // gone, before the answer begins at 6.660. It comes again from 20 s on. Counted once the mean
    // is (A + B)/2, counted twice (2A + B)/3.
    var scene = Scene(
      .tiny(samples: [1, 1]),
      fleet: [
        .group(windows: [[0, 100_000, 105_000]]) {
          $0.link = .states("offline", in: [6_655...20_000], otherwise: "wifi")
          $0.participation.retrain = .newVersions
        },
        .group("other", windows: [[50_000, 100_000, 105_000]]),
      ])
    scene.inputs.server.duplicates = duplicates
    scene.threshold(Int(copies) + 1)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "arrives", "fails")
        == ["6650 arrives 0", "6655 fails 0 unacknowledged", "21310 arrives 0"])
    let first: [Double] = [-8, 8, -3, 3, 8, -8].map { $0 / 32 }
    let second: [Double] = [-2, 2, -7, 7, -8, 8].map { $0 / 32 }
    let expected = zip(first, second).map { (copies * $0 + $1) / (copies + 1) }
    let found = played.model(1).map(Double.init)
    #expect(found.count == 6)
    #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 1e-7 }, "\(found)")
    // By hand, for who reads this: counted once, both classes' biases cancel.
    if copies == 1 { #expect(found[4] == 0 && found[0] == -0.15625) }
    if copies == 2 { #expect(abs(found[4] - 1.0 / 12) < 1e-7 && abs(found[0] + 0.1875) < 1e-7) }
  }
}
