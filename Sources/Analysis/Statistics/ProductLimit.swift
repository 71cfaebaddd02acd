/// Kaplan and Meier's estimate of when something happens, where some were not watched long enough.
///
/// Source: Kaplan and Meier (1958).
public struct ProductLimit: Sendable, Equatable {
  /// The times at which it happened to somebody, lowest first, and the share to whom it had not
  /// happened just after.
  public let steps: [(time: Double, share: Double)]

  /// Of the times at which it happened, and of those until which it had not.
  ///
  /// Who was watched until a time at which it happened to another was still there then.
  public init(happened: [Double], notUntil: [Double]) {
    let times = Statistics.sorted(happened)
    var steps: [(time: Double, share: Double)] = []
    var share = 1.0
    var index = 0
    while index < times.count {
      let time = times[index]
      let left = times.count - index + notUntil.count { $0 >= time }
      let now = times.count { $0 == time }
      share *= Double(left - now) / Double(left)
      steps.append((time, share))
      index += now
    }
    self.steps = steps
  }

  /// The first time by which it happened to a share of all; nil: it did not, as far as was watched.
  public func quantile(_ share: Double) -> Double? {
    steps.first { $0.share <= 1 - share + 1e-12 }?.time
  }

  /// The first time by which it happened to half; nil: it did not, as far as was watched.
  public var median: Double? { quantile(0.5) }

  /// Whether two estimates have the same steps.
  public static func == (a: ProductLimit, b: ProductLimit) -> Bool {
    a.steps.elementsEqual(b.steps) { $0 == $1 }
  }
}
