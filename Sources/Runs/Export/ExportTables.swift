import Results
import Schema

/// A result as a folder of tables in CSV.
///
/// A table holds the variables of a group over the same axes, a row per place: `versions.csv` those
/// over `version`, `partition.client.label.csv` those over `client` and `label`,
/// `ledger.scalars.csv` single numbers. `schema.csv` describes every column, `metadata.csv` holds
/// the remarks on groups.
struct ExportTables {
  /// The name of the table that describes the others.
  static let schemaName = "schema.csv"
  /// Its first line.
  static let schemaHeader =
    "file,column,role,group,variable,axes,type,units,longName,categories,comment,coordinates"

  /// One table.
  struct Table {
    var file: String
    var columns: [ExportColumn]
    var rows: Int
  }

  private(set) var tables: [Table] = []
  private(set) var texts: [(file: String, group: String, text: ResultDocument.Text)] = []
  private var remarks = ExportText()
  /// Variables in the tables, axes with coordinates among them.
  private(set) var variableCount = 0

  /// The tables of a document.
  init(_ document: ResultDocument) {
    remarks.appendLine(["group", "variable", "attribute", "value"])
    add(document.root, at: [], above: [])
  }

  /// All files.
  ///
  /// Throws: `RunFailure.failed` where two would have one name.
  func files(for path: String) throws(RunFailure) -> [(name: String, bytes: [UInt8])] {
    var files = [(Self.schemaName, schema), ("metadata.csv", remarks.bytes)]
    files += texts.map { ($0.file, Array($0.text.value.utf8)) }
    files += tables.map { ($0.file, $0.bytes) }
    var seen: Set<String> = []
    for (name, _) in files where !seen.insert(name.lowercased()).inserted {
      throw .failed("\(path): two tables would have the name \(name)")
    }
    return files
  }

  /// The table of columns.
  private var schema: [UInt8] {
    var text = ExportText()
    text.appendLine(Self.schemaHeader.split(separator: ",").map(String.init))
    func line(_ fields: String...) {
      text.appendLine(fields + Array(repeating: "", count: 12 - fields.count))
    }
    line("metadata.csv", "", "remarks")
    for entry in texts { line(entry.file, "", "text", entry.group, entry.text.name) }
    for table in tables {
      for column in table.columns {
        guard let variable = column.variable else {
          line(
            table.file, column.name, "place", column.group, "", column.name, "int64", "1",
            "place along \(column.name), from 0")
          continue
        }
        let words = variable.meaningByCode.sorted { $0.key < $1.key }
        text.appendLine([
          table.file, column.name, column.isAxis ? "axis" : "variable", column.group,
          variable.name, variable.axes.joined(separator: " "),
          words.isEmpty ? variable.values.typeName : "category", variable.units,
          variable.longName, words.map { "\($0.key)=\($0.value)" }.joined(separator: " "),
          variable.remark("comment"), variable.remark("coordinates"),
        ])
      }
    }
    return text.bytes
  }

  /// What is visible of the groups above: an axis, its coordinates, and where it is.
  private struct Axis {
    var axis: ResultDocument.Axis
    var coordinates: ResultDocument.Variable?
    var group: String

    var column: ExportColumn {
      coordinates.map { ExportColumn($0, group: group, isAxis: true) }
        ?? ExportColumn(placesAlong: axis, group: group)
    }
  }

