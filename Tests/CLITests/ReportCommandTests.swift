import Foundation
import Testing

@Suite("fedsim report and plot")
struct ReportCommandTests {
  @Test("one clock: the fleet and its participations are by the hour of the devices' day")
  func oneClock() throws {
    let fedsim = try Command()
    func page(_ name: String, _ settings: [String]) throws -> String {
      let set = (["stop.after=2 d"] + settings).flatMap { ["--set", $0] }
      let run = try fedsim.run(["run", "s.yaml", "-q", "-o", "\(name).h5"] + set)
      #expect(run.code == 0, "\(run.error)")
      #expect(try fedsim("report", "\(name).h5", "--output", "\(name).html").code == 0)
      return String(decoding: try fedsim.bytes("\(name).html"), as: UTF8.self)
    }
    let east = try page("east", ["fleet[0].utcOffset=3 h"])
    #expect(east.contains("Participations by hour of day"))
    #expect(east.contains("hour of the devices"))
    #expect(!east.contains("hour of day (UTC)"))
    // Two groups six hours apart.
    try fedsim.write(
      Command.scenario.replacingOccurrences(
        of: "server:\n",
        with: """
            - name: more
              count: 4
              utcOffset: 6 h
              background: {processing: {earliestBegin: 1 h}}
          server:

          """), to: "s.yaml")
    let apart = try page("apart", [])
    #expect(apart.contains("Participations by hour of day"))
    #expect(apart.contains("hour of day (UTC)"))
    #expect(!apart.contains("hour of the devices"))
    let byGroup = try page("groups", ["record.hoursByGroup=true"])
    #expect(byGroup.contains("Participations by hour of day"))
    #expect(byGroup.contains("hour of the devices"))
    #expect(!byGroup.contains("hour of day (UTC)"))
  }

