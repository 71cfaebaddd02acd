import FedSim
import Learning
import Numerics
import Schema
import Testing

/// Each device of a group has one window to itself.
private struct OneWindow: TimelineSource {
  static let name = "one-window"
  static let summary = "One window a device"
  typealias Settings = NoSettings
  private let times: [SimTime]

  init(_ settings: NoSettings) { times = [] }
  init(_ times: [SimTime]) { self.times = times }

  func timeline(_ context: TimelineContext) -> any Timeline {
    var stretch = FixedSource.Stretch()
    stretch.from = times[Int(context.key.ordinal)]
    stretch.to = stretch.from + .hours(1)
    var settings = FixedSource.Settings()
    settings.intervals = [stretch]
    return FixedSource(settings).timeline(context)
  }
}

/// Nobody may train: so each session sends one request.
private struct NobodySelector: AdmittingSelector {
  static let name = "nobody"
  static let summary = "Nobody may train"
  init(_ settings: NoSettings) {}
  func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout NoMemory
  ) -> Admission { .reject }
}

/// Requests that come at random against queueing theory: one worker, a mean service time of 1 s, a
/// request every 2 s on average, so the worker is busy half of the time (ρ = 1/2, λ = 1/2).
///
/// Waits follow one another and are not independent. With W' = (W + S − T)⁺ and T exponential, the
/// function h(w) = a(w² + 2w/λ), a = λ/(2(1 − ρ)), has h − E[h(W') | W = w] = w − E W, so the mean
/// of n waits has variance σ²/n, σ² = E[2(W − E W)·h(W)] − Var W, which is
///     σ² = 2a(E W³ − E W·E W²) + Var W·(2/(1 − ρ) − 1).
/// A request that does not wait begins a new busy period. The number N of requests of one has mean
/// 1/(1 − ρ) and variance (ρ(1 − ρ) + λ²E S²)/(1 − ρ)³, and so the share of those who do not wait
/// has mean 1 − ρ and variance Var N·(1 − ρ)³/n = (ρ(1 − ρ) + λ²E S²)/n.
@Suite("Theory of queues")
struct ServiceTheoryTests {
  private let count = 20_000

  /// Waits and service times in seconds, in the order of coming, from the times at which requests
  /// came and were handled alone.
  private func play(
    _ distribution: ServiceSettings.Distribution
  ) -> (waits: [Double], services: [Double]) {
    var time = 0.0
    let key = StreamKey(seed: 11, purpose: "arrivals")
    let times = (0..<count).map { number in
      var stream = key.stream(slot: UInt64(number))
      time += stream.exponential(mean: 2)
      return SimTime(microseconds: Int64(time * 1e6))
    }
    var scene = Scene(
      fleet: [
        .group(count: count) {
          $0.background.windows = Choice(OneWindow.self) { _ in OneWindow(times) }
          $0.network.requestTimeout = .hours(1)
        }
      ])
    scene.inputs.server.selector = Choice(NobodySelector.self) { $0 }
    var service = ServiceSettings()
    service.time = .seconds(1)
    service.distribution = distribution
    scene.inputs.server.service = service
    scene.inputs.stop.after = .hours(24)
    let tape = Tape(audits: false)
    var simulation = Simulation(scene.inputs)
    simulation.run(observers: [tape])
    var came: [SimTime] = []
    var handled: [SimTime] = []
    for (time, event) in tape.events {
      switch event {
      case .arrival(_, _, .check): came.append(time)
      case .serverTimer(.served): handled.append(time)
      default: break
      }
    }
    #expect(came.count == count && handled.count == count)
    var (waits, services): ([Double], [Double]) = ([], [])
    var (free, waited, delayed) = (SimTime.start, Int64(0), 0)
    for (came, handled) in zip(came, handled) {
      let begun = max(came, free)
      waits.append((begun - came).seconds)
      services.append((handled - begun).seconds)
      waited += (begun - came).microseconds
      delayed += begun > came ? 1 : 0
      free = handled
    }
    let tallies = simulation.serverRecord.serviceTallies!
    #expect(tallies.served == count && tallies.requests == count)
    #expect(tallies.waited.microseconds == waited && tallies.delayed == delayed)
    return (waits, services)
  }

  private func mean(_ values: [Double]) -> Double {
    values.reduce(0, +) / Double(max(1, values.count))
  }

  private func expect(
    _ found: Double, _ expected: Double, variance: Double,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let error = (variance / Double(count)).squareRoot()
    #expect(abs(found - expected) < 4 * error, sourceLocation: location)
  }

  @Test("M/M/1: mean wait ρ/(μ − λ), and 1 − ρ of the requests do not wait")
  func exponential() {
    // μ = 1: a mean wait of 1 s. E W = 1, E W² = 4, E W³ = 24 (W > x with ρ·e^(-x/2)), a = 1/2, so
    // σ² = 20 + 3·3 = 29, which is ρ(2 + 5ρ − 4ρ² + ρ³)/((1 − ρ)⁴μ²) (Daley 1968, Whitt 1989):
    // standard error 3.808e-2. E S² = 2: the share's is √((1/4 + 1/2)/20000) = 6.124e-3. Service
    // times have variance 1.
    let (waits, services) = play(.exponential)
    expect(mean(services), 1, variance: 1)
    expect(mean(waits), 1, variance: 29)
    expect(Double(waits.count { $0 == 0 }) / Double(count), 0.5, variance: 0.75)
  }

  @Test("M/D/1: mean wait ρ/(2μ(1 − ρ)), half of the former; 1 − ρ do not wait here either")
  func fixed() {
    // By Takács' recursion E Wᵏ = λ/(1 − ρ)·Σᵢ C(k, i)·E Sⁱ⁺¹/(i + 1)·E Wᵏ⁻ⁱ with λ/(1 − ρ) = 1:
    // 1/2, 2·1/2·1/2 + 1/3 = 5/6, 3·1/2·5/6 + 3·1/3·1/2 + 1/4 = 2. So σ² = (2 − 5/12) + 3·7/12 =
    // 10/3: standard error 1.291e-2. E S² = 1: the share's is √(1/2/20000) = 5e-3.
    let (waits, services) = play(.fixed)
    #expect(services.allSatisfy { $0 == 1 })
    expect(mean(waits), 0.5, variance: 10.0 / 3)
    expect(Double(waits.count { $0 == 0 }) / Double(count), 0.5, variance: 0.5)
  }
}
