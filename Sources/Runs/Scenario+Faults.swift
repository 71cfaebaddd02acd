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
          "the model has no dense layer or convolution that is trained: nothing travels")
      )
    ]
  }

  /// The layer that changes is one of the model's.
  func layoutFaults(_ network: Network) -> [Fault] {
    guard let change = settings.server.layoutChange,
      network.layout.ranges(ofLayer: change.layer).isEmpty
    else { return [] }
    var layers: [String] = []
    for tensor in network.layout.tensors {
      let layer = String(tensor.name.prefix { $0 != "." })
      if !layers.contains(layer) { layers.append(layer) }
    }
    let keys = ["server", "layoutChange", "layer"]
    return [
      Fault(
        at: place(of: keys), path: keys.joined(separator: "."),
        .unknownName(
          change.layer, seam: "layer of the model",
          nearest: Spelling.nearest(to: change.layer, among: layers), known: layers))
    ]
  }
}
