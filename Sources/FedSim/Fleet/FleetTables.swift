import Learning
import Numerics

/// What a fleet consists of, by device; each list is empty where no group asks for it.
struct FleetTables: Codable {
  @Rebuilt var hardware: [AssignedHardware?] = []
  var presence: [Presence?] = []
  /// Bytes of the day over cellular networks, from the first on, where a group limits them.
  var cellularDays: [CellularDay]?
  /// Whether samples arrive over time in any group.
  var hasArrivals = false
  /// Whether a continued task may wait in any group.
  var mayQueue = false
  /// Whether a training's length or its samples are found out as it begins.
  var variesByTraining = false

  /// What a device has sent and received over a cellular network on its local day.
  struct CellularDay: Codable {
    /// The day, counted from 1970 on.
    var day = Int64.min
    var bytes: Int64 = 0
  }

  /// A device that joins and leaves.
  struct Presence: Codable {
    var isHere: Bool
    var since = SimTime.start
    var total = SimDuration.zero
    var joins: Int32 = 0
    var leaves: Int32 = 0
  }
}
