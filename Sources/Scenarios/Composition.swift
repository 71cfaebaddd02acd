import Schema

/// Makes one tree out of a scenario file, the files that it is based on, and overrides.
///
/// Order: the bases in the order listed, each over the one before; the file over them; the
/// overrides in the order given. What `Merge` says holds at each step.
public struct Composition: Sendable {
  /// The longest chain of bases, and the most files that one scenario may be made of.
  public static let mostFiles = 64

  private let shape: Shape
  private let catalog: Catalog
  private let files: ScenarioFiles
  private var faults: [Fault] = []
  private var filesRead = 0

  /// A composition of trees with these fields.
  public init(fields: [FieldDescription], catalog: Catalog, files: ScenarioFiles = .disk) {
    shape = .mapping({ fields }, shorthand: nil)
    self.catalog = catalog
    self.files = files
  }

  /// The tree of a file.
  ///
  /// Throws: every fault in the texts; whether keys and values make sense is the schema's business.
  public func tree(file: String, overrides: [String] = []) throws(Faults) -> Node {
    var composition = self
    let node = composition.load(file, named: nil, chain: [])
    return try composition.finish(node, overrides)
  }

  /// The tree of a text; `file` names it in messages, and relative paths start in its folder.
  ///
  /// Throws: every fault in the texts.
  public func tree(
    text: String, file: String, overrides: [String] = []
  ) throws(Faults) -> Node {
    var composition = self
    let node = composition.parse(Array(text.utf8), file: file, chain: [FilePath.normal(file)])
    return try composition.finish(node, overrides)
  }

  private mutating func finish(_ node: Node?, _ overrides: [String]) throws(Faults) -> Node {
    var result = node
    for text in overrides {
      do throws(Faults) {
        let override = try Override(text)
        if let node = result { result = try override.laid(over: node, shape: shape, catalog) }
      } catch {
        faults += error.faults
      }
    }
    guard faults.isEmpty, let result else { throw Faults(faults) }
    return result
  }

  /// Reads a file; `base` is the value that named it.
  private mutating func load(_ file: String, named base: Node?, chain: [String]) -> Node? {
    let name = FilePath.normal(file)
    filesRead += 1
    let problem: String
    if chain.contains(name) {
      let links = (chain + [name]).map { "`\($0)`" }.joined(separator: " → ")
      problem = "a scenario cannot be based on itself: " + links
    } else if filesRead > Self.mostFiles {
      problem = "the scenario consists of more than \(Self.mostFiles) files"
    } else {
      switch files.contents(file) {
      case .success(let bytes): return parse(bytes, file: file, chain: chain + [name])
      case .failure(let failure): problem = "cannot read `\(file)`: \(failure.reason)"
      }
    }
    let place = base?.place ?? Place(file: file)
    faults.append(Fault(at: place, path: base == nil ? "" : "base", .file(problem)))
    return nil
  }

  private mutating func parse(_ bytes: [UInt8], file: String, chain: [String]) -> Node? {
    let root: Node
    do throws(Faults) {
      root = try YAMLReader.read(bytes, file: file)
    } catch {
      faults += error.faults
      return nil
    }
    guard case .mapping(let entries) = root.content else {
      let problem: Fault.Problem
      if case .null = root.content {
        problem = .syntax("the file is empty: expected a mapping of settings")
      } else {
        problem = .unexpected(
          found: root.found, expected: "a mapping of settings" + root.hintOfBlank)
      }
      faults.append(Fault(at: root.place, problem))
      return nil
    }
    var kept = root
    kept.content = .mapping(entries.filter { $0.key != "base" && !$0.key.hasPrefix("x-") })
    guard let base = entries.first(where: { $0.key == "base" })?.value else { return kept }
    return lay(kept, over: base, file: file, chain: chain)
  }

  private mutating func lay(_ node: Node, over base: Node, file: String, chain: [String]) -> Node? {
    let names: [Node]
    if case .sequence(let nodes) = base.content { names = nodes } else { names = [base] }
    let merge = Merge(catalog: catalog)
    var result: Node?
    for name in names {
      guard case .scalar(let path, _) = name.content, !path.isEmpty else {
        let expected = "the path of a scenario file, or a list of them"
        faults.append(
          Fault(at: name.place, path: "base", .unexpected(found: name.found, expected: expected)))
        continue
      }
      let target = FilePath.joined(FilePath.folder(of: file), path)
      guard var lower = load(target, named: name, chain: chain) else { continue }
      let folder = FilePath.folder(of: path)
      if !folder.isEmpty { lower = Rebase(folder: folder, catalog: catalog).paths(lower, shape) }
      result = result.map { merge.lay(lower, over: $0, shape: shape) } ?? lower
    }
    return result.map { merge.lay(node, over: $0, shape: shape) } ?? node
  }
}

/// Rewrites relative paths of a tree so that they can be taken from another folder.
struct Rebase {
  let folder: String
  let merge: Merge

  init(folder: String, catalog: Catalog) {
    self.folder = folder
    merge = Merge(catalog: catalog)
  }

  func paths(_ node: Node, _ shape: Shape?) -> Node {
    var result = node
    switch (shape, node.content) {
    case (.path, .scalar(let text, let isQuoted)) where !text.isEmpty:
      result.content = .scalar(FilePath.joined(folder, text), isQuoted: isQuoted)
    case (.list(let element), .sequence(let nodes)):
      result.content = .sequence(nodes.map { paths($0, element) })
    case (.mapping(let fields, let shorthand), .scalar),
      (.mapping(let fields, let shorthand), .sequence):
      if let field = fields().first(where: { $0.key == shorthand }) {
        result = paths(node, field.shape)
      }
    case (.mapping(let fields, _), .mapping(let entries)):
      let described = fields()
      result.content = .mapping(
        entries.map { entry in
          rebased(entry, described.first { $0.key == entry.key }?.shape)
        })
    case (.part(let seam, _), .mapping(let entries)):
      result.content = .mapping(
        entries.map { rebased($0, merge.settings(of: $0.key, seam)) })
    case (.part(let seam, several: true), .sequence(let nodes)):
      result.content = .sequence(nodes.map { paths($0, .part(seam: seam, several: false)) })
    default:
      break
    }
    return result
  }

  private func rebased(_ entry: Node.Entry, _ shape: Shape?) -> Node.Entry {
    Node.Entry(key: entry.key, place: entry.place, value: paths(entry.value, shape))
  }
}
