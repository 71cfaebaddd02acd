extension Figure {
  /// The places of a figure's parts on the page.
  struct Frame {
    var left = 0.0
    var right = 0.0
    var top = 0.0
    var bottom = 0.0
    var height = 0.0
    /// Where the names of the series are.
    var legend: [(x: Double, y: Double, name: String)] = []
  }

  /// The figure as a separate file.
  public var svg: String { document(isPart: false) }

  /// The figure as a part of a page that has `Palette.style`.
  var part: String { document(isPart: true) }

  private func document(isPart: Bool) -> String {
    let shown = series.filter { !$0.mark.points.isEmpty }
    var frame = Frame()
    let labels = ticksOfHeight
    frame.left = 10 + (labels.map { Markup.width($0, size: 11) }.max() ?? 0) + 6
    frame.right = width - 16
    layLegend(shown, &frame)
    frame.bottom = frame.top + plotHeight
    frame.height = frame.bottom + 38
    let across = Scale(
      x.range.map { [$0.lowerBound, $0.upperBound] } ?? shown.flatMap(\.mark.places), x.quantity,
      includesZero: x.includesZero, from: frame.left, to: frame.right)
    let up = Scale(
      heights, y.quantity, includesZero: y.includesZero, isRounded: y.range == nil,
      from: frame.bottom, to: frame.top)
    var body = SVG.text(title, x: 10, y: 19, "title fg")
    body += SVG.text(label(y, up), x: 10, y: 36, "soft")
    body += legend(shown, frame)
    body += axes(across, up, frame)
    if let startsBelow {
      let words = "curves start at \(up.label(startsBelow)), below the axis"
      body += SVG.text(words, x: 10, y: frame.bottom + 32, "soft")
    }
    if isEmpty {
      body += SVG.text(
        "nothing to show", x: (frame.left + frame.right) / 2, y: (frame.top + frame.bottom) / 2,
        "soft", anchor: "middle")
    }
    for (place, one) in shown.enumerated() {
      let mark = startsBelow == nil ? one.mark : one.mark.begun(at: up.low)
      body += draw(mark, look: one.look ?? place, across, up)
    }
    return SVG.document(
      body, width: width, height: frame.height, isPart: isPart, label: title,
      data: isPart ? readout(shown, across, up, frame) : nil)
  }

  private var heights: [Double] {
    y.range.map { [$0.lowerBound, $0.upperBound] } ?? series.flatMap(\.mark.heights)
  }

  private var ticksOfHeight: [String] {
    let whole = Scale(
      heights, y.quantity, includesZero: y.includesZero, isRounded: y.range == nil, from: 1, to: 0)
    return whole.ticks(atMost: 6).map(whole.label)
  }

  private func label(_ axis: Axis, _ scale: Scale) -> String {
    scale.unit.map { "\(axis.label) (\($0))" } ?? axis.label
  }

  /// Lays the names of the series in rows below the title.
  private func layLegend(_ shown: [Series], _ frame: inout Frame) {
    var (across, row) = (10.0, 55.0)
    guard shown.count > 1 || (namesOne && !shown.isEmpty) else {
      frame.top = 52
      return
    }
    for one in shown {
      let name = Markup.cut(one.name, to: width - 60, size: 11)
      let needed = 24 + Markup.width(name, size: 11) + 12
      if across > 10, across + needed > width - 6 { (across, row) = (10, row + 16) }
      frame.legend.append((across, row, name))
      across += needed
    }
    frame.top = row + 14
  }

  private func legend(_ shown: [Series], _ frame: Frame) -> String {
    var text = frame.legend.isEmpty ? "" : "<g class=\"legend\">"
    for (place, entry) in frame.legend.enumerated() {
      let look = (shown[place].look ?? place) % Palette.count
      let (x, y) = (entry.x, entry.y - 4)
      if case .columns = shown[place].mark {
        text += SVG.rectangle(x: x, y: y - 4, width: 18, height: 8, "f\(look)")
      } else {
        text += SVG.line(x, y, x + 18, y, "line l\(look)")
      }
      text += SVG.text(entry.name, x: x + 24, y: entry.y, "fg")
    }
    return frame.legend.isEmpty ? "" : text + "</g>"
  }

  private func axes(_ across: Scale, _ up: Scale, _ frame: Frame) -> String {
    var text = ""
    for tick in up.ticks(atMost: 6) {
      let y = up.place(tick)
      text += SVG.line(frame.left, y, frame.right, y, "grid")
      text += SVG.text(up.label(tick), x: frame.left - 6, y: y + 4, "soft", anchor: "end")
    }
    var free = -Double.infinity
    let most = max(2, Int((frame.right - frame.left) / 44))
    for tick in across.ticks(atMost: most) {
      let x = across.place(tick)
      let label = across.label(tick)
      let half = Markup.width(label, size: 11) / 2
      text += SVG.line(x, frame.bottom, x, frame.bottom + 4, "axis")
      // A label that would touch the one before, or leave the page, is left out.
      if x - half < free || x + half > width - 1 { continue }
      text += SVG.text(label, x: x, y: frame.bottom + 16, "soft", anchor: "middle")
      free = x + half + 4
    }
    text += SVG.line(frame.left, frame.bottom, frame.right, frame.bottom, "axis")
    text += SVG.text(
      label(x, across), x: frame.right, y: frame.bottom + 32, "soft", anchor: "end")
    return text
  }

  private func draw(_ mark: Mark, look: Int, _ across: Scale, _ up: Scale) -> String {
    let look = look % Palette.count
    func clamped(_ y: Double) -> Double { up.place(min(max(y, up.low), up.high)) }
    switch mark {
    case .line(let points):
      return SVG.path(curve(points, isStep: false, across, clamped), "line l\(look)")
        + markers(points, look, across, clamped)
    case .step(let points):
      return SVG.path(curve(points, isStep: true, across, clamped), "line l\(look)")
        + markers(points, look, across, clamped)
    case .band(let points):
      let known = points.filter { $0.low.isFinite && $0.high.isFinite && $0.middle.isFinite }
      let middle = known.map { Point($0.x, $0.middle) }
      if let only = known.first, known.count == 1 {
        let x = across.place(only.x)
        return SVG.line(x, clamped(only.low), x, clamped(only.high), "line l\(look)")
          + markers(middle, look, across, clamped)
      }
      return SVG.path(outline(known, across, clamped), "band f\(look)")
        + SVG.path(curve(middle, isStep: true, across, clamped), "line l\(look)")
    case .columns(let points, let width):
      return points.filter { $0.y.isFinite }.map { point in
        let (left, right) = (across.place(point.x - width / 2), across.place(point.x + width / 2))
        let (zero, top) = (clamped(0), clamped(point.y))
        return SVG.rectangle(
          x: left + 0.5, y: min(zero, top), width: max(0.5, right - left - 1),
          height: max(abs(zero - top), point.y == 0 ? 0 : 0.5), "f\(look)")
      }.joined()
    }
  }

  /// The places of isolated points, so that no line is drawn through them.
  private func alone(_ points: [Point]) -> [Int] {
    func isKnown(_ place: Int) -> Bool {
      points.indices.contains(place) && points[place].x.isFinite && points[place].y.isFinite
    }
    return points.indices.filter { isKnown($0) && !isKnown($0 - 1) && !isKnown($0 + 1) }
  }

  /// A disc for each isolated point.
  private func markers(
    _ points: [Point], _ look: Int, _ across: Scale, _ up: (Double) -> Double
  ) -> String {
    alone(points).map {
      SVG.circle(across.place(points[$0].x), up(points[$0].y), radius: 3.5, "f\(look)")
    }.joined()
  }

  /// The path of a curve; NaN leaves a gap, and isolated points are left to `markers`.
  private func curve(
    _ points: [Point], isStep: Bool, _ across: Scale, _ up: (Double) -> Double
  ) -> String {
    var path = ""
    var isDown = false
    let single = Set(alone(points))
    for (place, point) in points.enumerated() {
      guard point.x.isFinite, point.y.isFinite, !single.contains(place) else {
        isDown = false
        continue
      }
      let x = Markup.coordinate(across.place(point.x))
      let y = Markup.coordinate(up(point.y))
      if !isDown {
        path += "M\(x) \(y)"
      } else {
        path += isStep ? "H\(x)V\(y)" : "L\(x) \(y)"
      }
      isDown = true
    }
    return path
  }

  /// The path around a band that keeps its values until the next point: along its upper end and
  /// back along its lower end.
  private func outline(
    _ points: [BandPoint], _ across: Scale, _ up: (Double) -> Double
  ) -> String {
    guard let first = points.first, let last = points.last else { return "" }
    func x(_ point: BandPoint) -> String { Markup.coordinate(across.place(point.x)) }
    var path = "M\(x(first)) \(Markup.coordinate(up(first.high)))"
    for point in points.dropFirst() { path += "H\(x(point))V\(Markup.coordinate(up(point.high)))" }
    path += "V\(Markup.coordinate(up(last.low)))"
    for point in points.dropLast().reversed() {
      path += "V\(Markup.coordinate(up(point.low)))H\(x(point))"
    }
    return path + "Z"
  }

  /// What the page's script needs to read values off the curves, as JSON.
  private func readout(
    _ shown: [Series], _ across: Scale, _ up: Scale, _ frame: Frame
  ) -> String? {
    guard !isEmpty else { return nil }
    func number(_ value: Double) -> String {
      value.isFinite ? Markup.significant(value, 7) : "null"
    }
    func list(_ values: [Double]) -> String {
      "[" + values.map(number).joined(separator: ",") + "]"
    }
    let curves = shown.enumerated().map { place, one in
      let points = one.mark.points
      var kind = "line"
      if case .step = one.mark { kind = "step" }
      if case .band = one.mark { kind = "step" }
      if case .columns = one.mark { kind = "near" }
      return "{\"name\":\(SVG.json(one.name)),\"kind\":\"\(kind)\","
        + "\"look\":\((one.look ?? place) % Palette.count),"
        + "\"x\":\(list(points.map(\.x))),\"y\":\(list(points.map(\.y)))}"
    }
    return "{\"x\":[\(number(across.low)),\(number(across.high)),\(number(frame.left)),"
      + "\(number(frame.right))],\"y\":[\(number(up.low)),\(number(up.high)),"
      + "\(number(frame.bottom)),\(number(frame.top))],"
      + "\"xq\":\"\(x.quantity.rawValue)\",\"yq\":\"\(y.quantity.rawValue)\","
      + "\"xl\":\(SVG.json(x.label)),\"curves\":[\(curves.joined(separator: ","))]}"
  }
}
