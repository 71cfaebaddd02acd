import Numerics

/// An update is saved as it is: described, with all that it is made from, or computed.
extension DeferredUpdate: ArchivedObject {
  /// Its name in archives.
  public static var archiveName: String { "update" }
  /// It refers to a training, and to the update before.
  public static var isLeaf: Bool { false }

  /// Writes it. An update that another thread computes is waited for.
  public func encode(to encoder: any Encoder) throws {
    let archive = try encoder.archive(self)
    switch stateNow {
    case .described(let description):
      archive.write(byte: 0)
      try archive.write(description)
    case .computed(let value):
      archive.write(byte: 1)
      try archive.write(value)
    }
  }

  /// Reads it; the transforms are those of the run that is restored.
  public convenience init(from decoder: any Decoder) throws {
    let archive = try decoder.archive()
    guard let catalog = archive.context(TrainingCatalog.self), let chain = catalog.chain else {
      throw archive.damage("an update without transforms")
    }
    let state: State =
      try archive.readByte() == 0
      ? .described(archive.read(Description.self)) : .computed(archive.read(Value.self))
    let counts: [Int] =
      switch state {
      case .described(let description): [description.streamKeys.count, description.told.count]
      case .computed(let value): [value.residuals.count, value.reports.count]
      }
    guard counts.allSatisfy({ $0 == chain.transforms.count }) else {
      throw archive.damage("an update of other transforms")
    }
    if case .described(let description) = state, let forgery = description.forgery,
      !chain.attacks.indices.contains(forgery.attack)
    {
      throw archive.damage("an attack's place")
    }
    self.init(chain, state)
  }
}
