import Learning
import Numerics

/// What a fleet consists of, by device; each list is empty where no group asks for it.
struct FleetTables: Codable {
  @Rebuilt var hardware: [AssignedHardware?] = []
  var presence: [Presence?] = []
  /// Whether samples arrive over time in any group.
  var hasArrivals = false
  /// Whether a continued task may wait in any group.
  var mayQueue = false
  /// Whether a training's length or its samples are found out as it begins.
  var variesByTraining = false

  /// A device that joins and leaves.
  struct Presence: Codable {
    var isHere: Bool
    var since = SimTime.start
    var total = SimDuration.zero
    var joins: Int32 = 0
    var leaves: Int32 = 0
  }
}
