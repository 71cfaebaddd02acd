import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios

@Suite("A run that can produce no version")
struct StallReportTests {
  /// Four clients with 20 samples each.
  private static let task = """
    seed: 1
    task:
      data:
        source: {blobs: {classes: 2, features: 2, train: 80, test: 4}}
        partition: {iid: {clients: 4}}
      model: softmax
      training: {epochs: 1, batchSize: 1, optimizer: {sgd: 0.5}}

    """

  /// From midnight on: charging from 12:00 to 13:00 only, in use from 08:00 to 22:00.
  private static let text =
    task + """
      name: stuck
      stop: {after: 30 d}
      fleet:
        - name: phones
          count: 37
          power: {weekly: {intervals: [{from: "12:00", to: "13:00"}]}}
          usage: {weekly: {intervals: [{from: "08:00", to: "22:00"}]}}
          background: {processing: {requiresExternalPower: true}}
        - name: tablets
          count: 3
          link: {fixed: cellular}
          background: {processing: {requiresUnmetered: true}}
      server: {trigger: {threshold: 1}}

      """

  private static func run(
    _ overrides: String..., text: String = text
  ) throws -> (RunSummary, ResultDocument) {
    let folder = try Folder()
    let scenario = try Scenario(text: text, file: folder("s.yaml"), overrides: overrides)
    let summary = try Run(scenario, output: folder("r.h5")).perform()
    return (summary, try ResultFile.read(folder("r.h5")))
  }

