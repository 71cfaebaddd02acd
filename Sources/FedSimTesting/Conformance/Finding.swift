/// What a policy's parts promise, one by one; a finding names the one that is broken.
public enum Check: String, CaseIterable, Sendable {
  /// Settings that go together, and lists of the right length.
  case shape
  /// The same calls again give the same.
  case repeats
  /// State is in the memory that is saved with a run, and nowhere else; a copy of it goes its own
  /// way.
  case memory
  /// A memory that was encoded and decoded continues as it would have.
  case restored
  /// Bits depend on no place in memory, number of threads or compiled form of the arithmetic.
  case storage
  /// Sums hardly depend on the order of their terms: they are added in `Double`.
  case order
  /// Updates with equal samples and staleness count the same, and each once.
  case symmetry
  /// Weights that are known before the updates are the weights that are used.
  case weights
  /// Finite numbers give finite numbers.
  case finite
  /// An update without samples, or weights that are all alike, break no division.
  case zeroWeight
  /// A cohort's members are devices that wait, each once, and enough for its goal.
  case cohort
  /// Until the time that a selector names it turns away who asks again, and remembers nothing new.
  case closed
  /// Virtual time continues between two rings of a timer.
  case timer
  /// Rounds end, some of them with a version.
  case progress
  /// Every training, update and transmission has one end.
  case ledgers
  /// A run that is saved in the middle and restored continues with the same events.
  case saved
}

/// Something that a part does and must not, with the numbers that show it.
public struct Finding: Equatable, Sendable, CustomStringConvertible {
  /// The part's name in a scenario.
  public let part: String
  /// The promise that it breaks.
  public let check: Check
  /// What was found.
  public let message: String

  /// A finding.
  public init(part: String, check: Check, message: String) {
    self.part = part
    self.check = check
    self.message = message
  }

  /// Part, promise and what was found, on one line.
  public var description: String { "\(part), \(check.rawValue): \(message)" }
}

/// The findings about a part: of each promise the first.
struct Findings {
  let part: String
  let skipped: [Check]
  private(set) var list: [Finding] = []
  /// The promises that are broken, those that are left out among them.
  private var broken: [Check] = []

  init(_ part: String, skipping skipped: [Check]) {
    self.part = part
    self.skipped = skipped
  }

  mutating func add(_ check: Check, _ message: String) {
    if has(check) { return }
    broken.append(check)
    if skipped.contains(check) { return }
    list.append(Finding(part: part, check: check, message: message))
  }

  /// Whether a promise is broken; what rests on it then is not looked at.
  func has(_ check: Check) -> Bool { broken.contains(check) }
}
