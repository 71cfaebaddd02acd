import DataSets
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
}
