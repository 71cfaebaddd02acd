import Learning
import Numerics
import Schema

/// Made-up data: one round cloud of points a class, from a generator; it needs no file.
///
/// A class's centre has independent standard normal coordinates. Sample i has label i mod classes
/// and is at the centre of its class plus `spread` times a standard normal in each coordinate.
/// Each centre and each sample has its own stream, so a sample depends on the seed, its
/// number, and the numbers of classes and features alone. Draws: `features` normals a centre and a
/// sample.
public struct Blobs: DataSource, Part {
  public struct Settings: PartSettings {
    public var classes = 4
    /// Number of features.
    public var features = 8
    /// Training samples.
    public var train = 2_000
    /// Test samples.
    public var test = 500
    /// Standard deviation around the centre, in each coordinate.
    public var spread = 0.5

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field("classes", \.classes, .integer(2...1_000), "Number of classes."),
        Field("features", \.features, .integer(1...100_000), "Numbers in one sample."),
        Field("train", \.train, .integer(1...10_000_000), "Training samples."),
        Field("test", \.test, .integer(1...10_000_000), "Test samples."),
        Field(
          "spread", \.spread, .number(0...1e6),
          "Standard deviation around a class's centre; centres have 1 in each coordinate."),
      ]
    }

    /// More numbers than memory should hold.
    public func contradictions() -> [(key: String, message: String)] {
      let values = max(train, test) * features
      guard values > 1 << 30 else { return [] }
      return [("features", "\(values) numbers in one set, expected at most \(1 << 30)")]
    }
  }

  public static let name = "blobs"
  /// What it is.
  public static let summary =
    "Generated Gaussian clouds, one per class; small, fast, needs no file."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Makes the data from the seed alone.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    let key = StreamKey(seed: seed, purpose: Purpose("blobs.centre"))
    let centres = (0..<settings.classes).map { label in
      var stream = key.with(ordinal: UInt32(label)).stream(slot: 0)
      return stream.normals(settings.features)
    }
    return TrainAndTest(
      train: samples(settings.train, around: centres, seed, Purpose("blobs.train")),
      test: samples(settings.test, around: centres, seed, Purpose("blobs.test")))
  }

  private func samples(
    _ count: Int, around centres: [[Double]], _ seed: UInt64, _ purpose: Purpose
  ) -> Dataset {
    let key = StreamKey(seed: seed, purpose: purpose)
    var labels: [Int32] = []
    var features: [Float] = []
    features.reserveCapacity(count * settings.features)
    for sample in 0..<count {
      let label = sample % settings.classes
      labels.append(Int32(label))
      var stream = key.with(ordinal: UInt32(sample)).stream(slot: 0)
      for (coordinate, noise) in zip(centres[label], stream.normals(settings.features)) {
        features.append(Float(coordinate + settings.spread * noise))
      }
    }
    return Dataset(
      features: .floats(features), sampleShape: [settings.features], labels: labels,
      classCount: settings.classes)
  }
}
