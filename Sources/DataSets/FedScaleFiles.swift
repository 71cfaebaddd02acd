import Schema

/// FedScale's two traces of devices: pickles of one fixed form each.
///
/// Source: FedScale, `benchmark/dataset/data/device_info`: `client_behave_trace` is `{id:
/// {duration, inactive, finish_time, active, model}}`, `client_device_capacity` is `{id:
/// {computation, communication}}`.
public enum FedScaleFiles {
  /// When one device is available.
  public struct Availability: Sendable {
    /// Its key in the file.
    public var id: String
    /// Intervals in seconds, in order; neighbours may touch.
    public var intervals: [(from: Int64, to: Int64)]
    /// After this many seconds they come again.
    public var finishTime: Int64
  }

  /// How fast one device computes and sends.
  public struct Capacity: Sendable {
    /// Its key in the file.
    public var id: String
    /// Milliseconds for the inference of one sample.
    public var computation: Double
    /// Thousands of bits a second.
    public var communication: Double
  }

  /// Reads availability traces and passes each on, in order.
  ///
  /// `active` and `inactive` are as long as each other, and each device is active before it is
  /// inactive and inactive before it is active again, within `finish_time`. `duration` and `model`
  /// are not needed. Throws: what `PickleReader` throws, and faults at the byte of what does not
  /// fit.
  public static func readAvailability(
    contentsOf path: String, _ body: (Availability) throws(DataFault) -> Void
  ) throws(DataFault) {
    var count = Count()
    try PickleReader.read(contentsOf: path) { key, value, bytes throws(DataFault) in
      let entry = try FedScaleEntry(key, value, bytes, &count, availabilityKeys)
      let finish = try entry.whole("finish_time", 1...4_000_000_000)
      let (active, inactive) = (try entry.seconds("active"), try entry.seconds("inactive"))
      guard active.count == inactive.count else {
        throw entry.fault(
          "inactive", .countMismatch, found: "\(inactive.count) times",
          expected: "as many as in `active`, \(active.count)")
      }
      var last: Int64 = 0
      var intervals: [(from: Int64, to: Int64)] = []
      for (from, to) in zip(active, inactive) {
        guard from.time <= finish else {
          throw entry.fault(
            at: from.at, .outOfRange, found: "active at \(from.time)",
            expected: "a time up to `finish_time`, \(finish)")
        }
        guard from.time >= last else {
          throw entry.fault(
            at: from.at, .outOfRange, found: "active again at \(from.time)",
            expected: "a time not before \(last), when it became inactive")
        }
        guard (from.time...finish).contains(to.time) else {
          throw entry.fault(
            at: to.at, .outOfRange, found: "inactive at \(to.time)",
            expected: "a time from \(from.time), when it became active, to `finish_time`, \(finish)"
          )
        }
        intervals.append((from.time, to.time))
        last = to.time
      }
      if entry.has("duration") { _ = try entry.whole("duration", 0...finish) }
      try body(Availability(id: entry.id, intervals: intervals, finishTime: finish))
    }
  }

  /// Reads capacities and passes each on, in order. Throws: as above.
  public static func readCapacity(
    contentsOf path: String, _ body: (Capacity) throws(DataFault) -> Void
  ) throws(DataFault) {
    var count = Count()
    try PickleReader.read(contentsOf: path) { key, value, bytes throws(DataFault) in
      let entry = try FedScaleEntry(key, value, bytes, &count, capacityKeys)
      try body(
        Capacity(
          id: entry.id, computation: try entry.positive("computation"),
          communication: try entry.positive("communication")))
    }
  }

  private static let availabilityKeys = ["duration", "inactive", "finish_time", "active", "model"]
  private static let capacityKeys = ["computation", "communication"]

  /// What was taken out of a file so far.
  struct Count {
    var ids: Set<String> = []
    var numbers = 0
  }
}

/// One device of a trace: a dictionary with known keys.
private struct FedScaleEntry {
  let id: String
  private let at: Int
  private let file: String
  private let entries: [(name: String, value: PickleItem)]

