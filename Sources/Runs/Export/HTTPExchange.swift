import Foundation
import Schema

/// A request as a client of a backend sends it.
struct HTTPRequest {
  /// What the body consists of.
  enum Body {
    case none
    /// JSON, written out.
    case json(String)
    /// This many bytes, whatever they are.
    case filling(Int64)
  }

  /// What it is for, such as `update`.
  var kind: String
  var verb: String
  var path: String
  var headers: [(String, String)] = []
  var body = Body.none

  /// The fields of a line.
  var fields: String {
    var line = JSONFields()
    line.add("request", text: kind)
    line.add("verb", text: verb)
    line.add("path", text: path)
    var heads = JSONFields()
    for (name, value) in headers { heads.add(name, text: value) }
    line.add("headers", heads.object)
    switch body {
    case .none: line.add("body", "null")
    case .json(let text): line.add("body", text)
    case .filling(let bytes):
      line.add("body", "null")
      line.add("fill", "\(bytes)")
    }
    return line.text
  }
}

/// What the simulated server answered.
struct HTTPAnswer {
  var status = 200
  /// The fields that it said, as JSON.
  var body = JSONFields()
}

/// The fields of a JSON object, in the order in which they were added.
struct JSONFields {
  private(set) var text = ""

  /// Adds a value that is JSON already.
  mutating func add(_ name: String, _ json: String) {
    text += "\(text.isEmpty ? "" : ", ")\(Text.jsonString(name)): \(json)"
  }

  mutating func add(_ name: String, text value: String) { add(name, Text.jsonString(value)) }

  mutating func add(_ name: String, _ value: Int) { add(name, "\(value)") }

  mutating func add(_ name: String, _ value: Bool) { add(name, value ? "true" : "false") }

  /// A number that is not finite, or is not there, is null.
  mutating func add(_ name: String, number: Double?) {
    add(name, number.map { $0.isFinite ? "\($0)" : "null" } ?? "null")
  }

  var object: String { "{\(text)}" }
}

/// Numbers and names on their way.
enum Wire {
  /// The JSON list of what an update has in place of each number of a tensor: the decimals that
  /// read back to the same 64-bit float.
  static func list(_ values: [Double]) -> String {
    var text = "["
    text.reserveCapacity(22 * values.count + 2)
    for (place, value) in values.enumerated() {
      if place > 0 { text += ", " }
      text += value.isFinite ? "\(value)" : "null"
    }
    return text + "]"
  }

  /// 32-bit floats, little-endian, in base64.
  static func base64(_ values: [Double]) -> String {
    var data = Data(capacity: 4 * values.count)
    for value in values {
      withUnsafeBytes(of: Float(value).bitPattern.littleEndian) { data.append(contentsOf: $0) }
    }
    return data.base64EncodedString()
  }

  /// A name as a part of a path or a query.
  static func escaped(_ name: String) -> String {
    var text = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.count < 2 ? "0" : "") + digits
      }
    }
    return text
  }
}
