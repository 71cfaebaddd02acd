import Numerics
import Schema

/// Synchronous rounds whose cohorts are given in advance: a round waits for exactly these devices.
///
/// Where no round is left, no further cohort is formed.
public struct ScriptedSelector: CohortSelector {
  public static let name = "scripted"
  public static let summary = "Synchronous rounds with given cohorts, from a file or a list"

  public struct Settings: PartSettings {
    /// An NPZ archive with `cohorts`.
    public var file: FileName?
    /// The cohorts themselves.
    public var cohorts: [[Int]] = []

    public init() {}
    /// A bare value is the file.
    public static var shorthand: String? { "file" }
    public static var fields: [Field<Settings>] {
      [
        Field(
          "file", \.file, optional: .file,
          "NPZ archive with `cohorts`, [round][member]; shorter rounds are padded with -1"),
        Field(
          "cohorts", \.cohorts,
          .list(of: .list(of: .integer(0...10_000_000), minimum: 1)),
          "Devices of each round, numbered from 0 in the order of the fleet"),
      ]
    }
    /// A file and a list exclude each other.
    public func contradictions() -> [(key: String, message: String)] {
      if file != nil, !cohorts.isEmpty {
        return [("cohorts", "`file` and `cohorts` exclude each other")]
      }
      return []
    }
  }

  /// The settings it was made of.
  public let settings: Settings
  /// Each round's devices as given, from round 1 on.
  public let cohorts: [[Int]]
  /// The same, each in device order.
  private let sorted: [[Int]]

  /// A selector by its settings; cohorts of a file have to be read first.
  public init(_ settings: Settings) { self.init(settings, cohorts: settings.cohorts) }

  /// A selector whose file holds these cohorts, each without duplicates.
  public init(_ settings: Settings, cohorts: [[Int]]) {
    self.settings = settings
    self.cohorts = cohorts
    sorted = cohorts.map { $0.sorted() }
  }

  /// The cohorts, or their file.
  public var given: GivenCohorts? {
    GivenCohorts(file: settings.file, cohorts: cohorts) { [settings] in
      ScriptedSelector(settings, cohorts: $0).erased
    }
  }

  /// The devices given for the round.
  public func likelyMembers(ofRound round: Int) -> [Int] {
    sorted.indices.contains(round - 1) ? sorted[round - 1] : []
  }

  /// The round's devices, once all of them wait.
  ///
  /// Draws: none. Complexity: O(members · log waiting), mostly less while members are missing.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout NoMemory
  ) -> Cohort? {
    guard sorted.indices.contains(server.round - 1) else { return nil }
    let devices = sorted[server.round - 1]
    guard waiting.count >= devices.count else { return nil }
    var members: [Int] = []
    members.reserveCapacity(devices.count)
    var high = waiting.count
    // From the last device down: devices come back in their order, so the last is missing longest.
    for device in devices.reversed() {
      var low = 0
      var end = high
      while low < end {
        let middle = (low + end) / 2
        if waiting[middle].device < device { low = middle + 1 } else { end = middle }
      }
      guard low < high, waiting[low].device == device else { return nil }
      members.append(low)
      high = low
    }
    return Cohort(members: members, goal: members.count)
  }
}
