import Learning
import Schema

/// A part of a scenario that comes to a rule of partition, for some by reading a file first.
public protocol PartitionSource: Sendable {
  /// The rule. Throws: what is wrong with the file.
  func partitioner(folders: DataFolders) throws(DataFault) -> any Partitioner
}

extension PartitionSource where Self: Partitioner {
  /// The rule itself: it needs no file.
  public func partitioner(folders: DataFolders) throws(DataFault) -> any Partitioner { self }
}

extension PartitionIID: PartitionSource {}
extension PartitionDirichlet: PartitionSource {}
extension PartitionShards: PartitionSource {}
extension PartitionReplacement: PartitionSource {}

extension Seam where Value == any PartitionSource {
  /// The seam of partitions.
  public static var partition: Seam {
    Seam("partition", "Which client holds which samples of the training pool?")
  }
}
