import Learning
import Numerics
import Schema

/// Made-up recordings of moving devices: the class is the order of events, and devices differ.
///
/// A sample is a sequence of `steps` × `channels` numbers. It holds each of m kinds of events once,
/// m being the fewest with m! ≥ `classes` (2, 3 or 4), and its class c is their order: the c-th
/// permutation of the kinds in lexicographic order. The first event is at step
/// τ_1 = 1 + below(steps − 2 − 7(m−1)), every other 2 to 7 steps after the one before, each alike.
/// Device k measures on channel i at step t
///
///   x_i(t) = g_i · Σ_e P_ei · w(t − τ_e) + o_i + a · sin(2π·f·t/steps + φ_i) + noise · z
///
/// with w(0) = 1, w(±1) = ½ and 0 beyond; P_ei = cos 2π(e/m + i/channels), so that every kind
/// raises some channels and lowers others; a gain g_i = exp(½·drift·z), an offset o_i = drift·z, a
/// slow sway of amplitude a = ½·drift, frequency f = 1 + u and phases φ_i = 2πu of the device's
/// own, z standard normal and u uniform in [0, 1): `drift` is how much devices differ, 0 for alike.
///
/// Every class has the same events, and since the first may come at any time nearly the same
/// values at each step; sums over time tell nothing of the order. What tells it is which event
/// came before which, wherever they are: a recurrent model carries that along with few weights,
/// while a feed-forward one needs to learn it again for every place and distance. With the defaults
/// and all data in one place a GRU of 24 units reaches 0.93 to 0.95 of the test set, a perceptron
/// of 256 units 0.68 to 0.70 (Tests/Fixtures-scripts/compare_sensor_models.py, NumPy).
///
/// The natural partition is the devices; the test set is `testPerDevice` further samples of each,
/// device by device. Device k depends on the seed and k alone. Draws: of device k's streams, from
/// slot 0 g_i and o_i and φ_i channel by channel, then f; training samples from slot 1, test
/// samples from slot 2: `below(classes)`, the first time, m − 1 gaps, a normal a number.
public struct Sensors: DataSource, Part {
  public struct Settings: PartSettings {
    /// How many devices.
    public var devices = 100
    /// Training samples of each.
    public var samplesPerDevice = 60
    /// Test samples of each.
    public var testPerDevice = 20
    public var classes = 6
    /// Steps of a sequence.
    public var steps = 40
    /// Channels of a step.
    public var channels = 3
    /// How much devices differ.
    public var drift = 0.4
    /// Standard deviation of the noise of each number.
    public var noise = 0.25

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("devices", \.devices, .integer(1...1_000_000), "Number of devices."),
        Field(
          "samplesPerDevice", \.samplesPerDevice, .integer(1...1_000_000),
          "Training samples of each device."),
        Field(
          "testPerDevice", \.testPerDevice, .integer(1...1_000_000),
          "Test samples of each device."),
        Field(
          "classes", \.classes, .integer(2...24), "Number of event orders, which are the classes."),
        Field("steps", \.steps, .integer(24...10_000), "Time steps of a sequence."),
        Field("channels", \.channels, .integer(3...1_000), "Channels of a time step."),
        Field(
          "drift", \.drift, .number(0...10),
          "How much devices differ in gain, offset and sway; 0: not at all."),
        Field("noise", \.noise, .number(0...10), "Standard deviation of the noise."),
      ]
    }

    /// More numbers than memory should hold.
    public func contradictions() -> [(key: String, message: String)] {
      let values = devices * max(samplesPerDevice, testPerDevice) * steps * channels
      guard values > 1 << 31 else { return [] }
      return [("devices", "\(values) numbers in one set, expected at most \(1 << 31)")]
    }
  }

  public static let name = "sensors"
  public static let summary =
    "Generated sensor sequences whose class is the order of events; devices differ; has users."

  private let settings: Settings
  /// The order of kinds of each class. Shapes: [class][turn].
  private let orders: [[Int]]

  public init(_ settings: Settings) {
    self.settings = settings
    let kinds = settings.classes <= 2 ? 2 : settings.classes <= 6 ? 3 : 4
    orders = Array(Self.permutations(kinds)[..<settings.classes])
  }

  /// Makes the data from the seed alone. Shapes: sample [steps, channels].
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    let key = StreamKey(seed: seed, purpose: Purpose("sensors.device"))
    var sets = [(values: [Float](), labels: [Int32]()), (values: [Float](), labels: [Int32]())]
    let sizes = [settings.samplesPerDevice, settings.testPerDevice]
    for device in 0..<settings.devices {
      let streams = key.with(ordinal: UInt32(device))
      let traits = Traits(settings, streams.stream(slot: 0))
      for set in 0..<2 {
        var stream = streams.stream(slot: UInt64(set + 1))
        for _ in 0..<sizes[set] {
          sets[set].labels.append(record(traits, &stream, into: &sets[set].values))
        }
      }
    }
    let data = sets.map { set in
      Dataset(
        features: .floats(set.values), sampleShape: [settings.steps, settings.channels],
        labels: set.labels, classCount: settings.classes)
    }
    return TrainAndTest(
      train: data[0], test: data[1],
      users: DataUsers(
        names: (0..<settings.devices).map { "device-\($0)" },
        sizes: Array(repeating: sizes[0], count: settings.devices),
        testSizes: Array(repeating: sizes[1], count: settings.devices)))
  }

  /// What sets a device apart. Shapes: gains, offsets [channel]; sway [step][channel].
  private struct Traits {
    var gains: [Double] = []
    var offsets: [Double] = []
    var sway: [[Double]] = []

    init(_ settings: Settings, _ source: RandomStream) {
      var stream = source
      var phases: [Double] = []
      for _ in 0..<settings.channels {
        gains.append(Portable.exp(0.5 * settings.drift * stream.normal()))
        offsets.append(settings.drift * stream.normal())
        phases.append(2 * Double.pi * stream.uniform())
      }
      let frequency = 1 + stream.uniform()
      for step in 0..<settings.steps {
        let angle = 2 * Double.pi * frequency * Double(step) / Double(settings.steps)
        sway.append(phases.map { 0.5 * settings.drift * Portable.sin(angle + $0) })
      }
    }
  }

  /// Appends one sequence and gives its class.
  private func record(
    _ traits: Traits, _ stream: inout RandomStream, into values: inout [Float]
  ) -> Int32 {
    let label = Int(stream.below(UInt32(settings.classes)))
    let order = orders[label]
    let kinds = order.count
    let channels = settings.channels
    var signal = Array(repeating: 0.0, count: settings.steps * channels)
    var time = 1 + Int(stream.below(UInt32(settings.steps - 2 - 7 * (kinds - 1))))
    for (turn, kind) in order.enumerated() {
      if turn > 0 { time += 2 + Int(stream.below(6)) }
      for (step, weight) in [(time - 1, 0.5), (time, 1), (time + 1, 0.5)] {
        for channel in 0..<channels {
          let share = Double(kind) / Double(kinds) + Double(channel) / Double(channels)
          signal[step * channels + channel] += weight * Portable.cos(2 * Double.pi * share)
        }
      }
    }
    let noise = stream.normals(signal.count)
    for step in 0..<settings.steps {
      for channel in 0..<channels {
        let value =
          traits.gains[channel] * signal[step * channels + channel] + traits.offsets[channel]
          + traits.sway[step][channel] + settings.noise * noise[step * channels + channel]
        values.append(Float(value))
      }
    }
    return Int32(label)
  }

  /// The permutations of 0..<count in lexicographic order.
  private static func permutations(_ count: Int) -> [[Int]] {
    var found: [[Int]] = []
    func extend(_ begun: [Int]) {
      if begun.count == count { found.append(begun) }
      for next in 0..<count where !begun.contains(next) { extend(begun + [next]) }
    }
    extend([])
    return found
  }
}