  @Test("a report is next to its result, is the same twice, and names what it is of")
  func report() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    let first = try fedsim("report", "r.h5")
    #expect(first.code == 0 && first.error == "" && first.out == "report: r.html\n")
    let page = try fedsim.bytes("r.html")
    #expect(try fedsim("report", "r.h5").code == 0)
    #expect(try fedsim.bytes("r.html") == page)
    let text = String(decoding: page, as: UTF8.self)
    for words in ["Accuracy over time", "Funnel of participation", "fedsim replay r.h5"] {
      #expect(text.contains(words), "\(words)")
    }
  }

  @Test("several results and references share a page")
  func several() throws {
    let fedsim = try Command()
    for seed in ["1", "2"] {
      #expect(try fedsim("run", "s.yaml", "-q", "--seed", seed, "-o", "\(seed).h5").code == 0)
    }
    #expect(
      try fedsim("report", "1.h5", "2.h5", "--reference", "alone=1.h5", "-o", "both.html").code == 0
    )
    let text = String(decoding: try fedsim.bytes("both.html"), as: UTF8.self)
    #expect(text.contains("s (2 seeds)") && text.contains("alone"))
  }

  @Test("results of different settings list what differs")
  func settings() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "a.h5").code == 0)
    let other = ["--seed", "2", "--set", "fleet.phones.count=3"]
    #expect(try fedsim.run(["run", "s.yaml", "-q", "-o", "b.h5"] + other).code == 0)
    #expect(try fedsim("report", "a.h5", "b.h5", "-o", "both.html").code == 0)
    let text = String(decoding: try fedsim.bytes("both.html"), as: UTF8.self)
    #expect(text.contains("<tr><td>fleet.phones.count</td><td>4</td><td>3</td></tr>"))
    #expect(text.contains("<tr><td>seed</td><td>1</td><td>2</td></tr>"))
  }

  @Test("what is no result, and what is no report, is refused and stays as it is")
  func refusals() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    // The same run with more of it recorded is the same seed of the same policy.
    #expect(
      try fedsim("run", "s.yaml", "-q", "-o", "e.h5", "--set", "record.events=true").code == 0)
    try fedsim.write("mine", to: "notes.html")
    for (arguments, words) in [
      (["report"], "found no result"), (["report", "s.yaml"], "not a result of FedSim"),
      (["report", "none.h5"], "there is no such file"),
      (["report", "r.h5", "-o", "notes.html"], "is not replaced"),
      (["report", "r.h5", "-o", "no/where.html"], "does not exist"),
      (["report", "r.h5", "--reference", "r.h5"], "expected NAME=FILE"),
      (["plot", "r.h5"], "expected one of accuracy"),
      (["plot", "r.h5", "--figure", "acuracy"], "did you mean `accuracy`?"),
      (
        ["plot", "r.h5", "--figure", "timeline"],
        "no `timeline/work`, which is available with `record.timelineOf`"
      ),
      (["plot", "r.h5", "--figure", "central"], "no `central/testAccuracy`"),
      (["report", "s.yaml"], "1 fault; nothing was written"),
      (["report", "r.h5", "./r.h5"], "./r.h5: its content equals that of r.h5"),
      (["report", "r.h5", "e.h5"], "e.h5: it has the same policy and the same seed, 1, as r.h5"),
      (["report", "r.h5", "--reference", "x=r.h5", "--reference", "x=r.h5"], "appears twice"),
      (["plot", "r.h5", "--figure", "accuracy", "-o", "a.gif"], ".svg, .pdf or .png"),
    ] {
      let result = try fedsim.run(arguments)
      #expect(result.code == 2, "\(arguments)")
      #expect(result.error.contains(words), "\(arguments): \(result.error)")
      #expect(!result.error.contains("nothing was run"), "\(arguments)")
    }
    // The path is before the message, and not in it again.
    let damaged = try fedsim("report", "s.yaml").error
    #expect(damaged.components(separatedBy: "s.yaml").count == 2, "\(damaged)")
    #expect(try fedsim.bytes("notes.html") == Data("mine".utf8))
    #expect(!fedsim.names.contains("a.gif"))
  }

  @Test(
    "a pipe is refused before anybody reads it, and an empty file is filled",
    .timeLimit(.minutes(1)))
  func places() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    #expect(mkfifo("\(fedsim.folder)/pipe", 0o600) == 0)
    let pipe = try fedsim("report", "r.h5", "-o", "pipe")
    #expect(pipe.code == 2)
    #expect(
      pipe.error.contains("pipe: expected a path for a file, found a device"), "\(pipe.error)")
    try fedsim.write("", to: "empty.html")
    #expect(try fedsim("report", "r.h5", "-o", "empty.html").code == 0)
    #expect(try fedsim.bytes("empty.html").count > 1000)
  }

  @Test("runs without a version, of one device, and with training at the server have a page")
  func unusual() throws {
    let fedsim = try Command()
    #expect(
      try fedsim("run", "s.yaml", "-q", "-o", "none.h5", "--set", "server.trigger.threshold=99")
        .code == 0)
    #expect(try fedsim("report", "none.h5").code == 0)
    let none = String(decoding: try fedsim.bytes("none.html"), as: UTF8.self)
    #expect(none.contains("no version came after the initial model"))
    #expect(none.contains("of training time in progress at the end"))
    #expect(
      try fedsim(
        "run", "s.yaml", "-q", "-o", "one.h5", "--set", "fleet.phones.count=1", "--set",
        "server.trigger.threshold=1"
      ).code == 0)
    #expect(try fedsim("report", "one.h5").code == 0)
    let one = String(decoding: try fedsim.bytes("one.html"), as: UTF8.self)
    #expect(one.contains("<span>1 device</span>"))
  }

  @Test("interruptions have tiles and a figure")
  func interruptions() throws {
    let fedsim = try Command()
    // A task ends after some ten seconds, in the middle of a batch.
    let set = ["background.processing.budgetMedian=10 s", "compute.perBatch=20 s"]
      .flatMap { ["--set", "fleet.phones.\($0)"] }
    #expect(try fedsim.run(["run", "s.yaml", "-q", "-o", "r.h5"] + set).code == 0)
    #expect(try fedsim("plot", "r.h5", "--figure", "interruptions").code == 0)
    #expect(try fedsim("report", "r.h5").code == 0)
    let page = String(decoding: try fedsim.bytes("r.html"), as: UTF8.self)
    #expect(page.contains("Interruptions by hour of day"))
    #expect(page.contains("trainings expired</dt>"))
    // Nothing is kept at an expiry, and the link is always there.
    for word in ["checkpointed</dt>", "resumed</dt>", "waited offline</dt>"] {
      #expect(!page.contains(word), "\(word)")
    }
  }

  @Test("single figures are separate files")
  func plots() throws {
    let fedsim = try Command()
    #expect(try fedsim("run", "s.yaml", "-q", "-o", "r.h5").code == 0)
    let list = try fedsim("plot", "--list")
    #expect(list.code == 0)
    for name in ["accuracy", "loss", "funnel", "evenness"] {
      #expect(list.out.contains(name))
      #expect(try fedsim("plot", "r.h5", "--figure", name).out == "figure: \(name).svg\n")
      let text = String(decoding: try fedsim.bytes("\(name).svg"), as: UTF8.self)
      #expect(text.hasPrefix("<svg xmlns") && text.hasSuffix("</svg>\n"), "\(name)")
    }
  }
}
