import Schema

/// The server's configuration of cycles, as PyGrid's `server_config`.
public struct CycleSettings: PartSettings {
  /// What PyGrid does, and what it says that it does.
  public enum Mode: String, CaseIterable, Sendable {
    /// The end of a cycle is looked at when a report arrives; every request is its own worker;
    /// bounds of workers and their reuse are read and never used; one cycle fewer than
    /// `cycles` lets anyone in.
    case asCoded
    /// A timer ends the cycle; a device is one worker; every field has its meaning.
    case asDocumented
  }

  /// Which of the two.
  public var mode = Mode.asCoded
  /// How long a cycle lasts at least, unless enough reports come; nil: only reports end it.
  public var length: SimDuration? = .hours(8)
  /// Workers that a cycle needs before it can end.
  public var minimumWorkers: Int?
  /// Workers that a cycle takes.
  public var maximumWorkers: Int?
  /// Reports without which a cycle does not end.
  public var minimumDiffs: Int?
  /// Reports that end a cycle early.
  public var maximumDiffs: Int?
  /// After this many cycles nobody is let in; nil: no end.
  public var cycles: Int?
  /// A worker of a cycle is let in again this many cycles later.
  public var reuseAfter = 1
  /// The slowest link from a device that is let in.
  public var minimumUpload: BitRate?
  /// The slowest link to a device that is let in.
  public var minimumDownload: BitRate?
  /// Size of the plan, which is downloaded after the model; nil: there is none.
  public var planBytes: Int64?

