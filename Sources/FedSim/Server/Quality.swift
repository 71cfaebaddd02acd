import Learning
import Numerics

/// What is known of the quality of versions, and when it is looked at again.
struct Quality: Codable {
  /// Up to when versions were evaluated on the test samples, where that is done by time.
  var evaluatedUntil = SimTime.start
  /// Up to when versions were evaluated on the devices' own samples, where that is done by time.
  var federatedUntil = SimTime.start
  /// The last federated evaluation, of the version that was current then.
  var federated: FederatedEvaluation?
  /// The places of all test samples.
  @Rebuilt var test: [Int32] = []
  /// The validation samples of all clients, ascending.
  @Rebuilt var validation: [Int32] = []
  /// Labels of the clients' samples, counted.
  var labels = LabelCountCache()

  init(_ inputs: SimulationInputs) {
    test = (0..<Int32(inputs.task.test.count)).map { $0 }
    validation = inputs.task.partition.validation.flatMap { $0 }.sorted()
  }

  /// Takes what was saved; what follows from the inputs stays.
  mutating func restore(_ saved: Quality) {
    let made = self
    self = saved
    (test, validation) = (made.test, made.validation)
  }
}
