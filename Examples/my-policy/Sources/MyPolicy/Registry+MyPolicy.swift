import Scenarios

extension Registry {
  /// The parts that come with the simulator, and those of this package.
  public static let withMyPolicy = Registry.standard
    .adding(OlympicMean.self)
    .adding(PatientTrigger.self)
}
