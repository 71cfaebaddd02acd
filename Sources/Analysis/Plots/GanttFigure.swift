/// Stretches of time in rows: what one device was and did.
public struct GanttFigure: Sendable {
  /// A stretch of time.
  public struct Stretch: Sendable {
    /// From this second on.
    public var from: Double
    /// Until before this one.
    public var to: Double
    /// What it was, in words.
    public var name: String
    /// How dark it is, from 0 to 1.
    public var depth: Double
    /// A stretch.
    public init(_ from: Double, _ to: Double, _ name: String, depth: Double = 1) {
      (self.from, self.to, self.name, self.depth) = (from, to, name, depth)
    }
  }

  /// A row of stretches.
  public struct Row: Sendable {
    /// Its label at the left of the row.
    public var name: String
    /// Its look, from 0 to 7.
    public var look: Int
    /// Its text.
    public var stretches: [Stretch]
    /// Moments that are marked in it, with what happened.
    public var moments: [(time: Double, name: String)]
    /// A row.
    public init(
      _ name: String, look: Int, _ stretches: [Stretch],
      moments: [(time: Double, name: String)] = []
    ) {
      (self.name, self.look, self.stretches) = (name, look, stretches)
      self.moments = moments
    }
  }

  /// What is seen.
  public var title: String
  /// A line below the title.
  public var subtitle: String
  /// From which second to which it is shown.
  public var range: ClosedRange<Double>
  /// The rows, the first on top.
  public var rows: [Row]
  /// The width.
  public var width = 440.0

  /// A figure of rows.
  public init(_ title: String, _ subtitle: String, _ range: ClosedRange<Double>, _ rows: [Row]) {
    (self.title, self.subtitle, self.range, self.rows) = (title, subtitle, range, rows)
  }

  /// The figure as a separate file.
  public var svg: String { document(isPart: false) }
  /// The figure as a part of a page.
  var part: String { document(isPart: true) }

  private func document(isPart: Bool) -> String {
    let left = 10 + (rows.map { Markup.width($0.name, size: 11) }.max() ?? 0) + 8
    let scale = Scale(
      [range.lowerBound, range.upperBound], .time, from: left, to: width - 16)
    let top = 46.0
    let bottom = top + Double(rows.count) * 22
    var body = SVG.text(title, x: 10, y: 19, "title fg")
    body += SVG.text(subtitle, x: 10, y: 36, "soft")
    for tick in scale.ticks(atMost: 7) {
      let x = scale.place(tick)
      body += SVG.line(x, top, x, bottom, "grid")
      let half = Markup.width(scale.label(tick), size: 11) / 2
      if x + half < width - 1 {
        body += SVG.text(scale.label(tick), x: x, y: bottom + 16, "soft", anchor: "middle")
      }
    }
    for (place, row) in rows.enumerated() {
      let y = top + Double(place) * 22
      body += SVG.text(row.name, x: left - 8, y: y + 15, "fg", anchor: "end")
      for stretch in row.stretches where stretch.to > range.lowerBound {
        guard stretch.from < range.upperBound else { continue }
        let from = scale.place(max(stretch.from, range.lowerBound))
        let to = scale.place(min(stretch.to, range.upperBound))
        body += SVG.rectangle(
          x: from, y: y + 4, width: max(1.2, to - from), height: 14, "f\(row.look)",
          opacity: stretch.depth < 1 ? stretch.depth : nil, title: stretch.name)
      }
      for moment in row.moments where range.contains(moment.time) {
        let x = Markup.coordinate(scale.place(moment.time))
        let (a, b) = (Markup.coordinate(y + 2), Markup.coordinate(y + 20))
        body +=
          "<path class=\"line l6\" d=\"M\(x) \(a)V\(b)\">"
          + "<title>\(Markup.escaped(moment.name))</title></path>"
      }
    }
    body += SVG.line(left, bottom, width - 16, bottom, "axis")
    body += SVG.text(
      "simulated time (\(scale.unit ?? "seconds"))", x: width - 16, y: bottom + 32, "soft",
      anchor: "end")
    return SVG.document(
      body, width: width, height: bottom + 40, isPart: isPart, label: title, data: nil)
  }
}
