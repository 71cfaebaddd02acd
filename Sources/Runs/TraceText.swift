import DataSets
import FedSim

/// Traces as they are written, device by device.
struct TraceText {
  private let format: TraceExport.Format
  private let series: Series
  private let end: SimTime
  private var bytes: [UInt8] = []
  private var isFirst = true
  /// Messages or rows so far.
  private(set) var lines = 0

  /// Traces from the start of the run to an end at a whole second.
  init(_ format: TraceExport.Format, _ series: Series, end: SimTime) {
    self.format = format
    self.series = series
    self.end = end
    put(format == .flash ? "{" : Self.header)
  }

  private static let header = "device,from,to,state\n"
  private static let model = "\"model\": \"unknown\", \"messages\": \""

  /// Whether a text that begins so is one of these.
  static func isTraces(_ head: String, _ format: TraceExport.Format) -> Bool {
    switch format {
    case .flash: head.hasPrefix("{\n\"") && head.contains(model)
    case .csv: head.hasPrefix(header)
    }
  }

  /// The whole text.
  consuming func finished() -> [UInt8] {
    if format == .flash { put("\n}\n") }
    return bytes
  }

  /// Adds a device; `local` is the civil time at which the run starts there.
  mutating func add(
    _ device: String, local: Int64, _ timeline: (Series) -> (any Timeline)?
  ) {
    switch format {
    case .flash: addMessages(device, local, timeline)
    case .csv: if let timeline = timeline(series) { addRows(device, timeline) }
    }
  }

  private mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }

  // MARK: FLASH's messages

  private mutating func addMessages(
    _ device: String, _ local: Int64, _ timeline: (Series) -> (any Timeline)?
  ) {
    var messages: [(second: Int64, words: [String])] = []
    for series in [Series.power, .link, .usage] {
      guard let timeline = timeline(series) else { continue }
      messages += wholeSeconds(of: timeline).map { ($0.second, Self.words($0.state, of: series)) }
    }
    // At one second: power, link, usage.
    let order = messages.indices.sorted { (messages[$0].second, $0) < (messages[$1].second, $1) }
    put(isFirst ? "\n" : ",\n")
    isFirst = false
    put("\"\(device)\": {\"guid\": \"\(device)\", \(Self.model)")
    for place in order {
      for word in messages[place].words {
        put("\(FLASHFile.text(local + messages[place].second))\\t\(word)\\n")
        lines += 1
      }
    }
    put("\"}")
  }

  /// The state at the start, at the end, and at each whole second at which it is another than at
  /// the one before.
  private func wholeSeconds(of timeline: any Timeline) -> [(second: Int64, state: UInt8)] {
    var timeline = timeline
    var states: [(second: Int64, state: UInt8)] = [(0, timeline.state(at: .start))]
    var time = SimTime.start
    while let next = timeline.next(after: time, before: end) {
      time = next.time
      let second = (time.microseconds + 999_999) / 1_000_000
      // Of several changes within a second the last one counts, if it is one at all.
      if states.last!.second == second, states.count > 1 { states.removeLast() }
      if states.last!.state != next.state { states.append((second, next.state)) }
    }
    let last = end.microseconds / 1_000_000
    if states.last!.second == last, states.count > 1 { states.removeLast() }
    states.append((last, timeline.state(at: end)))
    return states
  }

  private static func words(_ state: UInt8, of series: Series) -> [String] {
    switch (series, state) {
    case (.power, 0): [FLASHEvent.chargedOff.rawValue]
    case (.power, _): [FLASHEvent.chargedOn.rawValue]
    case (.link, 0): ["Unknown"]
    case (.link, 1): ["4G"]
    case (.link, _): [FLASHEvent.wifi.rawValue]
    case (_, 0): [FLASHEvent.screenOff.rawValue, FLASHEvent.screenLock.rawValue]
    default: [FLASHEvent.screenOn.rawValue, FLASHEvent.screenUnlock.rawValue]
    }
  }

  // MARK: Tables

  private mutating func addRows(_ device: String, _ timeline: any Timeline) {
    var timeline = timeline
    let names = series.space.states
    var (time, state) = (SimTime.start, timeline.state(at: .start))
    while time < end {
      let next = timeline.next(after: time, before: end)
      let until = next?.time ?? end
      if state != 0 {
        put("\(device),\(Self.seconds(time)),\(Self.seconds(until)),\(names[Int(state)])\n")
        lines += 1
      }
      (time, state) = (until, next?.state ?? state)
    }
  }

  /// Seconds with as many decimals as needed.
  static func seconds(_ time: SimTime) -> String {
    let (whole, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    if rest == 0 { return "\(whole)" }
    var digits = String(1_000_000 + rest).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}
