import DataSets
import Foundation
import Testing

import FedSim
import Learning
import Runs
import Scenarios

@Suite("FedAvg with every device always there")
struct AlwaysOnTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures/always-on").path

  private static let text = """
    stop: {versions: 5, after: 1 d}
    task:
      data:
        source: fashion-mnist
        partition: {file: partition.npz}
      model: {mlp: {hidden: [16]}}
      initialWeights: initial.npz
      training: {epochs: 1, batchSize: 10, optimizer: {sgd: 0.1}, orders: orders.npz}
    fleet:
      - name: devices
        count: 20
        background: {windows: {fixed: open}}
        participation: {repeats: true, pause: 1 s}
        compute: {perBatch: 100 ms}
    server:
      policy: synchronous-fedavg
      payload: delta
      selector: {uniform: {cohort: 20, overSelection: 1}}
      trigger: {cohort-complete: {}}
    """

  @Test("five rounds equal those of a loop written in NumPy, to 1e-5 in every weight")
  func numpy() throws {
    let scenario = try Scenario(text: Self.text, file: Self.folder + "/always-on.yaml")
    var simulation = try scenario.makeSimulation()
    simulation.run()
    #expect(simulation.version == 5)
    #expect(simulation.ledgers.updates[.aggregated] == 100)
    let expected = try NPZ(contentsOf: Self.folder + "/final.npz")
    let initial = try NPZ(contentsOf: Self.folder + "/initial.npz")
    var moved: Float = 0
    for tensor in simulation.inputs.task.network.layout.tensors {
      let values = simulation.model.values(of: tensor)
      let wanted = try #require(expected.array(named: tensor.name).floats)
      let before = try #require(initial.array(named: tensor.name).floats)
      let distance = zip(values, wanted).map { abs($0 - $1) }.max() ?? .infinity
      #expect(distance < 1e-5, "\(tensor.name)")
      moved = max(moved, zip(before, wanted).map { abs($0 - $1) }.max() ?? 0)
    }
    #expect(moved > 0.05, "the model has moved far beyond the tolerance")
  }
}
