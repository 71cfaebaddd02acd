/// Colours, dashes and types of figures, in light and dark.
///
/// The hues are Okabe and Ito's, which colour-blind readers tell apart, darkened or lightened until
/// text in them reads on its ground; lightness and dashes differ as well, so they hold in grey.
enum Palette {
  /// How many series look different.
  static let count = 8

  static let light = [
    "#0b5fa5", "#c25e00", "#00795c", "#98397d", "#2f8fc9", "#7d6a00", "#b3261e", "#4b5563",
  ]
  static let dark = [
    "#6cb6ff", "#f0a04b", "#4fd1a5", "#e29acb", "#9bd3f7", "#e2cf5a", "#ff9184", "#b4bcc8",
  ]
  static let dashes = ["", "7 3", "2 2.5", "9 3 2 3", "4 2", "12 3", "1 2", "6 2 1 2"]

  /// Soft tints of the first series, for heat maps from nothing to all.
  private static func ground(_ isDark: Bool) -> [(String, String)] {
    isDark
      ? [
        (".fg", "fill:#e6e9ee"), (".soft", "fill:#a3acb9"), (".grid", "stroke:#2c333d"),
        (".axis", "stroke:#5b6573"), (".ground", "fill:#12161c"), (".cross", "stroke:#a3acb9"),
      ]
      : [
        (".fg", "fill:#1c222b"), (".soft", "fill:#5a6472"), (".grid", "stroke:#e3e7ec"),
        (".axis", "stroke:#8a94a3"), (".ground", "fill:#ffffff"), (".cross", "stroke:#5a6472"),
      ]
  }

  /// The style sheet of figures; each rule is below `.fig`.
  static var style: String {
    func rules(_ colours: [String], _ isDark: Bool) -> String {
      var text = ground(isDark).map { ".fig \($0.0){\($0.1)}" }.joined()
      for (number, colour) in colours.enumerated() {
        text += ".fig .l\(number){stroke:\(colour)}.fig .f\(number){fill:\(colour)}"
      }
      return text
    }
    var text =
      ".fig{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}"
      + ".fig text{font-size:11px}.fig .title{font-size:13px;font-weight:600}"
      + ".fig .line{fill:none;stroke-width:1.8;stroke-linejoin:round}"
      + ".fig .band{fill-opacity:.18}.fig .cross{stroke-width:1;stroke-dasharray:2 2}"
      + ".fig .grid{stroke-width:1}.fig .axis{stroke-width:1}"
    for (number, dash) in dashes.enumerated() where !dash.isEmpty {
      text += ".fig .l\(number){stroke-dasharray:\(dash)}"
    }
    return text + rules(light, false)
      + "@media (prefers-color-scheme:dark){" + rules(dark, true) + "}"
  }
}