  init(
    _ key: PickleItem, _ value: PickleItem, _ bytes: borrowing PickleBytes,
    _ count: inout FedScaleFiles.Count, _ known: [String]
  ) throws(DataFault) {
    file = bytes.file
    at = value.at
    switch key.value {
    case .integer(let number): id = "\(number)"
    case .text(let text): id = text
    default:
      throw bytes.fault(
        .malformed, at: key.at, found: key.found, expected: "a device's id, a number or a text")
    }
    guard count.ids.insert(id).inserted else {
      throw bytes.fault(
        .duplicate, at: key.at, found: "the device `\(id)` again", expected: "each id once")
    }
    guard case .dictionary(let dictionary) = value.value else {
      throw bytes.fault(
        .malformed, at: value.at, found: value.found,
        expected: "a dictionary with \(known.joined(separator: ", "))")
    }
    var entries: [(name: String, value: PickleItem)] = []
    for (key, value) in dictionary.entries {
      guard case .text(let name) = key.value, known.contains(name) else {
        var advice: String?
        if case .text(let name) = key.value {
          advice = Spelling.nearest(to: name, among: known).map { "did you mean `\($0)`?" }
        }
        throw bytes.fault(
          .unknownName, at: key.at, found: key.found,
          expected: "one of \(known.joined(separator: ", "))", advice: advice)
      }
      guard !entries.contains(where: { $0.name == name }) else {
        throw bytes.fault(
          .duplicate, at: key.at, found: "`\(name)` again", expected: "each key once")
      }
      if let list = value.value.container as? PickleList { count.numbers += list.items.count }
      entries.append((name, value))
    }
    // Lists that are shared count as often as they are used: a small file is no large one.
    guard count.numbers <= bytes.offset else {
      throw bytes.fault(
        .tooLarge, at: value.at, found: "lists used repeatedly, \(count.numbers) numbers",
        expected: "no more numbers than bytes")
    }
    self.entries = entries
  }

  func has(_ name: String) -> Bool { entries.contains { $0.name == name } }

  func fault(
    at place: Int, _ kind: DataFault.Kind, found: String, expected: String
  ) -> DataFault {
    DataFault(kind, in: file, at: .byte(place), found: found, expected: expected)
  }

  func fault(
    _ name: String, _ kind: DataFault.Kind, found: String, expected: String
  ) -> DataFault {
    let item = entries.first { $0.name == name }?.value
    return fault(
      at: item?.at ?? at, kind, found: "\(found) in `\(name)` of `\(id)`", expected: expected)
  }

  private func value(_ name: String) throws(DataFault) -> PickleItem {
    guard let entry = entries.first(where: { $0.name == name }) else {
      throw fault(at: at, .missingName, found: "no `\(name)` in `\(id)`", expected: "one")
    }
    return entry.value
  }

  func whole(_ name: String, _ range: ClosedRange<Int64>) throws(DataFault) -> Int64 {
    let item = try value(name)
    guard let number = Self.whole(item), range.contains(number) else {
      throw fault(
        name, Self.isNumber(item) ? .outOfRange : .malformed, found: item.found,
        expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Times, each with its byte.
  func seconds(_ name: String) throws(DataFault) -> [(time: Int64, at: Int)] {
    let item = try value(name)
    guard case .list(let list) = item.value else {
      throw fault(name, .malformed, found: item.found, expected: "a list of times")
    }
    var times: [(time: Int64, at: Int)] = []
    for item in list.items {
      guard let time = Self.whole(item), (0...4_000_000_000).contains(time) else {
        throw fault(
          at: item.at, Self.isNumber(item) ? .outOfRange : .malformed,
          found: "\(item.found) in `\(name)` of `\(id)`", expected: "a time in whole seconds")
      }
      times.append((time, item.at))
    }
    return times
  }

  func positive(_ name: String) throws(DataFault) -> Double {
    let item = try value(name)
    let number: Double
    switch item.value {
    case .integer(let whole): number = Double(whole)
    case .number(let value): number = value
    default:
      throw fault(name, .malformed, found: item.found, expected: "a number above 0")
    }
    guard number > 0, number <= 1e12 else {
      throw fault(
        name, .outOfRange, found: item.found, expected: "a number above 0, at most 1e12")
    }
    return number
  }

  private static func isNumber(_ item: PickleItem) -> Bool {
    switch item.value {
    case .integer, .number: true
    default: false
    }
  }

  private static func whole(_ item: PickleItem) -> Int64? {
    switch item.value {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number)
    default: nil
    }
  }
}
