/// The elements that figures are made of.
enum SVG {
  /// A whole figure. As a part of a page it has no style sheet and carries `data` for the page's
  /// script.
  static func document(
    _ body: String, width: Double, height: Double, isPart: Bool, label: String, data: String?
  ) -> String {
    let (w, h) = (Markup.coordinate(width), Markup.coordinate(height))
    var head = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fig\" viewBox=\"0 0 \(w) \(h)\""
    head += " width=\"\(w)\" height=\"\(h)\" role=\"img\" aria-label=\"\(Markup.escaped(label))\""
    if let data { head += " tabindex=\"0\" data-read=\"\(Markup.escaped(data))\"" }
    head += ">"
    if isPart { return head + body + "</svg>" }
    return head + "<style>\(Palette.style)</style>"
      + rectangle(x: 0, y: 0, width: width, height: height, "ground") + body + "</svg>\n"
  }

  static func text(
    _ text: String, x: Double, y: Double, _ style: String, anchor: String? = nil
  ) -> String {
    let side = anchor.map { " text-anchor=\"\($0)\"" } ?? ""
    return "<text class=\"\(style)\" x=\"\(Markup.coordinate(x))\" y=\"\(Markup.coordinate(y))\""
      + "\(side)>\(Markup.escaped(text))</text>"
  }

  static func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String
  ) -> String {
    let (a, b) = (Markup.coordinate(x1), Markup.coordinate(y1))
    let (c, d) = (Markup.coordinate(x2), Markup.coordinate(y2))
    return "<path class=\"\(style)\" d=\"M\(a) \(b)L\(c) \(d)\"/>"
  }

  static func circle(_ x: Double, _ y: Double, radius: Double, _ style: String) -> String {
    "<circle class=\"\(style)\" cx=\"\(Markup.coordinate(x))\" "
      + "cy=\"\(Markup.coordinate(y))\" r=\"\(Markup.coordinate(radius))\"/>"
  }

  static func path(_ path: String, _ style: String) -> String {
    path.isEmpty ? "" : "<path class=\"\(style)\" d=\"\(path)\"/>"
  }

  static func rectangle(
    x: Double, y: Double, width: Double, height: Double, _ style: String, opacity: Double? = nil,
    title: String? = nil
  ) -> String {
    let see = opacity.map { " fill-opacity=\"\(Markup.coordinate($0))\"" } ?? ""
    let head =
      "<rect class=\"\(style)\" x=\"\(Markup.coordinate(x))\" y=\"\(Markup.coordinate(y))\""
      + " width=\"\(Markup.coordinate(width))\" height=\"\(Markup.coordinate(height))\"\(see)"
    guard let title else { return head + "/>" }
    return head + "><title>\(Markup.escaped(title))</title></rect>"
  }

  /// A text as JSON.
  static func json(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case let other where other.value < 32:
        let hex = String(other.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
