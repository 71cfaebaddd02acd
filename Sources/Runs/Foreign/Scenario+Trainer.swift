import DataSets
import FedSim
import Learning
import Numerics
import Scenarios
import Schema

extension Scenario {
  /// What devices learn where a trainer in Python trains: starts it and asks it.
  ///
  /// Throws: faults of the trainer, and of what does not go with one.
  func trainerTask(
    _ python: PythonSettings, _ options: RunOptions, _ folders: DataFolders
  ) throws(Faults) -> LearningTask {
    let keys = ["task", "python", "trainer"]
    if options.workers > 0 {
      throw trainerFault(
        "the trainer has separate processes (`workers`): leave out --workers", at: keys)
    }
    let trainer: PythonTrainer
    let initial: ParameterBuffer
    do throws(PythonTrainer.NotReady) {
      trainer = try PythonTrainer(
        python, folder: path(of: "."), threads: options.threads,
        groups: settings.fleet.map { ($0.name, $0.count) })
      initial = try trainer.initial(seed: seeds.initial)
    } catch {
      throw trainerFault("`\(python.trainer)`: \(error.reason)", at: keys)
    }
    let faults = trainerFaults(trainer)
    guard faults.isEmpty else { throw Faults(faults) }
    let users = trainer.users.map {
      DataUsers(names: $0.names, shards: $0.shards, tests: $0.tests)
    }
    let data = TrainAndTest(train: trainer.train, test: trainer.test, users: users)
    let partition = try makePartition(data, folders)
    let network = Network(trainer)
    return LearningTask(
      network: network,
      initial: settings.task.initialWeights == nil
        ? initial : try initialParameters(of: network, nil),
      train: data.train, test: data.test, partition: partition, plan: settings.task.training.plan,
      algorithm: settings.task.training.algorithm.value, orders: try batchOrders(of: partition),
      clientTests: settings.task.data.partition.value.clientTests(of: data),
      isInitialGiven: settings.task.initialWeights != nil)
  }

  private func trainerFault(_ message: String, at keys: [String]) -> Faults {
    Faults([Fault(at: place(of: keys), path: keys.dottedPath, .contradiction(message))])
  }

  /// What a trainer in Python cannot do, or has not said.
  private func trainerFaults(_ trainer: PythonTrainer) -> [Fault] {
    var faults: [Fault] = []
    func refuse(_ message: String, at keys: [String]) {
      faults.append(Fault(at: place(of: keys), path: keys.dottedPath, .contradiction(message)))
    }
    let by = "the trainer of `task.python`"
    for (index, group) in settings.fleet.enumerated() {
      let keys = ["fleet", "[\(index)]"]
      if group.hardware != nil, trainer.cost == nil {
        refuse(
          "\(by) does not say what a step costs: give it `operations_per_sample`, or say how long"
            + " a batch takes (`compute`) in place of `hardware`", at: keys + ["hardware"])
      }
      if let attack = group.adversary?.attack, attack.value.relabelling(classCount: 2) != nil {
        refuse(
          "`\(attack.name)` changes labels, which \(by) has", at: keys + ["adversary", "attack"])
      }
      if group.protocol?.evaluation == .asCoded {
        refuse("\(by) does not train on test samples", at: keys + ["protocol", "evaluation"])
      }
    }
    if settings.server.selector.value.needs.contains(.lossSquares) {
      refuse(
        "`\(settings.server.selector.name)` chooses by the squares of losses, and \(by) gives their"
          + " sum", at: ["server", "selector"])
    }
    if trainer.test.count == 0, settings.task.learning == nil, settings.stop.accuracy != nil {
      refuse("\(by) has no test samples", at: ["stop", "accuracy"])
    }
    return faults
  }
}

extension [String] {
  /// Keys joined by dots; an index such as `[2]` needs none.
  fileprivate var dottedPath: String { joined(separator: ".").replacing(".[", with: "[") }
}
