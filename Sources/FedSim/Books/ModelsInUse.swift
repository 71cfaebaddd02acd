/// Which version the server used when: it loads one at a time.
public struct ModelsInUse: Sendable, Equatable {
  /// From when on each version was in use; nil: never.
  public let from: [SimTime?]
  /// How long each was.
  public let spans: [SimDuration]
  /// How long the latest version was not the one in use.
  public let behind: SimDuration

  /// What follows from the times of publication, in order from version 0, which is in use at the
  /// start.
  ///
  /// Order: what is loaded is the latest version as the loading begins, one that is published at
  /// this very time included.
  public init(published: [SimTime], loadTime: SimDuration, end: SimTime) {
    var from = [SimTime?](repeating: nil, count: published.count)
    var spans = [SimDuration](repeating: .zero, count: published.count)
    var behind = SimDuration.zero
    var (used, since, free) = (0, SimTime.start, SimTime.start)
    from[0] = .start
    var next = 1
    while next < published.count {
      let begin = max(free, published[next])
      var loaded = next
      while loaded + 1 < published.count, published[loaded + 1] <= begin { loaded += 1 }
      let done = begin + loadTime
      behind = behind + (min(done, end) - max(since, published[used + 1]))
      guard done <= end else { break }
      spans[used] = done - since
      (from[loaded], used, since, free) = (done, loaded, done, done)
      next = loaded + 1
    }
    spans[used] = end - since
    (self.from, self.spans, self.behind) = (from, spans, behind)
  }
}
