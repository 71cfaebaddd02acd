import DataSets
import FedSim
import Learning
import Schema

/// Training by code in Python.
public struct PythonSettings: PartSettings {
  /// `module:function`; the function makes the trainer.
  public var trainer = ""
  /// What the function is called with, by the names of its parameters.
  public var settings = Node.mapping([])
  /// Processes; nil: one for each thread.
  public var workers: Int?
  /// How long a request may take.
  public var timeout = SimDuration.minutes(10)
  /// The interpreter; nil: it is looked for.
  public var interpreter: String?
  /// One of how many trainings is computed twice; 0: none.
  public var checkEvery = 50

  public init() {}

  /// A bare value is the trainer.
  public static var shorthand: String? { "trainer" }

  public static var fields: [Field<PythonSettings>] {
    [
      Field(
        "trainer", \.trainer, .text, required: true,
        "`module:function`, looked for next to the scenario, then on Python's path; the function"
          + " returns a `pyfedsim.Trainer` (docs/own-training.md)"),
      Field(
        "settings", \.settings, .anyMapping,
        "What the function is called with, by the names of its parameters"),
      Field(
        "workers", \.workers, optional: .integer(1...1024),
        "Number of Python processes; absent: one for each thread"),
      Field(
        "timeout", \.timeout, .duration(atLeast: .milliseconds(100)),
        "How long a request to a process may take, in real time; a longer one ends the run"),
      Field(
        "interpreter", \.interpreter, feature: .text,
        "Python's command; absent: `FEDSIM_PYTHON`, that next to the command `fedsim`, or"
          + " `python3`"),
      Field(
        "checkEvery", \.checkEvery, .integer(0...1_000_000),
        "The first of this many trainings is computed twice, and a difference is a warning; 0:"
          + " none"),
    ]
  }

  public func contradictions() -> [(key: String, message: String)] {
    let parts = trainer.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
      ? [] : [("trainer", "expected `module:function`, such as `my_module:make`")]
  }
}

extension TaskSettings {
  /// Puts the trainer's data and model in place of the default ones, and refuses other ones.
  mutating func takeTrainer(_ node: Node, _ reader: inout Reader) {
    guard python != nil else {
      if data.source.name == TrainerData.name || model.name == TrainerModel.name {
        reader.report(
          .contradiction("`trainer` is that of `task.python`, and there is none"), at: node.place)
      }
      return
    }
    func refuse(_ keys: [String], _ message: String) {
      var found: Node? = node
      for key in keys { found = found?[key] }
      guard let place = found?.place else { return }
      reader.within(keys.joined(separator: ".")) {
        $0.report(.contradiction(message), at: place)
      }
    }
    if node["data"]?["source"] != nil, data.source.name != TrainerData.name {
      refuse(["data", "source"], "the trainer of `task.python` has the data")
    }
    if node["model"] != nil, model.name != TrainerModel.name {
      refuse(["model"], "the trainer of `task.python` has the model")
    }
    if models != nil { refuse(["models"], "the server trains the model of `task.python` alone") }
    let (own, usual) = (training.resolved, TrainingSettings().resolved)
    for key in ["loss", "optimizer", "schedule", "clipNorm", "clipValue", "algorithm"] {
      guard let value = own[key], let default_ = usual[key], !value.hasSameContent(as: default_)
      else { continue }
      refuse(
        ["training", key],
        "the trainer of `task.python` decides this: hand it over in `task.python.settings`")
    }
    data.source = Choice(TrainerData.self) { $0 }
    model = Choice(TrainerModel.self) { $0 }
  }
}

/// The samples that a trainer in Python has.
public struct TrainerData: DataSource, Part {
  public static let name = "trainer"
  public static let summary = "The samples of the trainer in `task.python`."

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// The trainer is asked for its samples, and not this.
  public func load(folders: DataFolders, seed: UInt64) throws(DataFault) -> TrainAndTest {
    throw DataFault(
      .unsupported, in: "task.data.source", found: "`trainer`", expected: "a trainer to ask")
  }
}

/// The model that a trainer in Python has.
public struct TrainerModel: ModelSource {
  public static let name = "trainer"
  public static let summary = "The model of the trainer in `task.python`."

  public typealias Settings = NoSettings
  public init(_ settings: NoSettings) {}

  /// The trainer says what its tensors are, and not this.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    throw LayerFault(layer: 1, kind: Self.name, message: "there is no trainer to ask")
  }
}
