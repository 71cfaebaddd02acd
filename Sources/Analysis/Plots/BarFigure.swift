/// Named amounts as bars, each with its number: the outcome of something, in how many ways.
public struct BarFigure: Sendable {
  /// One bar.
  public struct Bar: Sendable {
    /// The count; the figure writes it next to the bar.
    public var name: String
    /// How much.
    public var value: Double
    /// The amount in words.
    public var text: String
    /// Its look, from 0 to 7.
    public var look: Int
    /// A bar.
    public init(_ name: String, _ value: Double, _ text: String, look: Int = 0) {
      (self.name, self.value, self.text, self.look) = (name, value, text, look)
    }
  }

  /// What is seen.
  public var title: String
  /// What the bars measure.
  public var label: String
  /// The bars, the first on top.
  public var bars: [Bar]
  /// The width.
  public var width = 440.0

  /// A figure of bars.
  public init(_ title: String, _ label: String, _ bars: [Bar]) {
    (self.title, self.label, self.bars) = (title, label, bars)
  }

  /// Whether any bar has a length.
  public var isEmpty: Bool { bars.allSatisfy { !($0.value > 0) } }

  /// The figure as a separate file.
  public var svg: String { document(isPart: false) }
  /// The figure as a part of a page.
  var part: String { document(isPart: true) }

  private func document(isPart: Bool) -> String {
    let names = bars.map { Markup.cut($0.name, to: 170, size: 11) }
    let left = 10 + (names.map { Markup.width($0, size: 11) }.max() ?? 0) + 8
    let texts = bars.map { Markup.width($0.text, size: 11) }.max() ?? 0
    let room = max(40, width - 16 - texts - 6 - left)
    let most = bars.map(\.value).filter(\.isFinite).max() ?? 0
    var body = SVG.text(title, x: 10, y: 19, "title fg")
    body += SVG.text(label, x: 10, y: 36, "soft")
    var y = 50.0
    for (place, bar) in bars.enumerated() {
      let length = most > 0 && bar.value > 0 ? max(1, bar.value / most * room) : 0
      body += SVG.text(names[place], x: left - 8, y: y + 13, "fg", anchor: "end")
      body += SVG.rectangle(
        x: left, y: y + 3, width: length, height: 13, "f\(bar.look % Palette.count)",
        title: "\(bar.name): \(bar.text)")
      body += SVG.text(bar.text, x: left + length + 6, y: y + 13, "soft")
      y += 22
    }
    return SVG.document(
      body, width: width, height: y + 8, isPart: isPart, label: title, data: nil)
  }
}
