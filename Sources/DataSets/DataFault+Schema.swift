import Learning
import Schema

extension DataFault {
  /// The fault without its place: `found …, expected …; advice`; for a missing file `found` alone.
  public var message: String {
    let ending = advice.map { "; \($0)" } ?? ""
    if kind == .missingFile { return found + ending }
    return "found \(found), expected \(expected)\(ending)"
  }
}

extension Fault {
  /// A data file's fault as one of the scenario, at the data file's line and column where it is
  /// text.
  ///
  /// `path` is the key of the scenario that names the file.
  public init(_ fault: DataFault, path: String = "") {
    var place = Schema.Place(file: fault.file)
    var message = fault.message
    switch fault.place {
    case .file: break
    case .byte(let offset): message = "at byte \(offset) " + message
    case .text(let line, let column): (place.line, place.column) = (line, column)
    }
    self.init(at: place, path: path, .file(message))
  }

  /// A partition that cannot be made, at the place in the scenario that asks for it.
  public init(_ fault: PartitionFault, at place: Schema.Place, path: String = "") {
    self.init(at: place, path: path, .contradiction(fault.description))
  }
}
