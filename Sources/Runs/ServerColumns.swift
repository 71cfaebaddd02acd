import FedSim
import Learning
import Results
import Schema

/// What the server's own work costs and brings, where the scenario asks for it.
enum ServerColumns {
  /// Which version the server used when; nil where nobody asks.
  static func modelsInUse(_ versions: [VersionRecord], _ simulation: Simulation) -> ModelsInUse? {
    guard let settings = simulation.inputs.server.modelInUse, let last = versions.last else {
      return nil
    }
    return ModelsInUse(
      published: versions.map(\.publishedAt), loadTime: settings.loadTime,
      // Of a run that was interrupted, a journal may tell of later versions.
      end: max(simulation.now, last.publishedAt))
  }

  /// Columns of the table of versions.
  static func byVersion(
    _ versions: [VersionRecord], _ simulation: Simulation
  ) -> [ResultDocument.Variable] {
    let axis = ["version"]
    var variables: [ResultDocument.Variable] = []
    if let weights = simulation.inputs.record.averageAccuracy {
      variables.append(
        .number(
          "averageAccuracy", axis, versions.map { $0.averageAccuracy ?? .nan },
          "mean of the validation accuracies that came with the updates",
          comment: weights == .updates
            ? "each update counts the same; NaN without any"
            : "weighted by the updates' samples; NaN without any"))
    }
    variables += privacy(versions, simulation)
    guard let inUse = modelsInUse(versions, simulation) else { return variables }
    return variables + [
      .seconds(
        "inUseFrom", axis, inUse.from.map { $0?.seconds ?? .nan },
        "simulated time from which on the server itself used it", comment: "NaN: it never did"),
      .seconds(
        "timeInUse", axis, inUse.spans.map(\.seconds), "how long the server itself used it"),
    ]
  }

  /// What a version may tell of a device, and how its updates were clipped.
  private static func privacy(
    _ versions: [VersionRecord], _ simulation: Simulation
  ) -> [ResultDocument.Variable] {
    let server = simulation.inputs.server
    func column(
      _ name: String, _ text: String, comment: String? = nil,
      _ value: (PrivacyRecord) -> Double
    ) -> ResultDocument.Variable {
      .number(
        name, ["version"], versions.map { $0.privacy.map(value) ?? .nan }, text, comment: comment)
    }
    var variables: [ResultDocument.Variable] = []
    if let privacy = server.privacy {
      let delta = "delta = \(Text.shortest(privacy.delta))"
      variables.append(
        column(
          "epsilon", "privacy that a device has lost by its publication, at most",
          comment: privacy.amplification == .none
            ? "\(delta); against a device whose updates are zero, each version with it"
            : "\(delta); against a device with other updates, cohorts drawn from the fleet"
        ) { $0.epsilon })
      if !simulation.inputs.omitsArithmetic {
        variables.append(
          column(
            "privacyNoise", "deviation of the noise on each parameter of its step",
            comment: "NaN for version 0"
          ) { $0.noise })
      }
    }
    guard !simulation.inputs.omitsArithmetic,
      server.transforms.contains(where: { $0.value.asTold != nil })
    else { return variables }
    return variables + [
      column("clipBound", "bound of norms that goes with it") { $0.bound },
      column(
        "withinBound", "share of its updates whose norms were within their bounds",
        comment: "NaN for version 0"
      ) { $0.within },
    ]
  }

  /// Sessions that do not take part, by their reason.
  static func addIneligibility(_ simulation: Simulation, to group: inout ResultDocument.Group) {
    guard simulation.inputs.record.ineligibility == true else { return }
    let reasons = Ineligibility.allCases
    group.axes.append(.init("ineligibility", length: reasons.count))
    group.variables += [
      .init(
        "ineligibility", ["ineligibility"], codes: reasons.indices.map { Int8($0) },
        meanings: reasons.map(\.rawValue), longName: "the first condition that did not hold"),
      .count(
        "ineligible", ["ineligibility"], simulation.tallies.ineligible,
        "sessions in which it did not"),
    ]
  }

  /// Aggregations that took time.
  static func ledger(_ simulation: Simulation) -> [ResultDocument.Variable] {
    guard let tallies = simulation.aggregationTallies else { return [] }
    return [
      .scalar("aggregations", .int64([Int64(tallies.begun)]), "aggregations that were begun"),
      .scalar(
        "aggregationTime", .double([tallies.lasted.seconds]), units: "s",
        "time that those which ended took, in all"),
      .scalar(
        "heldRequests", .int64([Int64(tallies.held)]),
        "requests that had to wait for an aggregation"),
      .scalar(
        "heldWait", .double([tallies.waited.seconds]), units: "s",
        "time that they waited for it, in all"),
    ]
  }
}
