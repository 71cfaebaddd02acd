import DataSets
import FedSim
import Learning

/// How a scenario is computed. Nothing here but `shakeTies` can change a result.
public struct RunOptions: Sendable {
  /// The compiled forms of the arithmetic.
  public typealias Body = KernelBody
  /// When deferred trainings are computed.
  public typealias Compute = ComputeMode

  /// The threads that compute.
  public var threads = 1
  /// Processes on this machine that compute trainings; 0: the threads do.
  public var workers = 0
  /// The processes that play the run together; nil: this one plays it alone.
  public var ranks: (any Ranks)?
  /// The arithmetic; nil: the fastest that this processor has.
  public var kernels: Body?
  /// When deferred trainings are computed.
  public var compute = Compute.lazy
  /// Permutes simultaneous events of different actors by this key; nil: the order of the fleet.
  public var shakeTies: UInt64?
  /// Whether what must always hold is looked at after every event.
  public var audits = false
  /// Folders that are searched for data files after the scenario's own.
  public var dataFolders: [String] = []
  /// Whether the folders of installed data packages are searched after these.
  public var searchesInstalledData = true
  /// Where data sets are kept for further runs of this process; nil: nowhere.
  public var dataCache: DataCache?

  /// One thread, the fastest arithmetic, the fleet's order.
  public init() {}
}
