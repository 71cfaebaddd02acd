import FedSim
import Learning
import Schema

/// The mean of each parameter without its largest and smallest values, as judges count marks.
///
/// Source: Yin et al., "Byzantine-robust distributed learning: towards optimal statistical rates"
/// (2018), definition 2. Differs: the number left out at each end is given, not a share, which is
/// what FedSim's own `trimmed-mean` does.
public struct OlympicMean: Aggregator {
  /// Its name in a scenario.
  public static let name = "olympic-mean"
  /// What it does, in one sentence.
  public static let summary = "Per parameter, the mean without the largest and smallest values"

  /// What can be set.
  public struct Settings: PartSettings {
    /// How many values are left out at each end.
    public var trim = 1
    /// The defaults.
    public init() {}
    /// The field that a bare value represents.
    public static var shorthand: String? { "trim" }
    /// The fields, in the order in which they are documented and written.
    public static var fields: [Field<Settings>] {
      [
        Field(
          "trim", \.trim, .integer(0...1000),
          "Number of values to leave out at each end; at least one value remains")
      ]
    }
  }

  private let settings: Settings
  /// Made from its settings.
  public init(_ settings: Settings) { self.settings = settings }

  /// Order: of the values, smallest first, in `Double`, rounded to float once.
  public func combine(
    _ batch: AggregationBatch, _ memory: inout NoMemory
  ) -> ParameterBuffer {
    let updates = batch.updates
    let trim = min(settings.trim, (updates.count - 1) / 2)
    return ParameterBuffer(count: batch.current.count) { target in
      for place in 0..<target.count {
        let values = updates.map { update in
          let value = Double(update.parameters[place])
          return batch.payload == .delta ? value - Double(update.base[place]) : value
        }
        let kept = values.sorted().dropFirst(trim).dropLast(trim)
        target[place] = Float(kept.reduce(0, +) / Double(kept.count))
      }
    }
  }
}