  public init() {}
  public static var shorthand: String? { "mode" }
  public static var fields: [Field<CycleSettings>] {
    [
      Field(
        "mode", \.mode, .choice,
        "PyGrid as coded, or as documented: with a timer, one worker per "
          + "device, and limits that take effect"),
      Field(
        "length", \.length, optional: .duration(atLeast: .milliseconds(1)),
        "Time after which a cycle ends if it has enough reports (cycle_length); absent: reports "
          + "alone"
      ),
      Field(
        "minimumWorkers", \.minimumWorkers, optional: .integer(0...10_000_000),
        "Minimum number of workers to end a cycle (min_workers); asCoded: no effect"),
      Field(
        "maximumWorkers", \.maximumWorkers, optional: .integer(1...10_000_000),
        "Maximum number of workers in a cycle (max_workers); asCoded: no effect"),
      Field(
        "minimumDiffs", \.minimumDiffs, optional: .integer(0...10_000_000),
        "Minimum number of reports to end a cycle (min_diffs)"),
      Field(
        "maximumDiffs", \.maximumDiffs, optional: .integer(1...10_000_000),
        "Number of reports that ends a cycle early (max_diffs)"),
      Field(
        "cycles", \.cycles, optional: .integer(1...100_000_000),
        "Number of cycles, after which no worker is accepted (num_cycles; asCoded: one less); "
          + "absent: no limit"),
      Field(
        "reuseAfter", \.reuseAfter, .integer(1...1_000_000),
        "Cycles before a worker is accepted again (do_not_reuse_workers_until_cycle); "
          + "asCoded: at once"),
      Field(
        "minimumUpload", \.minimumUpload, optional: .rate,
        "Minimum uplink rate of a device to be accepted (minimum_upload_speed)"),
      Field(
        "minimumDownload", \.minimumDownload, optional: .rate,
        "Minimum downlink rate of a device to be accepted (minimum_download_speed)"),
      Field(
        "planBytes", \.planBytes, feature: .bytes,
        "Size of the plan, requested with the key after the model (get-plan); absent: no "
          + "such request"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if let least = minimumDiffs, let most = maximumDiffs, least > most {
      return [("minimumDiffs", "`minimumDiffs` is above `maximumDiffs`")]
    }
    if let least = minimumWorkers, let most = maximumWorkers, least > most {
      return [("minimumWorkers", "`minimumWorkers` is above `maximumWorkers`")]
    }
    return []
  }
}

/// An open cycle, as triggers see it.
public struct CycleView: Sendable, Equatable, Codable {
  /// When its time is over; `.never` without an end.
  public let endsAt: SimTime
  /// Workers let in so far.
  public internal(set) var workers: Int32 = 0
  /// Workers without which it does not end.
  public let minimumWorkers: Int32
  /// Reports without which it does not end.
  public let minimumDiffs: Int32
  /// Reports that end it early; 0: no number does.
  public let maximumDiffs: Int32

  /// A cycle that opens now.
  public init(_ settings: CycleSettings, openedAt: SimTime) {
    endsAt = settings.length.map { openedAt + $0 } ?? .never
    minimumWorkers =
      settings.mode == .asCoded ? 0 : Int32(settings.minimumWorkers ?? 0)
    minimumDiffs = Int32(settings.minimumDiffs ?? 0)
    maximumDiffs = Int32(settings.maximumDiffs ?? 0)
  }

  /// Whether a cycle with this many reports is averaged, when looked at now.
  ///
  /// Source: PyGrid's `CycleManager.complete_cycle`.
  public func isReady(reports: Int, at now: SimTime) -> Bool {
    guard reports >= minimumDiffs, workers >= minimumWorkers else { return false }
    if maximumDiffs == 0, endsAt == .never { return true }
    return maximumDiffs > 0 && reports >= maximumDiffs || now >= endsAt
  }
}

/// A device that asks to be let into a cycle.
public struct CycleWorker: Sendable {
  /// The last cycle that it was let into; 0: none.
  public let lastCycle: Int
  /// The rate of its link to the server.
  public let upload: BitRate
  /// The rate of its link from the server.
  public let download: BitRate

  /// A device with this past and link.
  public init(lastCycle: Int, upload: BitRate, download: BitRate) {
    self.lastCycle = lastCycle
    self.upload = upload
    self.download = download
  }
}

/// What a cycle says to a device that asks.
public enum CycleAnswer: Sendable, Equatable {
  /// It is let in, with a key that is good while the cycle is open.
  case accepted
  /// It is not; it may ask again after a time, below zero where that is past, or never.
  case rejected(timeout: SimDuration?)
  /// The server fails over the request, and says so.
  case failed
}

/// A selector that lets devices into cycles: who is let in gets a key, good for one cycle.
public protocol CycleAdmission: ClientSelector {
  /// The cycles' configuration.
  var cycle: CycleSettings { get }
  /// Decides the answer to a device in the open cycle.
  func admit(
    _ worker: CycleWorker, _ cycle: CycleView, _ server: ServerView, _ memory: inout Memory
  ) -> CycleAnswer
}

extension CycleAdmission {
  /// It lets devices into cycles.
  public var erased: AnySelector { AnySelector(.cycles(self)) }

  /// Decides the answer to a device, for a caller that does not know the type of its memory.
  public func admit(
    _ worker: CycleWorker, _ cycle: CycleView, _ server: ServerView, with memory: inout AnyMemory
  ) -> CycleAnswer {
    memory.change(Memory.self) { admit(worker, cycle, server, &$0) }
  }
}

/// Cycles as in PyGrid: requests are accepted with a key or rejected with a timeout.
public struct CycleSelector: CycleAdmission {
  public static let name = "cycles"
  public static let summary =
    "PyGrid's cycles: a request is accepted with a key for the open cycle, or rejected with a "
    + "timeout"

  /// The cycles' configuration.
  public let cycle: CycleSettings
  public init(_ settings: CycleSettings) { cycle = settings }

  /// Decides the answer to a device in the open cycle.
  ///
  /// Source: PyGrid's `FLController.assign`; its count of cycles includes the open one.
  public func admit(
    _ worker: CycleWorker, _ view: CycleView, _ server: ServerView, _ memory: inout NoMemory
  ) -> CycleAnswer {
    let isCoded = cycle.mode == .asCoded
    let isLast = cycle.cycles.map { isCoded ? server.round >= $0 : server.round > $0 } ?? false
    if isLast { return .rejected(timeout: nil) }
    var isWelcome =
      worker.upload.bitsPerSecond >= cycle.minimumUpload?.bitsPerSecond ?? 0
      && worker.download.bitsPerSecond >= cycle.minimumDownload?.bitsPerSecond ?? 0
    if !isCoded {
      if let most = cycle.maximumWorkers, view.workers >= most { isWelcome = false }
      if worker.lastCycle > 0, server.round < worker.lastCycle + cycle.reuseAfter {
        isWelcome = false
      }
    }
    if isWelcome { return .accepted }
    // Cycles without an end: the time left is computed nevertheless, which raises.
    if isCoded, view.endsAt == .never { return .failed }
    return .rejected(timeout: view.endsAt == .never ? nil : view.endsAt - server.now)
  }
}

/// The open cycle has enough reports, or its time is over.
public struct CycleEndTrigger: AggregationTrigger {
  public static let name = "cycle-end"
  public static let summary = "Ends a cycle of the selector `cycles` by its reports and its time"

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// The end of a cycle, where cycles have a timer.
  public var timer: TriggerTimer? { .cycleEnd }
  /// It needs cycles.
  public var needs: TriggerNeeds { .cycles }

  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout NoMemory
  ) -> TriggerDecision {
    guard moment != .failure, let cycle = server.cycle, server.pending > 0 else { return .wait }
    return cycle.isReady(reports: server.pending, at: server.now) ? .aggregate : .wait
  }
}
