import Learning
import Schema

/// Samples that have a number and a shape and nothing in them: for runs without learning.
///
/// Sample i has label i mod classes. No draws.
public struct NoData: DataSource, Part {
  public struct Settings: PartSettings {
    /// Training samples.
    public var train = 60
    /// The extents of a sample.
    public var shape = [28, 28]
    public var classes = 10

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "train", \.train, .integer(1...10_000_000),
          "Training samples, assigned to clients as usual."),
        Field(
          "shape", \.shape, .list(of: .integer(1...100_000), minimum: 1),
          "Shape of a sample, which determines the size of the model."),
        Field("classes", \.classes, .integer(1...1_000_000), "Number of classes."),
      ]
    }

    public static var shorthand: String? { "train" }

    /// More numbers than memory should hold.
    public func contradictions() -> [(key: String, message: String)] {
      var values = Double(train)
      for extent in shape { values *= Double(extent) }
      guard values > Double(1 << 30) else { return [] }
      return [("shape", "more than \(1 << 30) numbers in the set")]
    }
  }

  public static let name = "none"
  /// What it is.
  public static let summary = "Samples without content, for runs without learning."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Makes the samples; there is nothing to test on.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    func samples(_ count: Int) -> Dataset {
      Dataset(
        features: .bytes(Array(repeating: 0, count: count * settings.shape.reduce(1, *))),
        sampleShape: settings.shape, labels: (0..<count).map { Int32($0 % settings.classes) },
        classCount: settings.classes)
    }
    return TrainAndTest(train: samples(settings.train), test: samples(0))
  }
}