  private mutating func add(_ group: ResultDocument.Group, at path: [String], above: [Axis]) {
    let place = "/" + path.joined(separator: "/")
    let own = group.axes.map { Axis(axis: $0, coordinates: group[variable: $0.name], group: place) }
    let visible = own + above
    addRemarks(group, place)
    for text in group.texts {
      let name = (path + [text.name]).joined(separator: ".")
      texts.append((name == "scenario" ? "scenario.yaml" : name + ".txt", place, text))
    }
    var wanted: [(file: String, axes: [String], variables: [ResultDocument.Variable])] = []
    var unused = own.filter { $0.coordinates != nil }.map(\.axis.name)
    variableCount += group.variables.count
    for variable in group.variables {
      if own.contains(where: { $0.axis.name == variable.name }) { continue }
      let file = Self.file(variable, at: path)
      unused.removeAll { variable.axes.contains($0) }
      if let index = wanted.firstIndex(where: { $0.file == file }) {
        wanted[index].variables.append(variable)
      } else {
        wanted.append((file, variable.axes, [variable]))
      }
    }
    wanted += unused.map { (Self.file(path, [$0]), [$0], []) }
    for (file, axes, variables) in wanted {
      tables.append(
        table(
          file,
          axes.compactMap { name in
            visible.first { $0.axis.name == name }
          }, variables, place))
    }
    for child in group.groups { add(child, at: path + [child.name], above: visible) }
  }

  private mutating func table(
    _ file: String, _ axes: [Axis], _ variables: [ResultDocument.Variable], _ group: String
  ) -> Table {
    var columns = axes.map(\.column)
    var rows = 1
    for index in columns.indices.reversed() {
      columns[index].stride = rows
      rows *= columns[index].count
    }
    columns += variables.map { ExportColumn($0, group: group, isAxis: false) }
    return Table(file: file, columns: columns, rows: rows)
  }

  /// The table that holds a variable.
  private static func file(_ variable: ResultDocument.Variable, at path: [String]) -> String {
    if variable[attribute: "tensor"] != nil { return Self.file(path, [variable.name]) }
    if variable.axes.isEmpty {
      return path.isEmpty ? "run.csv" : Self.file(path, ["scalars"])
    }
    let isNamedAfter = variable.axes.count == 1 && path.last == variable.axes[0] + "s"
    return Self.file(path, isNamedAfter ? [] : variable.axes)
  }

  private static func file(_ path: [String], _ parts: [String]) -> String {
    ((path.isEmpty ? ["run"] : path) + parts).joined(separator: ".") + ".csv"
  }

  /// Remarks that `schema.csv` has no column for.
  private mutating func addRemarks(_ group: ResultDocument.Group, _ place: String) {
    for attribute in group.attributes {
      remarks.appendLine([place, "", attribute.name, attribute.value.text])
    }
    let known = ["flag_values", "flag_meanings", "comment", "coordinates"]
    for variable in group.variables {
      for attribute in variable.attributes where !known.contains(attribute.name) {
        remarks.appendLine([place, variable.name, attribute.name, attribute.value.text])
      }
    }
  }
}

extension ExportTables.Table {
  /// The table: a line of names, then a line per row.
  var bytes: [UInt8] {
    var text = ExportText()
    text.reserve(8 * columns.count * (rows + 2))
    text.appendLine(columns.map(\.name))
    for row in 0..<rows {
      for (index, column) in columns.enumerated() {
        if index > 0 { text.comma() }
        column.append(row: row, to: &text)
      }
      text.endLine()
    }
    return text.bytes
  }
}

extension ResultDocument.AttributeValue {
  /// The value as a text; several are separated by blanks.
  var text: String {
    switch self {
    case .text(let text): text
    case .texts(let texts): texts.joined(separator: " ")
    case .integer(let number): String(number)
    case .unsigned(let number): String(number)
    case .number(let number): number.isNaN ? "NaN" : number.description
    case .array(let values): values.texts.joined(separator: " ")
    }
  }
}

extension ResultValues {
  /// Each number as the shortest text that reads back to it; not finite: `NaN`, `inf`, `-inf`.
  var texts: [String] {
    func texts(_ values: [some BinaryFloatingPoint & CustomStringConvertible]) -> [String] {
      values.map { $0.isNaN ? "NaN" : $0.description }
    }
    return switch self {
    case .double(let x): texts(x)
    case .float(let x): texts(x)
    case .int64(let x): x.map { String($0) }
    case .int32(let x): x.map { String($0) }
    case .int8(let x): x.map { String($0) }
    case .uint8(let x): x.map { String($0) }
    }
  }
}
