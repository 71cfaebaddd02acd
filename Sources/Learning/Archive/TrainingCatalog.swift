import Numerics

/// What the trainings of a run share: an archive names it by its place, and does not repeat it.
public final class TrainingCatalog: ArchiveContext {
  /// A model that is trained: the network, and how.
  public struct Model {
    let network: Network
    /// How it is trained.
    public let algorithm: any LocalAlgorithm
    /// How many parameters it has.
    package var parameterCount: Int { network.layout.count }

    /// A model.
    public init(network: Network, algorithm: any LocalAlgorithm) {
      self.network = network
      self.algorithm = algorithm
    }
  }

  /// The models that are trained, by their places.
  public let models: [Model]
  let dataset: Dataset
  /// The arithmetic.
  public let kernels: Kernels
  /// Who computes trainings that are read; nil: the thread that asks.
  let executor: (any TrainingExecutor)?
  /// The transforms of updates; nil: there are none.
  let chain: TransformChain?
  /// The trainings that were read, each after those that it begins from.
  public internal(set) var trainings: [DeferredTraining] = []
  /// Plans that the other side of a pipe has; nil: each plan is written.
  private var sharedPlans: [TrainingPlan]?
  private static let mostSharedPlans = 64
  /// Lists of samples that occur again and again: shards, validation samples, given orders.
  private let lists: [[Int32]]
  /// The lists' places by where they are in memory: nothing is compared.
  private lazy var places = makePlaces()

  /// A catalog; the order of models and lists is the same whenever a run is saved and restored.
  public init(
    models: [Model], dataset: Dataset, kernels: Kernels, lists: [[Int32]],
    chain: TransformChain? = nil, executor: (any TrainingExecutor)? = nil
  ) {
    self.executor = executor
    self.chain = chain
    self.models = models
    self.dataset = dataset
    self.kernels = kernels
    self.lists = lists
  }

  private func makePlaces() -> [UInt: Int] {
    var places: [UInt: Int] = [:]
    for (place, list) in lists.enumerated() where !list.isEmpty {
      places[Self.address(of: list)] = place
    }
    return places
  }

  private static func address(of list: [Int32]) -> UInt {
    list.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
  }

  /// Writes a list: its place, or its numbers.
  func write(_ list: [Int32], to archive: ArchiveEncoder) {
    if !list.isEmpty, let place = places[Self.address(of: list)], lists[place].count == list.count {
      return archive.write(UInt64(place) + 1)
    }
    archive.write(UInt64(0))
    archive.write(UInt64(list.count))
    for number in list { archive.write(Int64(number)) }
  }

  // MARK: Plans

  /// From here on a plan that was written, or read, before is named by its place: the reader
  /// reads all that is written here, in this order.
  package func sharePlans() { sharedPlans = [] }

  private func share(_ plan: TrainingPlan) {
    if sharedPlans?.count == Self.mostSharedPlans { sharedPlans = [] }
    sharedPlans?.append(plan)
  }

  /// Writes a plan: its place, or the plan.
  func write(_ plan: TrainingPlan, to archive: ArchiveEncoder) throws {
    if let place = sharedPlans?.firstIndex(of: plan) { return archive.write(UInt64(place) + 1) }
    archive.write(UInt64(0))
    try archive.write(plan)
    share(plan)
  }

  /// Reads a plan.
  func readPlan(from archive: ArchiveDecoder) throws -> TrainingPlan {
    let place = try archive.readUnsigned(Int.self)
    if place > 0 {
      guard let sharedPlans, place <= sharedPlans.count else { throw archive.damage("a plan") }
      return sharedPlans[place - 1]
    }
    let plan = try archive.read(TrainingPlan.self)
    share(plan)
    return plan
  }

  // MARK: Lists

  /// Reads a list.
  func readList(from archive: ArchiveDecoder) throws -> [Int32] {
    let place = try archive.readUnsigned(Int.self)
    guard place <= lists.count else { throw archive.damage("a list's place") }
    if place > 0 { return lists[place - 1] }
    var list: [Int32] = []
    for _ in 0..<(try archive.readCount()) { list.append(try archive.readSigned(Int32.self)) }
    return list
  }
}
