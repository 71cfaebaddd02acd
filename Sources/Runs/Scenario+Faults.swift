import DataSets
import FedSim
import Learning
import Scenarios
import Schema

extension Scenario {
  /// The place of what was written at a path, or of the nearest thing above it.
  func place(of path: [String]) -> Place {
    var node = writtenNode
    for step in path {
      if step.hasPrefix("["), let index = Int(step.dropFirst().dropLast()) {
        guard case .sequence(let nodes) = node.content, nodes.indices.contains(index) else { break }
        node = nodes[index]
      } else if let next = node[step] {
        node = next
      } else {
        break
      }
    }
    return node.place == .none ? Place(file: file) : node.place
  }

  /// A fault of a data file: in the file where it is text, else where the scenario names it.
  func fault(_ fault: DataFault, at place: Place, path: String) -> Fault {
    if case .text = fault.place { return Fault(fault, path: path) }
    return Fault(at: place, path: path, .file(fault.description))
  }

  /// The same, by the path of the key.
  func fault(_ problem: DataFault, at path: [String]) -> Fault {
    fault(problem, at: place(of: path), path: path.joined(separator: "."))
  }

  /// Something of the model travels.
  func exchangeFaults(_ network: Network) -> [Fault] {
    guard settings.server.exchange == .weightsOnly,
      !network.layout.tensors.contains(where: { $0.isUpdatable && $0.isPlainWeight })
    else { return [] }
    let keys = ["server", "exchange"]
    return [
      Fault(
        at: place(of: keys), path: keys.joined(separator: "."),
        .contradiction(
          "the model has no trained dense or convolution layer: nothing would be sent")
      )
    ]
  }

  /// The layer that changes is one of the model's.
  func layoutFaults(_ network: Network) -> [Fault] {
    guard let change = settings.server.layoutChange,
      network.layout.ranges(ofLayer: change.layer).isEmpty
    else { return [] }
    return [unknownLayer(change.layer, of: network, at: ["server", "layoutChange", "layer"])]
  }

  private func unknownLayer(_ name: String, of network: Network, at keys: [String]) -> Fault {
    var layers: [String] = []
    for tensor in network.layout.tensors {
      let layer = String(tensor.name.prefix { $0 != "." })
      if !layers.contains(layer) { layers.append(layer) }
    }
    return Fault(
      at: place(of: keys), path: keys.joined(separator: "."),
      .unknownName(
        name, seam: "layer of the model", nearest: Spelling.nearest(to: name, among: layers),
        known: layers))
  }

  /// Layers that never leave devices are the model's, and others travel.
  func algorithmFaults(_ network: Network) -> [Fault] {
    let algorithm = settings.task.training.algorithm
    let needs = algorithm.value.needs
    let layers = needs.personalLayers
    let keys = ["task", "training", "algorithm", algorithm.name]
    let unknown = layers.filter { network.layout.ranges(ofLayer: $0).isEmpty }
    if !unknown.isEmpty { return unknown.map { unknownLayer($0, of: network, at: keys) } }
    func contradiction(_ text: String) -> [Fault] {
      [Fault(at: place(of: keys), path: keys.joined(separator: "."), .contradiction(text))]
    }
    if needs.personalNormalisation != nil, !network.hasStatistics {
      return contradiction("the model has no trained `batch-normalisation`")
    }
    let kept = network.layout.personalRanges(needs) ?? []
    let travel = network.layout.tensors.contains { tensor in
      tensor.isUpdatable && !tensor.isStatistic && !kept.contains { $0.overlaps(tensor.range) }
    }
    return !needs.keepsParameters || travel
      ? [] : contradiction("no trained layer would be sent")
  }

  /// A batch of one sample gives batch normalisation something to measure.
  func batchFaults(_ network: Network) -> [Fault] {
    guard settings.task.training.plan.batchSize == 1, network.normalisesSingleValues else {
      return []
    }
    let keys = ["task", "training", "batchSize"]
    return [
      Fault(
        at: place(of: keys), path: keys.joined(separator: "."),
        .contradiction(
          "`batch-normalisation` of one value a channel needs batches of two samples or more: it"
            + " would learn its shifts alone; use `group-normalisation` or `layer-normalisation`"))
    ]
  }

  /// Labels that adversaries train on are those of classes.
  func adversaryFaults(_ classCount: Int) -> [Fault] {
    settings.fleet.enumerated().compactMap { index, group in
      guard let attack = group.adversary?.attack, let greatest = attack.value.greatestClass,
        greatest >= classCount
      else { return nil }
      let keys = ["fleet", "[\(index)]", "adversary", "attack", attack.name]
      return Fault(
        at: place(of: keys), path: "fleet[\(index)].adversary.attack.\(attack.name)",
        .contradiction(
          "there is no class \(greatest): the data have \(classCount) classes, numbered from 0"))
    }
  }
}
