import Learning
import Schema

/// Fashion-MNIST: 60,000 training and 10,000 test images of clothes, 28 × 28 grey pixels, 10
/// classes.
///
/// Source: Xiao, Rasul, Vollgraf, "Fashion-MNIST: a novel image dataset for benchmarking machine
/// learning algorithms" (2017). Debian's package `dataset-fashion-mnist` installs the four files.
public struct FashionMNIST: DataSource, Part {
  /// The folder into which Debian's package puts the files.
  public static let debianFolder = "/usr/share/datasets/fashion-mnist"
  /// What to do where no folder has the files.
  public static let advice =
    "install the Debian package dataset-fashion-mnist, or set FEDSIM_DATA to a folder with its "
    + "files"

  public struct Settings: PartSettings {
    /// A folder to look in before all others.
    public var folder: String?

    public init() {}

    public static var fields: [Field<Settings>] {
      [
        Field(
          "folder", \.folder, optional: .path,
          "Folder with the four IDX files, plain or .gz; absent: the scenario's, then FEDSIM_DATA's"
            + " or, without that, Debian's.")
      ]
    }
  }

  public static let name = "fashion-mnist"
  public static let summary = "Fashion-MNIST, 60,000 + 10,000 images of clothes; the default data."

  private let folder: String?

  public init(_ settings: Settings) { folder = settings.folder }

  /// Reads the four files.
  ///
  /// Only the given folder is searched where there is one, else `folders` and then Debian's, if
  /// they let it.
  /// Throws: `missingFile` with advice, and what reading throws.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    var places = folders
    if let folder {
      places.paths =
        folder.hasPrefix("/") ? [folder] : folders.paths.map { "\($0)/\(folder)" }
    } else if places.includesInstalled, !places.paths.contains(Self.debianFolder) {
      places.paths.append(Self.debianFolder)
    }
    if places.advice == nil { places.advice = Self.advice }
    return try LabelledImages.trainAndTest(
      train: (
        try places.locate("train-images-idx3-ubyte"), try places.locate("train-labels-idx1-ubyte")
      ),
      test: (
        try places.locate("t10k-images-idx3-ubyte"), try places.locate("t10k-labels-idx1-ubyte")
      ),
      classes: 10)
  }
}
