import DataSets
import FedSim
import Learning
import Schema

/// The layers and the initial weights of a Core ML model.
///
/// The settings name the file; `Runs` reads it, and asks the network that it holds.
public struct CoreMLFileModel: ModelSource {
  public static let name = "coreml"
  public static let summary =
    "The layers, initial weights and training defaults of a Core ML model (.mlmodel)."

  public struct Settings: PartSettings {
    /// The file.
    public var file = FileName("")

    public init() {}

    /// A bare text is the file.
    public static var shorthand: String? { "file" }

    public static var fields: [Field<Settings>] {
      [
        Field(
          "file", \.file, .file, required: true,
          "Core ML model (.mlmodel): a neural network with updatable layers (docs/models.md).")
      ]
    }
  }

  private let settings: Settings

  /// A model by its settings.
  public init(_ settings: Settings) { self.settings = settings }

  public var file: FileName? { settings.file }

  /// No network: its layers are in the file.
  public func network(
    sampleShape: [Int], classCount: Int, loss: Network.Loss
  ) throws(LayerFault) -> Network {
    throw LayerFault(layer: 1, kind: "Core ML", message: "its layers are in a file")
  }
}

/// What a Core ML file says of training, laid below what a scenario says, as a base would be.
struct CoreMLDefaults {
  private let file: String
  private let merge: Merge

  /// Defaults for a scenario in this file.
  init(file: String, catalog: Catalog) {
    self.file = file
    merge = Merge(catalog: catalog)
  }

  /// The tree with what the files of its models say below it; the places of their values are the
  /// files.
  ///
  /// Throws: what is wrong with a file whose values are needed.
  func laid(below written: Node) throws(Faults) -> Node {
    guard let task = written["task"], case .mapping = task.content else { return written }
    var changed = try laidTraining(below: task, path: ["task"])
    if let models = changed["models"], case .sequence(let nodes) = models.content {
      var laid: [Node] = []
      for (index, node) in nodes.enumerated() {
        laid.append(try laidTraining(below: node, path: ["task", "models", "[\(index)]"]))
      }
      changed = changed.replacing("models", by: Node(.sequence(laid), at: models.place))
    }
    return written.replacing("task", by: changed)
  }

  /// What is said of training next to the model that a node names.
  private func laidTraining(below node: Node, path: [String]) throws(Faults) -> Node {
    guard let model = node["model"].flatMap(merge.choice), model.key == CoreMLFileModel.name,
      let name = merge.expanded(model.value, CoreMLFileModel.Settings.shorthand)["file"],
      case .scalar(let text, _) = name.content, !text.isEmpty
    else { return node }
    let target = FilePath.joined(FilePath.folder(of: file), text)
    let defaults: CoreMLTraining
    do throws(DataFault) {
      defaults = try CoreMLNetwork(contentsOf: target).training
    } catch {
      // A resolved scenario says all itself; the run reads the file again.
      let written = node["training"]
      if ["epochs", "batchSize", "loss", "optimizer"].allSatisfy({ written?[$0] != nil }) {
        return node
      }
      throw Faults([
        Fault(
          at: name.place, path: (path + ["model", "coreml", "file"]).dotted,
          .file(error.description))
      ])
    }
    let lower = Self.node(defaults, at: Place(file: target))
    let shape = Shape.mapping({ TrainingSettings.descriptions }, shorthand: nil)
    let upper = node["training"].map(\.withoutEmptyValues)
    let training = upper.map { merge.lay($0, over: lower, shape: shape) } ?? lower
    return node.replacing("training", by: training)
  }

  /// Values of a file as settings.
  private static func node(_ training: CoreMLTraining, at place: Place) -> Node {
    func leaf(_ text: String) -> Node { Node(.scalar(text, isQuoted: false), at: place) }
    func mapping(_ entries: [(String, Node)]) -> Node {
      Node(
        .mapping(entries.map { Node.Entry(key: $0.0, place: place, value: $0.1) }), at: place)
    }
    var entries: [(String, Node)] = []
    if let epochs = training.epochs { entries.append(("epochs", leaf("\(epochs)"))) }
    if let size = training.batchSize { entries.append(("batchSize", leaf("\(size)"))) }
    if let loss = training.loss,
      let name = LossName.allCases.first(where: { $0.loss(for: .classes) == loss })
    {
      entries.append(("loss", leaf(name.rawValue)))
    }
    switch training.optimizer {
    case .sgd(let rate, let momentum):
      let values = mapping([("learningRate", leaf("\(rate)")), ("momentum", leaf("\(momentum)"))])
      entries.append(("optimizer", mapping([(LocalSGD.name, values)])))
    case .adam(let rate, let beta1, let beta2, let epsilon):
      let values = mapping([
        ("learningRate", leaf("\(rate)")), ("beta1", leaf("\(beta1)")),
        ("beta2", leaf("\(beta2)")), ("epsilon", leaf("\(epsilon)")),
      ])
      entries.append(("optimizer", mapping([(LocalAdam.name, values)])))
    case nil: break
    }
    return mapping(entries)
  }
}

extension Node {
  /// A mapping without the keys whose values are empty: these bring the default back, and here it
  /// is the file's. Nothing is an empty mapping.
  fileprivate var withoutEmptyValues: Node {
    switch content {
    case .null: return Node(.mapping([]), at: place)
    case .mapping(let entries):
      let kept = entries.filter { if case .null = $0.value.content { false } else { true } }
      return Node(.mapping(kept), at: place)
    default: return self
    }
  }

  /// This tree with the places of those values of another one that come from files without lines.
  func withOrigins(of other: Node) -> Node {
    var result = self
    switch (content, other.content) {
    case (.scalar, .scalar):
      if !other.place.file.isEmpty, other.place.line == 0, other.place.column == 0 {
        result.place = other.place
      }
    case (.mapping(let entries), .mapping):
      result.content = .mapping(
        entries.map { entry in
          guard let origin = other[entry.key] else { return entry }
          return Entry(
            key: entry.key, place: entry.place, value: entry.value.withOrigins(of: origin))
        })
    case (.sequence(let nodes), .sequence(let others)) where nodes.count == others.count:
      result.content = .sequence(zip(nodes, others).map { $0.withOrigins(of: $1) })
    default: break
    }
    return result
  }
}
