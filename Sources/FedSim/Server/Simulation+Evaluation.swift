import Learning

extension Simulation {
  /// Whether a version is to be evaluated on the test samples.
  mutating func isEvaluationDue(_ version: Int) -> Bool {
    isDue(cx.inputs.record.evaluateEvery, version, \.evaluatedUntil)
  }

  /// Whether a version is to be evaluated on the devices' own samples.
  mutating func isFederatedEvaluationDue(_ version: Int) -> Bool {
    guard let settings = cx.inputs.record.federatedEvaluation else { return false }
    return isDue(settings.every, version, \.federatedUntil)
  }

  private mutating func isDue(
    _ schedule: EvaluationSchedule, _ version: Int, _ until: WritableKeyPath<Quality, SimTime>
  ) -> Bool {
    if cx.inputs.stop.versions == version { return true }
    if let every = schedule.versions { return version % every == 0 }
    guard let period = schedule.time, cx.now >= server.quality[keyPath: until] + period else {
      return false
    }
    server.quality[keyPath: until] = SimTime(
      microseconds: cx.now.microseconds / period.microseconds * period.microseconds)
    return true
  }

  /// The current model's quality, as an oracle sees it.
  public func evaluate() -> CentralEvaluation {
    let task = cx.inputs.task
    return CentralEvaluation(
      test: Evaluation(
        of: task.network, parameters: server.model, dataset: task.test,
        indices: server.quality.test,
        kernels: cx.inputs.kernels, pool: cx.inputs.pool),
      validation: server.quality.validation.isEmpty
        ? nil
        : Evaluation(
          of: task.network, parameters: server.model, dataset: task.train,
          indices: server.quality.validation, kernels: cx.inputs.kernels, pool: cx.inputs.pool))
  }

  /// The current model's accuracy on the held-out samples of each device's client; what is found
  /// stays as `federatedEvaluation`.
  mutating func evaluateDevices() -> FederatedEvaluation.Summary {
    if cx.inputs.omitsArithmetic { return FederatedEvaluation([]).summary }
    let evaluation = federated()
    server.quality.federated = evaluation
    return evaluation.summary
  }

  /// The current model's accuracy on each device's own samples, as an oracle sees it.
  ///
  /// A client whose data several devices have is evaluated once. Complexity: O(devices + samples of
  /// their clients).
  public func federated() -> FederatedEvaluation {
    if evaluatesPersonally { return FederatedEvaluation(personalEvaluations()) }
    let task = cx.inputs.task
    var places = Array(repeating: -1, count: task.partition.clientCount)
    var lists: (test: [[Int32]], train: [[Int32]]) = ([], [])
    var isTest: [Bool] = []
    for device in devices.all where Int(device.client) < places.count {
      let client = Int(device.client)
      guard places[client] < 0 else { continue }
      let (samples, indices) = task.heldOut(by: client)
      places[client] = isTest.count
      isTest.append(samples == .test)
      if samples == .test { lists.test.append(indices) } else { lists.train.append(indices) }
    }
    func each(_ lists: [[Int32]], of dataset: Dataset) -> [Evaluation] {
      Evaluation.each(
        of: task.network, parameters: server.model, dataset: dataset, lists: lists,
        kernels: cx.inputs.kernels, pool: cx.inputs.pool)
    }
    var tested = each(lists.test, of: task.test)[...]
    var trained = each(lists.train, of: task.train)[...]
    let found = isTest.map { $0 ? tested.removeFirst() : trained.removeFirst() }
    return FederatedEvaluation(
      devices.all.map { device in
        Int(device.client) < places.count
          ? found[places[Int(device.client)]] : Evaluation(count: 0, correct: 0, lossSum: 0)
      })
  }
}
