/// What devices were doing, by simulated hour and group of the fleet: of all devices, or of 1,000
/// evenly spaced ones.
public struct FleetHours: Sendable, Codable {
  /// What is added up, in device-microseconds.
  public enum Column: Int, CaseIterable, Sendable {
    /// They belonged to the fleet.
    case present
    /// They were online over Wi-Fi.
    case wifi
    /// They were online over a cellular link.
    case cellular
    /// They were plugged in.
    case plugged
    /// They were locked, and not off.
    case idle
    /// They were plugged in, locked and online, all at once.
    case pluggedIdleOnline
    /// The same over Wi-Fi.
    case pluggedIdleWifi
    /// They trained.
    case training
    /// All devices of the group trained, not those of the sample alone.
    case trainingOfAll
  }

  /// What is counted, of all devices of a group.
  public enum Count: Int, CaseIterable, Sendable {
    /// Trainings that were running when their task expired.
    case expiredTrainings
    /// Checkpoints written.
    case checkpoints
    /// Trainings resumed from their checkpoint.
    case resumed
    /// Updates that could not be sent as soon as they were made.
    case waitedOffline
  }

  /// What holds of a device at a moment.
  struct State: OptionSet, Sendable, Codable {
    let rawValue: UInt8
    static let present = State(rawValue: 1)
    static let wifi = State(rawValue: 2)
    static let cellular = State(rawValue: 4)
    static let plugged = State(rawValue: 8)
    static let idle = State(rawValue: 16)
    static let training = State(rawValue: 32)
  }

  private struct Mark: Sendable, Codable {
    var since: SimTime
    var state: State
  }

  /// The most devices that are looked at.
  public static let sampleSize = 1000
  private static let hour: Int64 = 3_600_000_000

  /// Devices looked at, by group.
  public private(set) var sampled: [Int] = []
  private let fleetCount: Int
  private let sampleCount: Int
  private var marks: [Mark] = []
  /// Shapes: [hour][group][column].
  private var sums = PagedArray<Int64>()
  /// Shapes: [hour][group][count].
  private var counts = PagedArray<Int64>()

  /// Hours of a fleet of this many devices by group; none where they are not recorded.
  init(groups: [Int] = []) {
    fleetCount = groups.reduce(0, +)
    sampleCount = min(fleetCount, Self.sampleSize)
    var first = 0
    for count in groups {
      sampled.append(Self.slot(first + count, self.fleetCount, sampleCount))
      first += count
    }
    for group in sampled.indices.dropFirst().reversed() { sampled[group] -= sampled[group - 1] }
  }

  /// Whether anything is recorded.
  public var isOn: Bool { sampleCount > 0 }

  /// Hours of which something is known.
  public var count: Int { sampled.isEmpty ? 0 : sums.count / rowSize }

  /// Device-microseconds of a group's devices in an hour.
  public subscript(hour: Int, group: Int, column: Column) -> Int64 {
    hour < count ? sums[place(hour, group, column)] : 0
  }

  /// How often something happened to a group's devices in an hour.
  public subscript(hour: Int, group: Int, count: Count) -> Int {
    let place = countPlace(hour, group, count)
    return place < counts.count ? Int(counts[place]) : 0
  }

  /// Something happens to a device of a group.
  mutating func count(_ count: Count, group: Int, at time: SimTime) {
    guard isOn else { return }
    let hour = Int(time.microseconds / Self.hour)
    let next = countPlace(hour + 1, 0, .expiredTrainings)
    while counts.count < next { counts.append(0) }
    counts[countPlace(hour, group, count)] += 1
  }

  /// How often it happened in the whole run.
  public func total(_ count: Count) -> Int {
    stride(from: count.rawValue, to: counts.count, by: Count.allCases.count)
      .reduce(0) { $0 + Int(counts[$1]) }
  }

  private func countPlace(_ hour: Int, _ group: Int, _ count: Count) -> Int {
    (hour * sampled.count + group) * Count.allCases.count + count.rawValue
  }

  private var rowSize: Int { sampled.count * Column.allCases.count }

  private func place(_ hour: Int, _ group: Int, _ column: Column) -> Int {
    hour * rowSize + group * Column.allCases.count + column.rawValue
  }

  /// How many devices of the sample have a number below this.
  private static func slot(_ device: Int, _ fleet: Int, _ sample: Int) -> Int {
    fleet == 0 ? 0 : (device * sample + fleet - 1) / fleet
  }

  /// Whether a device is looked at: the n-th of k is number ⌊n × devices / k⌋.
  func samples(_ device: Int) -> Bool {
    guard isOn else { return false }
    let slot = Self.slot(device, fleetCount, sampleCount)
    return slot < sampleCount && slot * fleetCount / sampleCount == device
  }

  /// The first state of a device that is looked at; they come in order.
  mutating func begin(_ state: State, at time: SimTime) {
    marks.append(Mark(since: time, state: state))
  }

  /// A device that is looked at is in a state from now on.
  mutating func follow(_ device: Int, group: Int, _ state: State, at time: SimTime) {
    let slot = Self.slot(device, fleetCount, sampleCount)
    let mark = marks[slot]
    guard mark.state != state else { return }
    add(mark, group, until: time)
    marks[slot] = Mark(since: time, state: state)
  }

  /// The run is over.
  mutating func finish(_ device: Int, group: Int, at time: SimTime) {
    let slot = Self.slot(device, fleetCount, sampleCount)
    add(marks[slot], group, until: time)
    marks[slot].since = max(marks[slot].since, time)
  }

  /// Any device has trained.
  mutating func trained(group: Int, from: SimTime, to: SimTime) {
    guard isOn else { return }
    each(from, to) { hours, hour, span in
      hours.sums[hours.place(hour, group, .trainingOfAll)] += span
    }
  }

  private mutating func add(_ mark: Mark, _ group: Int, until: SimTime) {
    let state = mark.state
    guard !state.isEmpty else { return }
    each(mark.since, until) { hours, hour, span in
      func add(_ column: Column, if holds: Bool) {
        if holds { hours.sums[hours.place(hour, group, column)] += span }
      }
      add(.present, if: state.contains(.present))
      add(.wifi, if: state.contains(.wifi))
      add(.cellular, if: state.contains(.cellular))
      add(.plugged, if: state.contains(.plugged))
      add(.idle, if: state.contains(.idle))
      add(.training, if: state.contains(.training))
      if state.isSuperset(of: [.plugged, .idle]), !state.isDisjoint(with: [.wifi, .cellular]) {
        add(.pluggedIdleOnline, if: true)
        add(.pluggedIdleWifi, if: state.contains(.wifi))
      }
    }
  }

  /// The parts of a stretch of time by hour.
  private mutating func each(
    _ from: SimTime, _ to: SimTime, _ body: (inout FleetHours, Int, Int64) -> Void
  ) {
    var begin = from.microseconds
    while begin < to.microseconds {
      let hour = begin / Self.hour
      let end = min(to.microseconds, (hour + 1) * Self.hour)
      while count <= hour { for _ in 0..<rowSize { sums.append(0) } }
      body(&self, Int(hour), end - begin)
      begin = end
    }
  }
}
