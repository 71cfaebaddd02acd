import DataSets
import FedSim
import Learning
import Schema

/// What is learned: the data, the model, and how a device trains.
public struct TaskSettings: PartSettings {
  /// What is left out of a run that is played for its times alone.
  public enum Learning: String, CaseIterable, Sendable { case none }

  /// Whether nothing is learned; nil: all is.
  public var learning: Learning?
  /// The code that trains in FedSim's place; nil: FedSim trains a network.
  public var python: PythonSettings?
  /// What the clients of a Flower program compute; nil: no such program is run.
  public var flower: FlowerSettings?
  /// The data and how clients share it.
  public var data = DataSettings()
  public var model = Choice<any ModelSource>(MLPModel.self) { $0 }
  /// A file with the initial weights; nil: drawn from the `init` seed.
  public var initialWeights: FileName?
  public var training = TrainingSettings()
  /// Models that the server trains; nil: the one above.
  public var models: [CentralModelSettings]?

  public init() {}

  public static var fields: [Field<TaskSettings>] {
    [
      Field(
        "learning", \.learning, feature: .choice,
        "`none` simulates the same events without training, aggregation or evaluation; "
          + "`task: none` is short for this with a client of 60 samples without content"),
      Field(
        "python", \.python, feature: .settings(),
        "Training by code in Python, in separate processes; in place of `data.source` and `model`"),
      Field(
        "flower", \.flower, feature: .settings(),
        "A Flower program, played by `pyfedsim.flower.run` (docs/flower.md): what its clients"
          + " compute; in place of data, model and training"),
      Field("data", \.data, .settings(), "The data and their distribution over clients."),
      Field("model", \.model, .part(.model), "Which model is trained?"),
      Field(
        "initialWeights", \.initialWeights, optional: .file,
        "NPZ or safetensors file with the initial weights (docs/models.md); absent: drawn from the"
          + " `init` seed."),
      Field("training", \.training, .settings(), "How devices train."),
      Field(
        "models", \.models, feature: .list(of: .settings(), minimum: 1),
        "Models that the server trains (`server.central`), by name; absent: the model above, with"
          + " the name `model`"),
    ]
  }
}

extension TaskSettings {
  /// What `task: none` represents: every device has the same number of samples.
  static let timeOnly: TaskSettings = {
    var settings = TaskSettings()
    settings.learning = Learning.none
    settings.data.source = Choice(NoData.self) { $0 }
    var one = PartitionIID.Settings()
    one.clients = 1
    settings.data.partition = Choice(PartitionIID.self, one) { $0 }
    return settings
  }()
}

extension Form where Value == TaskSettings {
  /// A task, or `none`.
  static var task: Form {
    Form.settings().checked { node, settings, reader in
      settings.takeTrainer(node, &reader)
      settings.takeFlower(node, &reader)
    }

    .or("none", meaning: .timeOnly)
  }
}

/// A model that the server trains.
public struct CentralModelSettings: PartSettings {
  /// What it is called.
  public var name = ""
  public var model = Choice<any ModelSource>(MLPModel.self) { $0 }
  /// How the server trains it.
  public var training = TrainingSettings()

  public init() {}

  public static var fields: [Field<CentralModelSettings>] {
    [
      Field("name", \.name, .identifier, required: true, "The model's name."),
      Field("model", \.model, .part(.model), required: true, "Which model is trained?"),
      Field("training", \.training, .settings(), "How the server trains the model."),
    ]
  }

  /// Its batches are keyed: no file orders them.
  public func contradictions() -> [(key: String, message: String)] {
    training.orders == nil
      ? [] : [("training", "`orders` is for clients; training at the server has none")]
  }
}

/// The data and how clients share it.
public struct DataSettings: PartSettings {
  /// Where the data come from.
  public var source = Choice<any DataSource>(FashionMNIST.self) { $0 }
  /// Which client holds which samples.
  public var partition = Choice<any PartitionSource>(PartitionIID.self) { $0 }
  /// The share of each client's samples that is kept back for validation.
  public var validationFraction = 0.0
  /// Noise on each client's features; nil: none.
  public var featureNoise: FeatureNoise?

  public init() {}

  /// A bare value is the source.
  public static var shorthand: String? { "source" }

  public static var fields: [Field<DataSettings>] {
    [
      Field(
        "source", \.source, .part(.dataSource),
        "Where do the training pool and the test set come from?"),
      Field("partition", \.partition, .part(.partition), "Which client holds which samples?"),
      Field(
        "validationFraction", \.validationFraction, .number(0...0.9),
        "Share of each client's samples used for validation."),
      Field(
        "featureNoise", \.featureNoise, feature: .settings(),
        "Noise on each client's features, stronger from client to client; absent: none"),
    ]
  }
}
