/// What a device that collects asks of the store.
public enum CentralRequest: Equatable, Sendable, Codable {
  /// Keep this file.
  case file(Int32)
  /// Keep the metadata of this file.
  case item(Int32)
  /// Send the newest version of this model.
  case model(Int32)
  /// Remove what the user has stored.
  case remove(Erasure)

  /// Words that tell it from every other, for the run's digest.
  func words(_ device: Int32) -> [UInt64] {
    let (kind, number): (UInt64, Int32) =
      switch self {
      case .file(let file): (1, file)
      case .item(let file): (2, file)
      case .model(let model): (3, model)
      case .remove(let scope): (4, Int32(Erasure.allCases.firstIndex(of: scope)!))
      }
    return [
      pack(.storeRequest, device, kind),
      UInt64(UInt32(bitPattern: number)),
    ]
  }
}

/// What the store answers.
public enum CentralResponse: Equatable, Sendable, Codable {
  /// It is kept.
  case kept
  /// A version of a model follows.
  case model(Int32, version: Int32)
  /// There is no version of it.
  case noModel

  /// Words that tell it from every other, for the run's digest.
  func words(_ device: Int32) -> [UInt64] {
    var (kind, number): (UInt64, UInt64) = (1, 0)
    switch self {
    case .kept: break
    case .model(let model, let version):
      kind = 2
      number = UInt64(UInt32(bitPattern: model)) << 32 | UInt64(UInt32(bitPattern: version))
    case .noModel: kind = 3
    }
    return [pack(.storeAnswer, device, kind), number]
  }
}
