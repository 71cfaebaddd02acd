"""Opens a report in headless Chromium, through its DevTools pipe, and looks at it.

    check_report.py REPORT.html RESULT.h5 [SCREENSHOTS]

In light and dark, 1440 and 400 pixels wide: no message on the console, no request but for the page,
nothing wider than the window, no text of a figure cut off or over another, no figure without a mark beside
its legend that is larger than a pixel; a pointer over the first figure reads the values of the first of
its curves that the result holds (`-` for RESULT: no values are compared). Prints a line each; exit code 1 where anything is wrong.
"""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

LOOK = r"""
(() => {
  const wrong = [];
  const wide = document.documentElement;
  if (wide.scrollWidth > innerWidth) wrong.push(`the page is ${wide.scrollWidth} wide`);
  for (const svg of document.querySelectorAll("svg.fig")) {
    const name = svg.getAttribute("aria-label");
    const box = svg.getBoundingClientRect();
    const marks = [...svg.querySelectorAll("path.line, path.band, rect, circle")].filter((mark) => {
      const extent = mark.getBBox();
      return !mark.closest(".legend") && Math.max(extent.width, extent.height) > 1;
    });
    if (!marks.length) wrong.push(`${name}: no marks`);
    const texts = [...svg.querySelectorAll("text")].map((t) => [t, t.getBoundingClientRect()]);
    for (const [t, b] of texts) {
      if (b.left < box.left - 0.5 || b.right > box.right + 0.5 || b.top < box.top - 0.5
          || b.bottom > box.bottom + 0.5) wrong.push(`${name}: "${t.textContent}" is cut off`);
    }
    for (let i = 0; i < texts.length; i++) for (let k = i + 1; k < texts.length; k++) {
      const [a, b] = [texts[i][1], texts[k][1]];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 3)
        wrong.push(`${name}: "${texts[i][0].textContent}" over "${texts[k][0].textContent}"`);
    }
  }
  for (const e of document.querySelectorAll("h1, h2, p, dd, dt, figure, details, .scroll")) {
    const b = e.getBoundingClientRect();
    if (b.width > 0 && (b.right > innerWidth + 0.5 || b.left < -0.5))
      wrong.push(`${e.tagName} "${e.textContent.slice(0, 40)}" leaves the window`);
  }
  return { wrong, figures: document.querySelectorAll("svg.fig").length,
    height: wide.scrollHeight };
})()
"""

# The curve's own points, and what the page says of each when the pointer is there.
READ = r"""
(() => {
  const svg = document.querySelector("svg[data-read]");
  const data = JSON.parse(svg.dataset.read);
  const [x0, x1, left, right] = data.x;
  const box = svg.getBoundingClientRect();
  const curve = data.curves[0];
  const said = [];
  for (let i = 0; i < curve.x.length; i += Math.max(1, Math.floor(curve.x.length / 20))) {
    const at = i + 1 < curve.x.length ? (curve.x[i] + curve.x[i + 1]) / 2 : curve.x[i];
    const px = left + (at - x0) / (x1 - x0) * (right - left);
    svg.dispatchEvent(new PointerEvent("pointermove", {
      clientX: box.left + px / svg.viewBox.baseVal.width * box.width, clientY: box.top + 100 }));
    const value = svg.parentElement.querySelector(".read b");
    said.push([curve.x[i], value ? value.textContent : ""]);
  }
  return said;
})()
"""


class Browser:
    """Chromium behind a pair of pipes."""

    def __init__(self):
        program = next(filter(None, map(shutil.which, (
            "chromium", "chromium-headless-shell", "google-chrome", "chromium-browser"))), None)
        if program is None:
            sys.exit("check_report: no Chromium on the PATH")
        self.folder = tempfile.mkdtemp()
        to_read, self.write = os.pipe()
        self.read, to_write = os.pipe()

        # Chromium reads from 3 and writes to 4; copies out of the way first, so that none is lost.
        def connect():
            spare = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session, self.heard = b"", 0, None, []

    def message(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.read, 1 << 16)
            if not piece:
                sys.exit("check_report: Chromium has gone")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        order = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.write, json.dumps(order).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"check_report: {method}: {answer['error']}")
                return answer["result"]
            self.heard.append(answer)

    def open(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call(
            "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"check_report: {answer['exceptionDetails']}")
        return answer["result"]["value"]

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def complaints(heard):
    """What the console said, and requests beyond the page's own."""
    found, requests = [], 0
    for answer in heard:
        method, parameters = answer.get("method"), answer.get("params", {})
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            found.append(f"console: {json.dumps(parameters)[:200]}")
        if method == "Network.requestWillBeSent":
            requests += 1
            if requests > 1:
                found.append(f"request: {parameters['request']['url']}")
    return found


def wrong_values(said, result):
    """Where the read-out differs from the file, of values in percent."""
    with h5py.File(result) as file:
        times = file["versions/publishedAt"][:]
        accuracy = file["versions/centralAccuracy"][:]
        if "central" in file and len(times) < 2:
            # Devices trained nothing; the first curve is that of the first model of the server.
            central = file["central"]
            first = central["model"][:] == central["model"][0]
            times, accuracy = central["publishedAt"][first], central["testAccuracy"][first]
    known = ~np.isnan(accuracy)
    times, accuracy = times[known], accuracy[known]
    found = []
    for place, text in said:
        # Of several versions at one time the last counts.
        expected = accuracy[np.searchsorted(times, place * (1 + 1e-6), side="right") - 1]
        if not text.endswith("%") or abs(float(text[:-1]) / 100 - expected) > 6e-5:
            found.append(f"at {place} s the page says {text}, the file {expected}")
    if len(said) < 2:
        found.append("there is nothing to read off")
    return found


def main():
    page, result = sys.argv[1:3]
    pictures = sys.argv[3] if len(sys.argv) > 3 else None
    browser = Browser()
    bad = []
    try:
        for width in (1440, 400):
            for scheme in ("light", "dark"):
                browser.session = None
                browser.open()
                browser.heard = []
                browser.call(
                    "Emulation.setDeviceMetricsOverride", width=width, height=900,
                    deviceScaleFactor=1, mobile=False)
                browser.call("Emulation.setEmulatedMedia", features=[
                    {"name": "prefers-color-scheme", "value": scheme}])
                browser.call("Page.navigate", url="file://" + os.path.abspath(page))
                for _ in range(200):
                    if browser.value("document.readyState") == "complete":
                        break
                    time.sleep(0.05)
                seen = browser.value(LOOK)
                found = seen["wrong"]
                if result != "-":
                    found += wrong_values(browser.value(READ), result)
                found += complaints(browser.heard)
                print(f"report: {width} px, {scheme}: {seen['figures']} figures, "
                      f"{len(found)} faults")
                bad += found
                if pictures:
                    browser.call(
                        "Emulation.setDeviceMetricsOverride", width=width,
                        height=min(seen["height"], 16000), deviceScaleFactor=1, mobile=False)
                    shot = browser.call(
                        "Page.captureScreenshot", format="png", captureBeyondViewport=True)
                    name = os.path.join(pictures, f"report-{width}-{scheme}.png")
                    with open(name, "wb") as file:
                        file.write(base64.b64decode(shot["data"]))
    finally:
        browser.close()
    for fault in bad[:40]:
        print(f"report: {fault}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
