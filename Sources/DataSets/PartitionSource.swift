import Learning
import Schema

/// A part of a scenario that produces a rule of partition, for some by reading a file first.
public protocol PartitionSource: Sendable {
  /// How many clients its settings say; nil: that depends on data or a file.
  var clientCount: Int? { get }
  /// The rule. Throws: what is wrong with the file.
  func partitioner(folders: DataFolders) throws(DataFault) -> any Partitioner

  /// The rule for data that are read already: what a run asks for.
  ///
  /// Without its own implementation a part does not look at the data. Throws: what is wrong
  /// with the file.
  func partitioner(
    for data: TrainAndTest, folders: DataFolders
  ) throws(DataFault) -> any Partitioner

  /// The test samples that are each client's own; none where the test set is nobody's.
  ///
  /// Shapes: [client][its samples], or []. Without its own implementation a part says none.
  func clientTests(of data: TrainAndTest) -> [[Int32]]
}

extension PartitionSource {
  /// It depends on data or a file.
  public var clientCount: Int? { nil }

  /// The same rule for any data.
  public func partitioner(
    for data: TrainAndTest, folders: DataFolders
  ) throws(DataFault) -> any Partitioner { try partitioner(folders: folders) }

  /// The test set is nobody's.
  public func clientTests(of data: TrainAndTest) -> [[Int32]] { [] }
}

extension PartitionSource where Self: Partitioner {
  /// As many as the rule makes.
  public var clientCount: Int? { clients }

  /// The rule itself: it needs no file.
  public func partitioner(folders: DataFolders) throws(DataFault) -> any Partitioner { self }
}

extension PartitionIID: PartitionSource {}
extension PartitionDirichlet: PartitionSource {}
extension PartitionShards: PartitionSource {}
extension PartitionReplacement: PartitionSource {}
extension PartitionDirichletByClass: PartitionSource {}
extension PartitionDirichletByClassBalanced: PartitionSource {}
extension PartitionDirichletMultinomial: PartitionSource {}
extension PartitionDirichletPrior: PartitionSource {}
extension PartitionDirichletReplacement: PartitionSource {}
extension PartitionInnerDirichlet: PartitionSource {}
extension PartitionLabelsPerClient: PartitionSource {}
extension PartitionConsecutiveLabels: PartitionSource {}
extension PartitionQuantityDirichlet: PartitionSource {}
extension PartitionQuantityPower: PartitionSource {}
extension PartitionQuantityLogNormal: PartitionSource {}
extension PartitionQuantityByRank: PartitionSource {}

extension Seam where Value == any PartitionSource {
  /// The seam of partitions.
  public static var partition: Seam {
    Seam("partition", "Which client holds which samples of the training pool?")
  }
}
