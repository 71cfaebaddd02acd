import Foundation
import Testing

import FedSim
import Learning
import Runs
import Scenarios
import Schema

@Suite("Models of layers in a run")
struct LayeredModelTests {
  @Test("values that are no tokens are a fault before the run")
  func tokens() throws {
    let scenario = try Night.scenario(
      "task.model={layers: [{embedding: {count: 5, width: 3}}, flatten, {dense: 3}]}")
    let error = try #require(throws: Faults.self) { _ = try scenario.makeSimulation() }
    #expect(error.faults.count == 1)
    #expect(
      error.faults[0].description.contains(
        "task.model: the embedding takes whole numbers from 0 to 4, and the training samples have"))
  }

  @Test(
    "a frozen layer keeps its initial bits through every aggregation, the others move",
    arguments: ["weights", "delta"])
  func frozen(payload: String) throws {
    let run = try Night.run(
      "task.model={layers: [{dense: {units: 4, activation: relu, isUpdatable: false}}, "
        + "{dense: 3}]}",
      "server.payload=\(payload)")
    let simulation = run.simulation
    #expect(simulation.version > 5)
    let initial = simulation.inputs.task.initial
    for tensor in simulation.inputs.task.network.layout.tensors {
      let isKept = simulation.model.values(of: tensor) == initial.values(of: tensor)
      #expect(isKept == tensor.name.hasPrefix("dense1"), "\(tensor.name)")
    }
  }

  @Test(
    "every preset and optimiser gives one file for 1 and 3 threads, all bodies, lazy and eager",
    arguments: [
      "softmax", "{mlp: {hidden: [6, 5]}}", "{lstm: {}}",
      "{layers: [{dense: {units: 6, activation: tanh}}, {dropout: 0.3}, {dense: 3}]}",
    ], ["{sgd: {learningRate: 0.05, momentum: 0.9}}", "{adam: {}}"])
  func sameBytes(model: String, optimizer: String) throws {
    func digest(_ change: (inout RunOptions) -> Void) throws -> String {
      var options = RunOptions()
      change(&options)
      return try Night.run(
        "task.model=\(model)", "task.training.optimizer=\(optimizer)", "stop.after=1 d",
        options: options
      ).document.contentDigest
    }
    let reference = try digest { _ in }
    #expect(try digest { $0.threads = 3 } == reference)
    #expect(try digest { $0.compute = .eager } == reference)
    for body in KernelBody.allCases where body.isSupported {
      #expect(try digest { $0.kernels = body } == reference, "\(body)")
    }
  }
}
