extension ObservedEvent {
  /// What happened in the words of the event log, without time and device: kind, detail, and the
  /// numbers that are there.
  public var words: String {
    let facts = kind.facts
    return EventLog.words(
      EventLog.kinds[Int(facts.kind)], EventLog.details[Int(facts.detail)],
      version: facts.version, update: facts.update, count: facts.count)
  }
}

extension EventLog {
  /// A row of the log in words: kind, detail unless it is `none`, and the numbers that are not -1.
  public static func words(
    _ kind: String, _ detail: String, version: Int, update: Int, count: Int
  ) -> String {
    var text = detail == "none" ? kind : "\(kind) \(detail)"
    for (name, number) in [("version", version), ("update", update), ("count", count)]
    where number >= 0 { text += ", \(name) \(number)" }
    return text
  }
}
