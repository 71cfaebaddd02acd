import Results

/// A value that a scenario assumes, and where.
struct Assumption: Equatable {
  /// The groups of the fleet that it is of; none: it is the whole scenario's.
  var groups: [String]
  var key: String
  var value: String
  var words: String
}

extension Assumption {
  /// The most assumptions that are shown without being asked for.
  private static let mostOpen = 12

  /// The assumptions that the result holds; nil: it is of a version that stored none.
  static func table(_ run: ReportRun) -> String? {
    let root = run.document.table("")
    let list = Self.list(
      root?.text("assumptions") ?? "", groups: run.groupNames ?? [])
    guard !list.isEmpty else {
      return (root?.whole("schemaVersion") ?? 0) < 2
        ? nil : "<p class=\"note\">The scenario makes none.</p>"
    }
    let all = run.groupNames?.count ?? 0
    let rows = list.map { one in
      let groups =
        one.groups.count > 1 && one.groups.count == all
        ? "all groups" : one.groups.joined(separator: ", ")
      return [groups.isEmpty ? "the scenario" : groups, one.key, one.value, one.words]
    }
    let table = ReportPage.table(["of", "key", "value", "meaning"], rows, style: "words")
    guard rows.count > mostOpen else { return table }
    return "<details><summary>\(rows.count) values</summary>\(table)</details>"
  }

  /// The assumptions of a result's text: keys of the fleet by the names of its groups, what several
  /// groups share in one row, where the first of them had it.
  static func list(_ text: String, groups: [String]) -> [Assumption] {
    var list: [Assumption] = []
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard parts.count >= 3 else { continue }
      var one = Assumption(groups: [], key: parts[0], value: parts[1], words: parts[2])
      if one.key.hasPrefix("fleet["), let end = one.key.firstIndex(of: "]"),
        let number = Int(one.key[..<end].dropFirst(6)), groups.indices.contains(number)
      {
        one.groups = [groups[number]]
        one.key = String(one.key[one.key.index(after: end)...].drop { $0 == "." })
      }
      let place = list.firstIndex {
        !$0.groups.isEmpty && !one.groups.isEmpty && $0.key == one.key && $0.value == one.value
          && $0.words == one.words
      }
      if let place { list[place].groups += one.groups } else { list.append(one) }
    }
    return list
  }
}
