import Learning
import Schema

/// Grey images and labels from four IDX files, as of MNIST, EMNIST, KMNIST.
public struct IDXFiles: DataSource, Part {
  public struct Settings: PartSettings {
    /// Training images.
    public var trainImages = ""
    /// Training labels.
    public var trainLabels = ""
    /// Test images.
    public var testImages = ""
    /// Test labels.
    public var testLabels = ""
    public var classes = 10

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "trainImages", \.trainImages, .path, required: true,
          "IDX file of training images, plain or .gz."),
        Field(
          "trainLabels", \.trainLabels, .path, required: true,
          "IDX file of training labels, plain or .gz."),
        Field(
          "testImages", \.testImages, .path, required: true,
          "IDX file of test images, plain or .gz."),
        Field(
          "testLabels", \.testLabels, .path, required: true,
          "IDX file of test labels, plain or .gz."),
        Field("classes", \.classes, .integer(2...256), "Number of classes; labels are below it."),
      ]
    }
  }

  public static let name = "idx"
  /// What it is.
  public static let summary = "Grey images from four IDX files, such as MNIST and its variants."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// Reads the four files, each looked for in `folders`.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    try LabelledImages.trainAndTest(
      train: (
        try folders.locate(settings.trainImages), try folders.locate(settings.trainLabels)
      ),
      test: (try folders.locate(settings.testImages), try folders.locate(settings.testLabels)),
      classes: settings.classes)
  }
}