  @Test("stops at once where no device can ever begin, and says what never holds for how many")
  func stops() throws {
    let (summary, document) = try Self.run()
    #expect(
      summary.standstill == [
        "never charging and idle at once: 37 of 37 phones",
        "never on an unmetered link: 3 of 3 tablets",
        "no device could ever contribute, so the run stopped early, at 0 d 00:00:00",
      ])
    #expect(summary.simulatedSeconds == 0)
    #expect(summary.ledgers.allSatisfy { $0.balances })
    #expect(document.integers("standstill/devices") == [37, 3])
    #expect(document.integers("standstill/of") == [37, 3])
    #expect(document.numbers("standstill/stoppedAt") == [0])
    #expect(
      document.integers("standstill/obstacleOf")
        == Array(repeating: 0, count: 37) + Array(repeating: 1, count: 3))
    #expect(
      document.variable("standstill/kind")?.flagMeanings
        == ["never_charging_and_idle_at_once", "never_on_an_unmetered_link"])
    #expect(
      document["standstill"]?[text: "report"] == summary.standstill.joined(separator: "\n"))
  }

  @Test("tells devices that never joined, and those that cannot train, from those never started")
  func absentOrUnfit() throws {
    let (summary, _) = try Self.run(
      "stop={after: 3 d, playsOut: true}", "fleet.phones.presence={fixed: away}",
      "fleet.tablets.hardware={classes: iphone-8, minimumOSVersion: 17}")
    #expect(
      summary.standstill == [
        "never in the fleet (fleet[].presence): 37 of 37 phones",
        "the device cannot train this model (fleet[].hardware): 3 of 3 tablets",
      ])
  }

  @Test("is played out where the scenario says so, and says the same")
  func playsOut() throws {
    let (summary, document) = try Self.run("stop.playsOut=true", "stop.after=3 d")
    #expect(summary.simulatedSeconds == 3 * 86_400)
    #expect(
      summary.standstill == [
        "never charging and idle at once: 37 of 37 phones",
        "never on an unmetered link: 3 of 3 tablets",
      ])
    #expect(document.numbers("standstill/stoppedAt")?[0].isNaN == true)
  }

  @Test("continues as long as one device may begin, however late, and ends without a report")
  func goesOn() throws {
    // The 37 phones cannot; one tablet after the other has Wi-Fi from the last hour on.
    let (summary, document) = try Self.run(
      "fleet.tablets.link={fixed: {always: null, otherwise: cellular, "
        + "intervals: [{from: 719 h, state: wifi}]}}",
      "stop.versions=1")
    #expect(summary.version == 1)
    #expect(summary.standstill == [])
    #expect(document["standstill"] == nil)
  }

  @Test("stops when the last chance has passed without an update")
  func lastChance() throws {
    // The tablets have Wi-Fi from 1 h to 1 h 10 min alone, and each batch takes an hour. Their
    // tasks begin by 1 h 10 min and have at most 30 minutes, and what they did is thrown away.
    let (summary, document) = try Self.run(
      "fleet.tablets.link={fixed: {always: null, otherwise: cellular, intervals: "
        + "[{from: 1 h, to: 70 min, state: wifi}]}}",
      "fleet.tablets.compute.perBatch=1 h", "fleet.tablets.background.processing.startDelay=1 s")
    #expect(summary.version == 0)
    let stopped = try #require(document.numbers("standstill/stoppedAt"))
    #expect(stopped[0] > 4200 && stopped[0] < 30 * 86_400)
    #expect(
      summary.standstill.prefix(2) == [
        "never charging and idle at once: 37 of 37 phones",
        "no training produced an update: 3 of 3 tablets",
      ])
  }

  @Test("waits for the second chance of a day, and stops at the first event an hour later")
  func secondChance() throws {
    // As above, with Wi-Fi at 20 h again, and the second chance passes in the same way. The run is
    // looked at then and from 21 h on; the phones are put away at 22 h, and nothing changes before.
    let (_, document) = try Self.run(
      "fleet.tablets.link={fixed: {always: null, otherwise: cellular, intervals: "
        + "[{from: 1 h, to: 70 min, state: wifi}, {from: 20 h, to: 1210 min, state: wifi}]}}",
      "fleet.tablets.compute.perBatch=1 h", "fleet.tablets.background.processing.startDelay=1 s")
    #expect(document.numbers("standstill/stoppedAt") == [22 * 3600])
  }

  @Test("interrupts the play of a phone once, however many hours pass before the first version")
  func stretches() throws {
    // No task begins within 23 h. Each phone is taken up every 20 minutes and plays on alone: once
    // to the last chance, once to the end, and the end itself is played.
    let text =
      Self.task + """
        name: stretches
        stop: {after: 23 h}
        fleet:
          - name: phones
            count: 3
            usage: {markov: [{state: locked, mean: 10 min}, {state: active, mean: 10 min}]}
            background: {processing: {earliestBegin: 24 h}}
        server: {trigger: {threshold: 1}}

        """
    let folder = try Folder()
    var simulation = Simulation(try Scenario(text: text, file: folder("s.yaml")).inputs())
    simulation.run()
    #expect(simulation.eventsPlayedAhead > 200)
    #expect(simulation.turns <= 3 * 2 + 1)
  }

  @Test("names a threshold that no fleet of this size can reach")
  func threshold() throws {
    // Four clients with 20 samples, 600 ms each: 12 s of training. An update a device and version
    // waits at the server: three at most.
    let (summary, _) = try Self.run(
      "fleet.tablets.link={fixed: wifi}", "server.trigger.threshold=50", "stop.after=1 d")
    #expect(
      summary.standstill == [
        "never charging and idle at once: 37 of 37 phones",
        "updates were made, and none became part of a version: 3 of 3 tablets",
        "the server waits for 50 updates, but at most 3 waited at once: this fleet is too small "
          + "(server.trigger)",
      ])
  }

  @Test("names a cohort that a member has left where no deadline ends the round")
  func brokenCohort() throws {
    // All three wait from 1.010 on and train from 4.340 to 8.340; one is killed at 6 s.
    let (summary, document) = try Self.run(
      PlantedStory.window("0 s", "60 s", "65 s", of: "tablets"),
      "server.trigger=[cohort-complete]",
      "server.selector={uniform: {cohort: 3}}",
      "inject=[{at: 6 s, device: phones/0, action: kill}]", text: PlantedStory.text)
    #expect(
      summary.standstill.contains(
        "round 1 can never be complete: its cohort was to send 3 updates, 2 came, and the other "
          + "members have left; a `deadline` trigger would end it"), "\(summary.standstill)")
    #expect(summary.version == 0)
    #expect(document.count(["updates", "unfinishedAtEnd"]) == 2)
    #expect(document.count(["attempts", "killed"]) == 1)
  }

  @Test("names a broken cohort after a version, too, and the result is written")
  func laterCohort() throws {
    // As above; round 1 ends with all three, and one is killed in round 2.
    let (summary, document) = try Self.run(
      PlantedStory.window("0 s", "60 s", "65 s", of: "tablets"),
      "server.trigger=[cohort-complete]", "server.selector={uniform: {cohort: 3}}",
      "fleet.phones.participation={repeats: true, pause: 1 s}",
      "fleet.tablets.participation={repeats: true, pause: 1 s}",
      "inject=[{at: 20 s, device: phones/0, action: kill}]", text: PlantedStory.text)
    #expect(summary.version >= 1)
    #expect(summary.standstill.contains { $0.contains("can never be complete: its cohort") })
    let group = try #require(document["standstill"])
    #expect(group.variables.map(\.name) == ["stoppedAt"])
    #expect(group.texts.count == 1)
  }

  @Test("names rounds that were closed without a version, and no cohort that was formed")
  func skipped() throws {
    // Three wait and are taken; a second later nobody can have trained.
    let (summary, _) = try Self.run(
      PlantedStory.window("0 s", "60 s", "65 s", of: "tablets"),
      "server.trigger={quorum: {share: 1, after: 1 s}}",
      "server.selector={uniform: {cohort: 3}}", text: PlantedStory.text)
    #expect(summary.version == 0)
    #expect(
      summary.standstill.contains { $0.contains("closed without a version") },
      "\(summary.standstill)")
    #expect(!summary.standstill.contains { $0.contains("must wait at once, and at most 3") })
  }

  @Test("names a cohort that needs more devices at once than ever wait")
  func missingCohort() throws {
    // The phone's window closes before the tablets' opens.
    let (summary, _) = try Self.run(
      "server.selector={uniform: {cohort: 3}}",
      "server.trigger=[cohort-complete]", text: PlantedStory.text)
    #expect(
      summary.standstill == [
        "never in a cohort: 1 of 1 phones", "never in a cohort: 2 of 2 tablets",
        "no cohort was formed for the open round: 3 devices must wait at once, and at most 2 did"
          + " (server.selector)",
      ])
  }

  @Test("names a server that nobody ever reaches")
  func unreachable() throws {
    let (summary, _) = try Self.run("server.reachable={fixed: down}", text: PlantedStory.text)
    #expect(
      summary.standstill == [
        "the server was never reachable: 1 of 1 phones",
        "the server was never reachable: 2 of 2 tablets",
        "the server was never reachable (server.reachable)",
        "no device could ever contribute, so the run stopped early, at 0 d 00:00:00",
      ])
  }

  @Test("names a user who never started a training, where nothing else would")
  func neverAsked() throws {
    // Nobody ever opens the phone's app, and the tablets' has nothing to run in.
    let (summary, document) = try Self.run(
      "fleet.phones.background={windows: null, continued: {}, system: {}}",
      "fleet.tablets.background={windows: null}", text: PlantedStory.text)
    #expect(
      summary.standstill.prefix(2) == [
        "its user started no training in the app (background.continued): 1 of 1 phones",
        "nothing lets the app run (fleet[].background): 2 of 2 tablets",
      ])
    #expect(
      document.variable("standstill/kind")?.flagMeanings == [
        "its_user_started_no_training_in_the_app_background_continued",
        "nothing_lets_the_app_run_fleet_background",
      ])
  }

  @Test("has nothing to say of a run whose initial model is good enough")
  func goodEnough() throws {
    let (summary, document) = try Self.run("stop.accuracy=0", text: PlantedStory.text)
    #expect(summary.version == 0 && summary.simulatedSeconds == 0)
    #expect(summary.standstill == [])
    #expect(document["standstill"] == nil)
  }

  @Test("says since when there is no version, where that is long")
  func quiet() throws {
    // On Wi-Fi until 02:00, and a version each half hour with something to make it of.
    let text =
      Self.task + """
        stop: {after: 20 h}
        fleet:
          - name: phones
            count: 4
            link: {weekly: {intervals: [{from: "00:00", to: "02:00"}]}}
            background: {windows: {fixed: open}}
            participation: {repeats: true, pause: 10 min}
        server: {trigger: {every: {period: 30 min, minimum: 1}}}
        """
    let (long, document) = try Self.run(text: text)
    // Versions 1 to 4 at 00:30, 01:00, 01:30, 02:00; 18 of 20 hours are left.
    #expect(document.numbers("versions/publishedAt") == [0, 1800, 3600, 5400, 7200])
    #expect(long.quietSeconds == 64_800)
    // An hour is not more than twice half an hour.
    let (short, _) = try Self.run("stop.after=3 h", text: text)
    #expect(short.version == long.version)
    #expect(short.quietSeconds == nil)
  }
}
