import Numerics

/// A training is saved as it is: described, with all that it starts from, or computed. It stays
/// what it is: nothing is computed for an archive.
extension DeferredTraining: ArchivedObject {
  /// Its name in archives.
  public static var archiveName: String { "training" }
  /// It refers to what it starts from.
  public static var isLeaf: Bool { false }

  /// Writes it. A training that another thread computes is waited for.
  public func encode(to encoder: any Encoder) throws {
    let archive = try encoder.archive(self)
    try archive.write(description)
    switch stateNow {
    case .described(let start):
      archive.write(byte: 0)
      try archive.write(start)
    case .computed(let value):
      archive.write(byte: 1)
      try archive.write(value)
    }
  }

  /// Reads it; network, data and kernels are those of the run that is restored.
  public convenience init(from decoder: any Decoder) throws {
    let archive = try decoder.archive()
    let catalog = try archive.trainings()
    let description = try archive.read(TrainingDescription.self)
    let state: State =
      try archive.readByte() == 0
      ? .described(archive.read(Start.self)) : .computed(archive.read(Value.self))
    self.init(
      description, by: catalog.models[description.model].algorithm, state: state,
      kernels: catalog.kernels, executor: catalog.executor)
    catalog.trainings.append(self)
  }
}
