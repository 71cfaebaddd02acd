import Learning

/// The server of a run as others may read it, and the questions that only an oracle answers.
public struct ServerRecord {
  let server: Server
  let cx: Context

  /// Updates that wait.
  public var pendingCount: Int { server.pending.count }
  /// What the groups of the fleet count in the next version; empty where they have no weights.
  public var groupWeights: [Double] { Publication.groupWeights(server, cx) }
  /// What goes with the current version, such as SCAFFOLD's server variate; none: zeros.
  public var companions: [ParameterBuffer] { ClientStates.companions(server, cx) }

  /// The current model's quality, as an oracle sees it.
  public func evaluate() -> CentralEvaluation { Quality.evaluate(server, cx) }
  /// The current model's accuracy on each device's own samples, as an oracle sees it.
  ///
  /// A client whose data several devices have is evaluated once. Complexity: O(devices + samples of
  /// their clients).
  public func federated() -> FederatedEvaluation { Quality.federated(server, cx) }
  /// The last federated evaluation, of the version that was current then.
  public var federatedEvaluation: FederatedEvaluation? { server.quality.federated }
  /// Evaluations that the server asked devices for, in order.
  public var evaluations: [EvaluationRecord] { Array(server.instructions.evaluations) }

  /// Aggregations that took time, counted; nil where they take none.
  public var aggregationTallies: AggregationTallies? {
    cx.inputs.server.aggregationTime == nil ? nil : server.aggregations
  }
  /// How often its process has stopped for a restart; nil where it never does.
  public var restartCount: Int? {
    cx.inputs.server.restarts == nil ? nil : Int(cx.network.server.process.stops)
  }
  /// Requests that reached the server, counted; nil where it handles them at once.
  public var serviceTallies: ServiceTallies? {
    server.service.settings == nil ? nil : server.service.tallies
  }
  /// What happened between devices and server beyond the usual; nil where nothing asks for it.
  public var exchangeTallies: ExchangeTallies? { cx.features.isOn ? cx.books.exchange : nil }
  /// What happened where the server asks for more than trainings; nil where it does not.
  public var instructionTallies: InstructionTallies? {
    cx.features.hasInstructions ? cx.books.instructions : nil
  }

  /// The names of the files that are in the store now, in the order in which they came.
  public var storedFiles: [String] {
    cx.collection.store.filter {
      cx.collection.files.contains($0) && cx.collection.files[$0].inStore.isThere
    }
    .map { SampleStore.fileName(of: $0, cx) }
  }
}
