import FedSim
import Learning
import Schema

extension Choice where Value == any Aggregator {
  /// An aggregator, as a scenario would choose it.
  public static func part<P: Aggregator>(
    _ type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> Choice { Choice(type, settings) { $0 } }
}

extension Choice where Value == any AggregationTrigger {
  /// A trigger, as a scenario would choose it.
  public static func part<P: AggregationTrigger>(
    _ type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> Choice { Choice(type, settings) { $0 } }

  /// `threshold`, of this many updates.
  public static func threshold(_ updates: Int) -> Choice {
    var settings = ThresholdTrigger.Settings()
    settings.updates = updates
    return .part(ThresholdTrigger.self, settings)
  }
}

extension Choice where Value == AnySelector {
  /// A selector, as a scenario would choose it.
  public static func part<P: ClientSelector>(
    _ type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> Choice { Choice(type, settings) { $0 } }

  /// `uniform`: cohorts of this many devices.
  public static func cohorts(of devices: Int) -> Choice {
    var settings = UniformSelector.Settings()
    settings.cohort = devices
    return .part(UniformSelector.self, settings)
  }
}

extension Choice where Value == any UpdateTransform {
  /// A transform, as a scenario would choose it.
  public static func part<P: UpdateTransform>(
    _ type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> Choice { Choice(type, settings) { $0 } }
}

extension Choice where Value == any ServerOptimizer {
  /// An optimizer, as a scenario would choose it.
  public static func part<P: ServerOptimizer>(
    _ type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> Choice { Choice(type, settings) { $0 } }
}
