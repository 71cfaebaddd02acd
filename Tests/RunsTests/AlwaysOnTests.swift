import DataSets
import Foundation
import Runs
import Scenarios
import Testing

@Suite("The always-on scenario against FedAvg written in NumPy")
struct AlwaysOnTests {
  /// Fixtures/always-on/make.py wrote initial weights, partition, batch orders, and the weights
  /// that five rounds of FedAvg in float64 end with.
  @Test("five rounds through the scenario file equal a NumPy loop to 1e-5 in every weight")
  func equalsNumPy() throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let root = here.deletingLastPathComponent().deletingLastPathComponent()
    let fixtures = here.appendingPathComponent("Fixtures/always-on").path
    let scenario = try Scenario(
      contentsOf: root.appendingPathComponent("scenarios/always-on.yaml").path,
      overrides: [
        "task.initialWeights=\(fixtures)/initial.npz",
        "task.data.partition={file: \(fixtures)/partition.npz}",
        "task.model={mlp: {hidden: [16]}}",
        "task.training.orders=\(fixtures)/orders.npz",
        "task.training.batchSize=10",
        "fleet.devices.count=20",
        "server.selector={uniform: {cohort: 20}}",
        "stop.rounds=5",
        "record.evaluateEvery={versions: 5}",
      ])
    var options = RunOptions()
    options.dataFolders =
      ProcessInfo.processInfo.environment["FEDSIM_DATA"].map { [$0] } ?? ["/usr/share/datasets"]
    var simulation = try scenario.makeSimulation(options)
    let before = simulation.model.values
    simulation.run()
    #expect(simulation.version == 5)
    let expected = try NPZ(contentsOf: "\(fixtures)/final.npz")
    var largest: Float = 0
    var moved: Float = 0
    for tensor in simulation.inputs.task.network.layout.tensors {
      let values = simulation.model.values(of: tensor)
      let wanted = try #require(try expected.array(named: tensor.name).floats)
      #expect(values.count == wanted.count)
      for (value, other) in zip(values, wanted) { largest = max(largest, abs(value - other)) }
    }
    for (new, old) in zip(simulation.model.values, before) { moved = max(moved, abs(new - old)) }
    #expect(largest <= 1e-5, "largest difference \(largest)")
    #expect(moved > 0.2, "make.py prints 0.2130 as the largest movement of a weight")
  }
}
