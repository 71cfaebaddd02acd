/// The page around a report's contents: its head, its look, its script, and what sections and
/// tables are made of.
enum ReportPage {
  /// The whole file.
  static func html(title: String, body: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8"/>
    <meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"/>
    <meta name="viewport" content="width=device-width, initial-scale=1"/>
    <meta name="color-scheme" content="light dark"/>
    <title>\(Markup.escaped(title)) · FedSim</title>
    <style>
    \(style)
    \(Palette.style)
    </style>
    </head>
    <body>
    <main>
    \(body)</main>
    <script>
    \(script)
    </script>
    </body>
    </html>

    """
  }

  /// A section of the page, with a note below its title.
  static func section(_ id: String, _ title: String, _ note: String?, _ body: String) -> String {
    let note = note.map { "<p class=\"note\">\(Markup.prose($0))</p>" } ?? ""
    return "<section id=\"\(id)\"><h2>\(Markup.escaped(title))</h2>\(note)\(body)</section>\n"
  }

  /// A table; cells after the first are numbers.
  static func table(_ head: [String], _ rows: [[String]], style: String = "numbers") -> String {
    func cells(_ cells: [String], _ tag: String) -> String {
      cells.map { "<\(tag)>\(Markup.escaped($0))</\(tag)>" }.joined()
    }
    return "<div class=\"scroll\" tabindex=\"0\"><table class=\"\(style)\"><thead><tr>"
      + cells(head, "th") + "</tr></thead><tbody>"
      + rows.map { "<tr>\(cells($0, "td"))</tr>" }.joined() + "</tbody></table></div>"
  }

  /// The look of the page around the figures.
  private static let style = """
    :root{--fg:#1c222b;--soft:#5a6472;--page:#f5f6f8;--card:#fff;--line:#dfe3e8;--accent:#0b5fa5}
    @media (prefers-color-scheme:dark){
    :root{--fg:#e6e9ee;--soft:#a3acb9;--page:#0b0e12;--card:#12161c;--line:#2c333d;
    --accent:#6cb6ff}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--page);color:var(--fg);line-height:1.5;
    font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
    main{max-width:1460px;margin:0 auto;padding:32px 24px 64px}
    .kind{margin:0;color:var(--accent);font-weight:600;font-size:13px;letter-spacing:.02em}
    h1{margin:4px 0 6px;font-size:30px;line-height:1.2;overflow-wrap:anywhere}
    h2{margin:44px 0 6px;font-size:19px;overflow-wrap:anywhere}
    .facts{margin:0;color:var(--soft)}
    .facts span:not(:last-child)::after{content:" · "}
    .warning{margin:12px 0 0;padding:8px 12px;border-left:4px solid #c25e00;background:var(--card)}
    .note{margin:0 0 12px;color:var(--soft);max-width:76ch}
    .left{margin:12px 0 0;font-size:13px}
    .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;
    margin:24px 0 0}
    .tiles div{background:var(--card);border:1px solid var(--line);border-radius:8px;
    padding:12px 14px}
    .tiles dd{margin:0;font-size:24px;font-weight:600;font-variant-numeric:tabular-nums}
    .tiles dt{color:var(--soft);font-size:13px}
    .grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:16px}
    figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;
    padding:8px 6px 6px;min-width:0}
    figure svg{display:block;width:100%;height:auto;touch-action:pan-y}
    figure svg:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
    .read{display:block;min-height:20px;padding:0 10px;color:var(--soft);font-size:12px;
    font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
    .several{min-height:38px}
    .read b{color:var(--fg);font-weight:600}
    .scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:8px}
    table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}
    th,td{padding:7px 12px;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
    tr:last-child td{border-bottom:0}
    th{color:var(--soft);font-weight:600;white-space:nowrap}
    .numbers td:not(:first-child),.numbers th:not(:first-child){text-align:right;
    white-space:normal}
    .numbers td:first-child{white-space:nowrap}
    .words td{overflow-wrap:anywhere;min-width:7em}
    code,pre{font-family:ui-monospace,SFMono-Regular,"DejaVu Sans Mono",monospace;font-size:13px}
    code{overflow-wrap:anywhere}
    pre{margin:0;padding:14px;overflow-x:auto;background:var(--card);border:1px solid var(--line);
    border-radius:8px}
    summary{cursor:pointer;margin:6px 0;color:var(--accent)}
    @media (max-width:520px){main{padding:20px 12px 48px}h1{font-size:24px}
    .tiles{grid-template-columns:repeat(2,1fr)}}
    @media print{body{background:#fff}main{max-width:none;padding:0}
    figure,tr,dl>div{break-inside:avoid}h1,h2,h3,figcaption,thead{break-after:avoid}
    section>h2+*{break-before:avoid}.read{display:none}}
    """

  /// Reads values off curves: by pointer, by touch, by the arrow keys. Without it the figures are
  /// as they are.
  private static let script = #"""
    "use strict";
    (() => {
      const NS = "http://www.w3.org/2000/svg";
      const day = 86400;
      const short = (v) => Number(v.toPrecision(5)).toLocaleString("en-US",
        { maximumFractionDigits: 12 });
      const words = (v, kind) => {
        if (v === null) return "–";
        if (kind === "share") return Number((100 * v).toPrecision(5)) + "%";
        if (kind === "hourOfDay") return Number(v.toPrecision(4)) + " h";
        if (kind === "time") {
          const d = Math.floor(v / day), s = v - d * day;
          const h = Math.floor(s / 3600), m = Math.floor(s % 3600 / 60);
          return d > 0 ? `${d} d ${h} h ${m} min` : h > 0 ? `${h} h ${m} min`
            : `${m} min ${short(s % 60)} s`;
        }
        const units = { bytes: "B", energy: "J" };
        if (units[kind]) {
          for (const [p, f] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]])
            if (Math.abs(v) >= f) return `${short(v / f)} ${p}${units[kind]}`;
          return `${short(v)} ${units[kind]}`;
        }
        return short(v);
      };
      // The place of the last point at or before x, or of the nearest one.
      const find = (c, x) => {
        let low = 0, high = c.x.length;
        while (low < high) {
          const mid = (low + high) >> 1;
          if (c.x[mid] <= x) low = mid + 1; else high = mid;
        }
        if (c.kind === "step") return low - 1;
        if (low === 0) return 0;
        if (low === c.x.length) return low - 1;
        return x - c.x[low - 1] <= c.x[low] - x ? low - 1 : low;
      };
      for (const svg of document.querySelectorAll("svg[data-read]")) {
        const data = JSON.parse(svg.dataset.read);
        const out = svg.parentElement.querySelector(".read");
        if (!out) continue;
        const [x0, x1, left, right] = data.x, [y0, y1, bottom, top] = data.y;
        const layer = document.createElementNS(NS, "g");
        layer.setAttribute("pointer-events", "none");
        svg.append(layer);
        let at = null;
        const show = (x) => {
          at = Math.min(Math.max(x, x0), x1);
          const px = left + (at - x0) / (x1 - x0) * (right - left);
          layer.replaceChildren();
          const line = document.createElementNS(NS, "path");
          line.setAttribute("class", "cross");
          line.setAttribute("d", `M${px} ${top}V${bottom}`);
          layer.append(line);
          out.textContent = `${data.xl}: ${words(at, data.xq)}`;
          for (const c of data.curves) {
            const i = find(c, at);
            if (i < 0 || c.y[i] === null) continue;
            const dot = document.createElementNS(NS, "circle");
            const y = Math.min(Math.max(c.y[i], y0), y1);
            const dx = c.kind === "step" ? px
              : left + (c.x[i] - x0) / (x1 - x0) * (right - left);
            dot.setAttribute("class", `f${c.look}`);
            dot.setAttribute("cx", dx);
            dot.setAttribute("cy", bottom - (y - y0) / (y1 - y0) * (bottom - top));
            dot.setAttribute("r", 3.2);
            layer.append(dot);
            const value = document.createElement("b");
            value.textContent = words(c.y[i], data.yq);
            out.append(data.curves.length > 1 ? ` · ${c.name} ` : " · ", value);
          }
        };
        const hide = () => { layer.replaceChildren(); out.textContent = ""; at = null; };
        const place = (event) => {
          const box = svg.getBoundingClientRect();
          const px = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
          show(x0 + (px - left) / (right - left) * (x1 - x0));
        };
        svg.addEventListener("pointermove", place);
        svg.addEventListener("pointerdown", place);
        svg.addEventListener("pointerleave", (e) => { if (e.pointerType === "mouse") hide(); });
        svg.addEventListener("blur", hide);
        svg.addEventListener("keydown", (event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (event.key === "Escape") return hide();
          if (!step) return;
          event.preventDefault();
          const all = [...new Set(data.curves.flatMap((c) => c.x))].filter((v) => v !== null)
            .sort((a, b) => a - b);
          const now = at === null ? x0 : at;
          const next = step > 0 ? all.find((v) => v > now) : all.findLast((v) => v < now);
          show(next === undefined ? now : next);
        });
      }
    })();
    """#
}
