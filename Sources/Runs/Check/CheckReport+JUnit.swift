import Foundation
import Results

extension CheckReport {
  /// The report as JUnit's XML: a suite a scenario, a case a claim and one for the baseline.
  public var junit: String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    let cases = scenarios.map(\.cases)
    let all = cases.flatMap { $0 }
    text +=
      "<testsuites name=\"fedsim check\" tests=\"\(all.count)\""
      + " failures=\"\(all.count { $0.kind == "failure" })\""
      + " errors=\"\(all.count { $0.kind == "error" })\">\n"
    for (scenario, cases) in zip(scenarios, cases) {
      text +=
        "  <testsuite name=\"\(scenario.path.escaped)\" tests=\"\(cases.count)\""
        + " failures=\"\(cases.count { $0.kind == "failure" })\""
        + " errors=\"\(cases.count { $0.kind == "error" })\""
        + " time=\"\(String(format: "%.3f", scenario.seconds))\">\n"
      for test in cases {
        text +=
          "    <testcase classname=\"\(scenario.path.escaped)\" name=\"\(test.name.escaped)\""
        if let kind = test.kind {
          let first = test.text.split(separator: "\n").first.map(String.init) ?? ""
          text +=
            ">\n      <\(kind) message=\"\(first.escaped)\">\(test.text.escaped)</\(kind)>\n"
            + "    </testcase>\n"
        } else {
          text += "/>\n"
        }
      }
      text += "  </testsuite>\n"
    }
    return text + "</testsuites>\n"
  }

  /// The report as JSON.
  public var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("a report holds numbers and texts only")
    }
    return String(decoding: data, as: UTF8.self)
  }
}

/// A case of a suite; `kind` is nil where it passed.
private struct Case {
  var name: String
  var kind: String?
  var text = ""
}

extension ScenarioReport {
  fileprivate var cases: [Case] {
    if status == .badInput || status == .failed {
      return [Case(name: "run", kind: "error", text: faults.joined(separator: "\n"))]
    }
    var cases = claims.map {
      Case(name: $0.claim, kind: $0.holds ? nil : "failure", text: $0.holds ? "" : $0.text)
    }
    if let baseline {
      let isBroken = !baseline.isSame && status != .recorded && !baseline.isWritten
      cases.append(
        Case(
          name: "recording", kind: isBroken ? "failure" : nil,
          text: baseline.findings.map(\.text).joined(separator: "\n")))
    }
    return cases
  }
}

extension String {
  /// The text as it may be in an attribute or an element of XML.
  fileprivate var escaped: String {
    var text = ""
    for character in unicodeScalars {
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "\n", "\t": text.unicodeScalars.append(character)
      default:
        // Control characters may not be in XML at all.
        if character.value >= 32 { text.unicodeScalars.append(character) }
      }
    }
    return text
  }
}

extension CheckReport {
  /// Why no report can be written at a path; nil: one can.
  public static func problem(_ path: String) -> String? {
    do throws(RunFailure) {
      _ = try StandingFile.place(for: path) { $0.contains("<testsuites name=\"fedsim check\"") }
      return nil
    } catch {
      return error.description
    }
  }

  /// Writes the report as JUnit's XML; what went wrong, if anything did.
  public func writeJUnit(to path: String) -> String? {
    do throws(ResultFault) {
      try PlacedFile.place(Array(junit.utf8), at: path)
      return nil
    } catch {
      return error.description
    }
  }
}
