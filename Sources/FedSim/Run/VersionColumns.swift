/// The numbers that every version has.
///
/// The log of versions, checkpoints and the journal keep them as they are declared: a new one needs
/// its line here, and a value where it is known. Wide ones come first, for a run keeps one of these
/// for every version.
public struct VersionFigures: Sendable, Codable {
  /// What the run had come to as it was published.
  public package(set) var progress = Progress()
  /// When it was published.
  public package(set) var publishedAt = SimTime.start
  /// Sum of the updates' distinct samples.
  public package(set) var samples = 0
  /// Samples processed by the updates' trainings, repetitions counted.
  public package(set) var samplesProcessed = 0
  /// Mean loss over the samples processed by the trainings in it; NaN for the initial model.
  public package(set) var trainingLoss = Double.nan
  /// Mean accuracy on its devices' own validation samples, weighted by them; NaN without any.
  public package(set) var validationAccuracy = Double.nan
  /// Mean over its updates of the versions published since their bases.
  public package(set) var meanStaleness = 0.0
  /// Mean over its updates of the time since their bases were published, in seconds.
  public package(set) var meanStalenessSeconds = 0.0
  /// Mean over the devices that held a version of the test accuracy of the version that each held;
  /// NaN without any.
  public package(set) var heldAccuracy = Double.nan
  /// The round that published it; 0 for the initial model.
  @Packed public package(set) var round = 0
  /// Updates in it.
  @Packed public package(set) var updates = 0
  /// Different devices in it.
  @Packed public package(set) var devices = 0
  /// The most versions published since the base of one of its updates.
  @Packed public package(set) var maximumStaleness = 0
  /// Devices that held no version then.
  @Packed public package(set) var withoutVersion = 0
}
