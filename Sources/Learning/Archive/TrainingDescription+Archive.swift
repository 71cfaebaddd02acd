import Numerics

/// A description is written by what it refers to in the run's `TrainingCatalog`: network and data
/// are not in it, and shards as a rule by their place.
extension TrainingDescription: Codable {
  /// Writes it.
  public func encode(to encoder: any Encoder) throws {
    let archive = try encoder.archive(self)
    guard let catalog = archive.context(TrainingCatalog.self) else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: [], debugDescription: "a training needs a catalog"))
    }
    archive.write(UInt64(model))
    catalog.write(training.shard, to: archive)
    try catalog.write(training.plan, to: archive)
    try write(training.order, catalog, to: archive)
    archive.write(byte: training.noise == nil ? 0 : 1)
    if let noise = training.noise { try archive.write(noise) }
    archive.write(byte: training.relabelling == nil ? 0 : 1)
    if let labels = training.relabelling { try archive.write(labels) }
    archive.write(byte: training.keepsLossSquares ? 1 : 0)
    archive.write(UInt64(batches.lowerBound))
    archive.write(UInt64(batches.upperBound))
    catalog.write(validation, to: archive)
    archive.write(byte: isLast ? 1 : 0)
    if training.network.foreign != nil { try archive.write([training.owner]) }
  }

  /// Reads it.
  public init(from decoder: any Decoder) throws {
    let archive = try decoder.archive()
    let catalog = try archive.trainings()
    let model = try archive.readUnsigned(Int.self)
    guard model < catalog.models.count else { throw archive.damage("a model's place") }
    let shard = try catalog.readList(from: archive)
    let plan = try catalog.readPlan(from: archive)
    let order = try Self.readOrder(catalog, from: archive)
    let noise =
      try archive.readByte() == 0 ? nil : archive.read(LocalTraining.Noise.self)
    let relabelling = try archive.readByte() == 0 ? nil : archive.read([Int32].self)
    let keepsLossSquares = try archive.readByte() != 0
    let (first, end) = (
      try archive.readUnsigned(Int.self), try archive.readUnsigned(Int.self)
    )
    guard first <= end else { throw archive.damage("batches") }
    let batches = first..<end
    guard plan.batchSize > 0,
      batches.upperBound <= plan.batchCount(shardCount: shard.count)
    else { throw archive.damage("batches \(batches)") }
    let validation = try catalog.readList(from: archive)
    let isLast = try archive.readByte() != 0
    let network = catalog.models[model].network
    guard LocalTraining.fit(relabelling, catalog.dataset, network) else {
      throw archive.damage("labels")
    }
    self.init(
      training: LocalTraining(
        network: network, dataset: catalog.dataset, shard: shard, plan: plan, order: order,
        noise: noise, relabelling: relabelling, keepsLossSquares: keepsLossSquares,
        owner: network.foreign == nil
          ? nil : try archive.read([LocalTraining.Owner?].self).first ?? nil),
      batches: batches, validation: validation, isLast: isLast, model: model)
  }

  // MARK: Orders

  private func write(
    _ order: BatchOrder, _ catalog: TrainingCatalog, to archive: ArchiveEncoder
  ) throws {
    func write(_ lists: [[Int32]]) {
      archive.write(UInt64(lists.count))
      for list in lists { catalog.write(list, to: archive) }
    }
    switch order {
    case .keyed(let key, let firstSlot):
      archive.write(byte: 0)
      try archive.write(key)
      archive.write(firstSlot)
    case .explicit(let lists):
      archive.write(byte: 1)
      write(lists)
    case .cycle(let lists, let first):
      archive.write(byte: 2)
      write(lists)
      archive.write(UInt64(first))
    }
  }

  private static func readOrder(
    _ catalog: TrainingCatalog, from archive: ArchiveDecoder
  ) throws -> BatchOrder {
    func lists() throws -> [[Int32]] {
      try (0..<archive.readCount()).map { _ in try catalog.readList(from: archive) }
    }
    switch try archive.readByte() {
    case 0:
      return .keyed(
        try archive.read(StreamKey.self), firstSlot: try archive.readUnsigned(UInt64.self))
    case 1: return .explicit(try lists())
    case 2: return .cycle(try lists(), first: try archive.readUnsigned(Int.self))
    default: throw archive.damage("an order")
    }
  }
}

extension ArchiveDecoder {
  /// What the trainings in an archive refer to.
  func trainings() throws -> TrainingCatalog {
    guard let catalog = context(TrainingCatalog.self) else {
      throw damage("a training without a catalog")
    }
    return catalog
  }
}
