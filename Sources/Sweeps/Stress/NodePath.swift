import Scenarios
import Schema

/// A step down a tree of settings.
enum NodeStep: Equatable {
  case key(String)
  case index(Int)
}

extension Node {
  /// The value at a path; nil where there is none.
  func at(_ path: some Collection<NodeStep>) -> Node? {
    var node = self
    for step in path {
      switch (step, node.content) {
      case (.key(let key), .mapping):
        guard let next = node[key] else { return nil }
        node = next
      case (.index(let index), .sequence(let nodes)) where nodes.indices.contains(index):
        node = nodes[index]
      default:
        return nil
      }
    }
    return node
  }

  /// The tree with another value at a path, or without it.
  func with(_ value: Node?, at path: ArraySlice<NodeStep>) -> Node {
    guard let step = path.first else { return value ?? Node(.null) }
    let rest = path.dropFirst()
    switch (step, content) {
    case (.key(let key), .mapping(var entries)):
      guard let index = entries.firstIndex(where: { $0.key == key }) else {
        guard let value, rest.isEmpty else { return self }
        return Node(.mapping(entries + [Entry(key: key, value: value)]), at: place)
      }
      if rest.isEmpty, value == nil {
        entries.remove(at: index)
      } else {
        entries[index].value = entries[index].value.with(value, at: rest)
      }
      return Node(.mapping(entries), at: place)
    case (.index(let index), .sequence(var nodes)) where nodes.indices.contains(index):
      if rest.isEmpty, value == nil {
        nodes.remove(at: index)
      } else {
        nodes[index] = nodes[index].with(value, at: rest)
      }
      return Node(.sequence(nodes), at: place)
    default:
      return self
    }
  }

  /// The paths of all values below, those nearer to the root first.
  var paths: [[NodeStep]] {
    var all: [[NodeStep]] = []
    var level: [([NodeStep], Node)] = [([], self)]
    while !level.isEmpty {
      var next: [([NodeStep], Node)] = []
      for (path, node) in level {
        switch node.content {
        case .mapping(let entries):
          next += entries.map { (path + [.key($0.key)], $0.value) }
        case .sequence(let nodes):
          next += nodes.enumerated().map { (path + [.index($0)], $1) }
        case .null, .scalar:
          break
        }
      }
      all += next.map(\.0)
      level = next
    }
    return all
  }

  /// The number that a plain value is.
  var number: SweepNumber? {
    guard case .scalar(let text, false) = content else { return nil }
    return SweepNumber(text)
  }
}
