import Learning

extension Quality {
  /// Whether a version is evaluated.
  enum Turn { case evaluated, passed }

  /// A version takes its turn to be evaluated on the test samples, if one has come.
  static func takeTurn(_ version: Int, _ server: inout Server, _ cx: borrowing Context) -> Turn {
    takeTurn(cx.inputs.record.evaluateEvery, version, \.evaluatedUntil, &server, cx)
  }

  /// A version takes its turn to be evaluated on the devices' own samples, if one has come.
  static func takeFederatedTurn(_ version: Int, _ server: inout Server, _ cx: borrowing Context)
    -> Turn
  {
    guard let settings = cx.inputs.record.federatedEvaluation else { return .passed }
    return takeTurn(settings.every, version, \.federatedUntil, &server, cx)
  }

  private static func takeTurn(
    _ schedule: EvaluationSchedule, _ version: Int, _ until: WritableKeyPath<Quality, SimTime>,
    _ server: inout Server, _ cx: borrowing Context
  ) -> Turn {
    if cx.inputs.stop.versions == version { return .evaluated }
    if let every = schedule.versions { return version % every == 0 ? .evaluated : .passed }
    guard let period = schedule.time, cx.now >= server.quality[keyPath: until] + period else {
      return .passed
    }
    server.quality[keyPath: until] = SimTime(
      microseconds: cx.now.microseconds / period.microseconds * period.microseconds)
    return .evaluated
  }

  /// The current model's quality, as an oracle sees it.
  static func evaluate(_ server: borrowing Server, _ cx: borrowing Context) -> CentralEvaluation {
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
  static func evaluateDevices(_ server: inout Server, _ cx: inout Context)
    -> FederatedEvaluation.Summary
  {
    if cx.inputs.omitsArithmetic { return FederatedEvaluation([]).summary }
    let evaluation = federated(server, cx)
    server.quality.federated = evaluation
    return evaluation.summary
  }

  /// The current model's accuracy on each device's own samples, as an oracle sees it.
  ///
  /// A client whose data several devices have is evaluated once. Complexity: O(devices + samples of
  /// their clients).
  static func federated(
    _ server: borrowing Server, _ cx: borrowing Context
  ) -> FederatedEvaluation {
    if evaluatesPersonally(cx) {
      return FederatedEvaluation(
        personalEvaluations(server, cx), of: cx.inputs.task.train.kind)
    }
    let task = cx.inputs.task
    var places = Array(repeating: -1, count: task.partition.clientCount)
    var lists: (test: [[Int32]], train: [[Int32]]) = ([], [])
    var isTest: [Bool] = []
    for client in cx.members.clients.lazy.map({ Int($0) }) where client < places.count {
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
      cx.members.clients.map { client in
        Int(client) < places.count
          ? found[places[Int(client)]] : Evaluation(count: 0, correct: 0, lossSum: 0)
      }, of: task.train.kind)
  }
}
