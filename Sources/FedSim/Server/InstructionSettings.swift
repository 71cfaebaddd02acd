import Schema

/// Which tensors updates carry.
public enum ExchangedTensors: String, CaseIterable, Sendable {
  /// All that are trained.
  case all
  /// The weights of dense layers and convolutions; the rest is trained and stays on the device.
  case weightsOnly
}

/// Where version 0 comes from.
public enum InitialModel: String, CaseIterable, Sendable {
  /// The server has it.
  case server
  /// The server asks a device that is connected for the model that its app came with.
  case client
}

/// Hyper-parameters that the server sends with each round's work; they take the place of the
/// device's own.
public struct ClientConfig: PartSettings {
  /// The first round that it is sent in.
  public var fromRound = 1
  /// Passes over the device's samples; nil: the device's own.
  public var epochs: Int?
  /// Samples in a batch; nil: the device's own.
  public var batchSize: Int?
  /// The step; nil: the device's own.
  public var learningRate: Double?
  /// Batches at most; nil: no limit.
  public var maximumUpdates: Int?

  public init() {}
  public static var fields: [Field<ClientConfig>] {
    [
      Field(
        "fromRound", \.fromRound, .integer(1...100_000_000),
        "First round that sends these hyper-parameters"),
      Field(
        "epochs", \.epochs, optional: .integer(1...10_000),
        "Passes over the device's samples; absent: the device's setting"),
      Field(
        "batchSize", \.batchSize, optional: .integer(1...1_000_000),
        "Samples per batch (batch_size); absent: the device's setting"),
      Field(
        "learningRate", \.learningRate, optional: .positive,
        "Learning rate of the device's optimiser (lr); absent: the device's setting"),
      Field(
        "maximumUpdates", \.maximumUpdates, optional: .integer(1...10_000_000),
        "Maximum number of batches (max_updates); absent: no limit"),
    ]
  }
}

/// Evaluation on the devices, asked for by the server after each round.
public struct ClientEvaluationSettings: PartSettings {
  /// The share of those who wait.
  public var fraction = 1.0
  /// Members at least.
  public var minimum = 2
  /// How many must wait before the members are chosen.
  public var minimumAvailable = 2
  /// How long the server waits for this many.
  public var waitLimit = SimDuration.hours(24)
  /// After this long without an answer a member has failed; nil: only its stream tells.
  public var timeout: SimDuration?
  /// Whether the results of an evaluation with failures count.
  public var acceptFailures = true

  public init() {}
  public static var shorthand: String? { "fraction" }
  public static var fields: [Field<ClientEvaluationSettings>] {
    [
      Field(
        "fraction", \.fraction, .fraction,
        "Share of the waiting devices to evaluate (fraction_evaluate)"),
      Field(
        "minimum", \.minimum, .integer(1...1_000_000),
        "Minimum number of members (min_evaluate_clients)"),
      Field(
        "minimumAvailable", \.minimumAvailable, .integer(1...10_000_000),
        "Minimum number of waiting devices to choose members (min_available_clients)"),
      Field(
        "waitLimit", \.waitLimit, .duration(atLeast: .milliseconds(1)),
        "Time that the server waits for enough devices; then the round has no evaluation"),
      Field(
        "timeout", \.timeout, optional: .duration(atLeast: .milliseconds(1)),
        "A member without a reply after this time has failed (round_timeout); absent: only "
          + "a broken stream is a failure"),
      Field(
        "acceptFailures", \.acceptFailures, .flag,
        "Count the results of an evaluation with failures"),
    ]
  }
  public func contradictions() -> [(key: String, message: String)] {
    if fraction == 0 {
      return [("fraction", "a share of 0 evaluates nothing: leave the section out")]
    }
    return minimum > minimumAvailable
      ? [("minimum", "`minimum` is above `minimumAvailable`: there could be too few members")] : []
  }
}

extension ServerSettings {
  /// The fields of what the server asks of devices, each a feature that is off unless it is named.
  static var instructionFields: [Field<ServerSettings>] {
    [
      Field(
        "exchange", \.exchange, feature: .choice,
        "Tensors that updates contain: all trained tensors, or only the weights of dense and "
          + "convolution layers, with biases left on the device (Flower's Swift SDK); absent: all"
      ),
      Field(
        "initialModel", \.initialModel, feature: .choice,
        "Source of version 0: the server, or one of the first devices that connect "
          + "(get_parameters); absent: the server"),
      Field(
        "clientConfig", \.clientConfig, feature: .list(of: .settings(), minimum: 1),
        "Hyper-parameters sent with the work; the last entry whose round has begun applies; "
          + "absent: devices use their settings"),
      Field(
        "stragglers", \.stragglers, feature: .settings(),
        "Members of each cohort that do fewer epochs, by FedProx's rule; absent: none"),
      Field(
        "evaluation", \.evaluation, feature: .settings(),
        "Evaluation on devices' local samples, in virtual time, after each round; absent: none"),
      Field(
        "asksProperties", \.asksProperties, feature: .flag,
        "Ask each device that connects for its properties; absent: no"),
    ]
  }

  /// What is wrong with what the server asks of devices.
  var instructionContradictions: [(key: String, message: String)] {
    if !selector.value.formsCohorts {
      let needing = [
        ("initialModel", initialModel == .client), ("evaluation", evaluation != nil),
        ("asksProperties", asksProperties == true), ("stragglers", stragglers != nil),
      ]
      if let key = needing.first(where: \.1)?.0 {
        return [(key, "`\(key)` needs a selector that lets devices wait, such as `fraction`")]
      }
    }
    if stragglers != nil, clientConfig != nil {
      return [("stragglers", "`clientConfig` and `stragglers` both determine epochs")]
    }
    let rounds = (clientConfig ?? []).map(\.fromRound)
    if zip(rounds, rounds.dropFirst()).contains(where: { $0 >= $1 }) {
      return [("clientConfig", "`fromRound` must increase from entry to entry")]
    }
    return []
  }
}

/// A change of the model's layout in the middle of a run.
public struct LayoutChange: PartSettings {
  /// The first version with the new layout.
  public var version = 1
  /// The layer that is new in it.
  public var layer = ""

  public init() {}
  public static var fields: [Field<LayoutChange>] {
    [
      Field(
        "version", \.version, .integer(1...100_000_000), required: true,
        "The first version with the new layout"),
      Field(
        "layer", \.layer, .text, required: true,
        "The layer added by that version, such as `dense1`; it begins with its initial weights"),
    ]
  }
}
