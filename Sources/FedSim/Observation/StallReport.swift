/// Why a run reached no version, or no further one: for how many devices what never held, and
/// what the server waited for.
public struct StallReport: Sendable, Equatable {
  /// The first thing that was missing on a device's way into a version.
  public enum Obstacle: Sendable, Hashable {
    /// Its group gives the app nothing to run in.
    case nothingRuns
    /// Its app may only train when its user starts it there, and its user never did.
    case neverAsked
    /// It has no training data.
    case noData
    /// It never was in the fleet.
    case absent
    /// It cannot train this model.
    case unfit
    /// These conditions never held at once.
    case never(Conditions)
    /// All of them did, and the system never started a task.
    case neverStarted
    /// The server was never reachable while the app ran.
    case serverUnreachable
    /// The server believed itself offline, and the device had no model.
    case noModel
    /// It waited for a cohort that was not formed, or not with it.
    case notChosen
    /// The server gave it a time to return, and it began no training.
    case sentAway
    /// It began no training for another reason.
    case neverTrained
    /// The system started no task, or the app ran and began no training, and at the end this
    /// condition, which the world does not decide alone, did not hold.
    case lacking(Condition, ran: Bool)
    /// All its trainings were cut off, and none produced an update.
    case neverFinished
    /// It made updates, and none of them became part of a version.
    case neverAggregated
    /// It collects for central training, which has published.
    case collects
    /// It collects, and never had enough to format.
    case neverFormatted
    /// None of its files came into the store.
    case neverStored
    /// Its files came into the store, and no training read them and published.
    case neverRead
  }

  /// What the server waited for.
  public enum Wait: Sendable, Hashable {
    /// A cohort, which needs this many devices at once, where that is known; the most that waited.
    case cohort(needed: Int?, waited: Int)
    /// The open round's cohort, of which too few members are left.
    case members(round: Int, goal: Int, arrived: Int)
    /// Nothing: this many rounds were closed, each without a version.
    case rounds(closed: Int)
    /// This many updates; the most that waited, and whether a fleet of this size can reach it.
    case updates(needed: Int, waited: Int, isPossible: Bool)
    /// The return of the connection to the internet.
    case connection
    /// Devices could not reach it, ever.
    case reachable
  }

  /// How many devices of a group met an obstacle.
  public struct Count: Sendable, Equatable {
    /// The group's place in the fleet.
    public let group: Int
    /// What was missing.
    public let obstacle: Obstacle
    /// How many devices.
    public internal(set) var devices: Int
  }

  /// When the run stopped, because nothing that was left could contribute; nil: it was played out.
  public let stoppedAt: SimTime?
  /// By group, the most devices first; empty where devices are not what is missing.
  public internal(set) var counts: [Count] = []
  /// The obstacle of each device: its place in `counts`, or -1.
  public internal(set) var places: [Int] = []
  /// What the server waited for.
  public internal(set) var waits: [Wait] = []
}

extension StallReport {
  /// Why a run that is over has no version, or why its open round could never end; nil: neither is
  /// so. Complexity: O(devices · changes of their series) where there is no version.
  init?(_ devices: Devices, _ server: Server, _ cx: Context) {
    precondition(cx.isOver, "a stall report is about a complete run")
    guard server.version == 0 || cx.isStuck || Rounds.isCohortBroken(server, cx) else { return nil }
    // The initial model was good enough.
    if cx.now == .start, !cx.isStuck, cx.inputs.stop.accuracy != nil { return nil }
    guard cx.inputs.hasTrainers || cx.collection.versions.isEmpty else { return nil }
    self.init(stoppedAt: cx.isStuck ? cx.now : nil)
    if server.version == 0 { count(StallReport.obstacles(devices, cx), devices) }
    waits = StallReport.waits(devices, server, cx)
  }

  /// Counts the obstacles of all devices.
  private mutating func count(_ obstacles: [Obstacle], _ devices: borrowing Devices) {
    for (device, obstacle) in obstacles.enumerated() {
      let group = Int(devices[device].group)
      if let place = counts.firstIndex(where: { $0.group == group && $0.obstacle == obstacle }) {
        counts[place].devices += 1
      } else {
        counts.append(Count(group: group, obstacle: obstacle, devices: 1))
      }
    }
    counts = counts.enumerated().sorted {
      ($0.element.group, -$0.element.devices, $0.offset)
        < ($1.element.group, -$1.element.devices, $1.offset)
    }.map(\.element)
    for (device, obstacle) in obstacles.enumerated() {
      let group = Int(devices[device].group)
      places.append(counts.firstIndex { $0.group == group && $0.obstacle == obstacle }!)
    }
  }
}
