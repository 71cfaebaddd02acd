import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios

extension PlantedStory {
  static let conditions: [PlantedStory] = [
    PlantedStory(
      name: "never charging",
      overrides: [task("requiresExternalPower: true"), "fleet.phones.power={fixed: unplugged}"],
      cause: .neverHeld, causeText: "never charging",
      // Round 1 lasts 3,609.650 s; idle is what is left after 100 s.
      sentence: "idle for 58 min 29 s, on Wi-Fi for 1 h 9 s and never charging",
      ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "never online", overrides: [task(), "fleet.phones.link={fixed: offline}"],
      cause: .neverHeld, causeText: "never online",
      sentence: "the system never started its task, because it was never online",
      ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "never idle while charging",
      // In use until 1800 s, so idle from 1900 s on; plugged in until 1850 s.
      overrides: [
        task("requiresExternalPower: true"),
        "fleet.phones.usage={fixed: {intervals: [{from: 0 s, to: 1800 s}]}}",
        "fleet.phones.power={fixed: {intervals: [{from: 0 s, to: 1850 s}]}}",
      ],
      cause: .neverHeld, causeText: "never idle while charging",
      sentence: "charging for 30 min 50 s, idle for 28 min 29 s",
      ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "swiped away",
      overrides: [
        task(), "fleet.phones.background.system={}",
        "inject=[{at: 0 s, device: phones/0, action: forceQuit}]",
      ],
      cause: .neverHeld, causeText: "swiped away by its user",
      sentence: "At 0 d 00:00:00 its app was swiped away.", ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "low battery",
      overrides: [
        task(), "fleet.phones.power={fixed: unplugged}",
        "fleet.phones.battery={initialLevel: 0.15, lowPowerAcceptance: 0}",
      ],
      cause: .neverHeld, causeText: "in low-power mode or low on charge",
      sentence: "because it was in low-power mode or low on charge",
      ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "low-power mode",
      // At 15 % and unplugged at 0 it accepts low-power mode, which ends at 80 % only.
      overrides: [
        task(), "fleet.phones.power={fixed: {intervals: [{from: 60 s, to: 70 s}]}}",
        "fleet.phones.battery={initialLevel: 0.15, lowPowerAcceptance: 1, essentialBelow: 0}",
      ],
      cause: .neverHeld, causeText: "in low-power mode or low on charge",
      sentence: "the device was charging for 10 s, idle", ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "away",
      overrides: [
        task(), "fleet.phones.presence={fixed: {intervals: [{from: 7000 s, to: 7100 s}]}}",
      ],
      cause: .absent, causeText: "the device was not in the fleet",
      sentence: "In that time the device was not in the fleet.", ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "no user who starts it",
      overrides: ["fleet.phones.background={windows: null, continued: {}, system: {}}"],
      cause: .nothingRuns, causeText: "its user started no training in the app",
      sentence: "Its app never ran.", ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "no window", overrides: [window("6000 s", "6060 s", "6065 s", of: "phones")],
      cause: .noWindow, causeText: "no background window opened for it",
      sentence: "Its app never ran.", ledger: ["attempts finished 3"]),
    PlantedStory(
      name: "not on Wi-Fi",
      overrides: [
        "fleet.phones.link={fixed: cellular}", "fleet.phones.participation.network=wifi",
      ],
      cause: .notEligible,
      causeText: "a condition of its app did not hold when it ran (not on Wi-Fi)",
      sentence: "when its app ran at 0 d 00:00:00, the device was not on Wi-Fi",
      ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "offline in its window", overrides: ["fleet.phones.link={fixed: offline}"],
      cause: .offline, causeText: "it was offline while its app ran",
      sentence: "never online", ledger: ["attempts finished 2"]),
  ]

  static let trainings: [PlantedStory] = [
    PlantedStory(
      name: "expiry before the first batch ended",
      // Batch 1 runs from 4.340 to 5.340.
      overrides: [window("0 s", "5 s", "5200 ms", of: "phones")],
      cause: .expired, causeText: "its task expired before the first batch ended",
      sentence: "its task expired at 0 d 00:00:05, and a batch was still running at the hard "
        + "expiry, so its app was killed at 0 d 00:00:05.2 before the first batch ended",
      ledger: ["attempts killed 1", "attempts finished 2"]),
    PlantedStory(
      name: "cut off",
      // Batch 3 ends at 7.340, in the grace.
      overrides: [window("0 s", "7 s", "12 s", of: "phones")],
      cause: .expired, causeText: "its task expired after 3 batches",
      sentence: "At 0 d 00:00:07 its time to run expired.",
      ledger: ["attempts discardedAtExpiry 1"]),
    PlantedStory(
      name: "killed for ignoring its expiry",
      // A task of 30 s from 100 s on; 10 s a batch from 104.340 on: two end before 130 s.
      overrides: [
        task("budgetMedian: 30 s, budgetSpread: 0"), "fleet.phones.compute.perBatch=10 s",
        "fleet.phones.app={onExpiration: ignore}",
      ],
      cause: .killed, causeText: "its app was killed: it continued after the expiry of its task",
      sentence:
        "its app was killed at 0 d 00:02:10 after 2 batches, because it had continued after the "
        + "expiry of its task at 0 d 00:02:05",
      ledger: ["attempts killed 1"]),
    PlantedStory(
      name: "conditions lost",
      overrides: [
        "fleet.phones.power={fixed: {intervals: [{from: 0 s, to: 6 s}]}}",
        "fleet.phones.participation.externalPower=true",
        "fleet.phones.interruption.onConditionsLost=abort",
      ],
      cause: .conditionsLost,
      causeText: "a condition of its app was lost while it trained (not charging)",
      sentence: "at 0 d 00:00:06 its training was given up after 1 batch",
      ledger: ["attempts conditionsLost 1"]),
    PlantedStory(
      name: "an error in the training",
      overrides: ["inject=[{at: 6 s, device: phones/0, action: throw}]"],
      cause: .threw, causeText: "its training threw an error",
      sentence: "At 0 d 00:00:06 its training ended after 1 batch:", ledger: ["attempts threw 1"]),
  ]

  static let server: [PlantedStory] = [
    PlantedStory(
      name: "server down",
      // The question is sent at 1.000 and has no answer for 60 s.
      overrides: [
        "server.reachable={fixed: {otherwise: up, "
          + "intervals: [{from: 0 s, to: 1800 s, state: down}]}}"
      ],
      cause: .serverUnreachable, causeText: "the server could not be reached",
      sentence: "its request failed at 0 d 00:01:01 (no answer came in time)",
      ledger: ["attempts finished 2", "transmissions timedOut 1"]),
    PlantedStory(
      name: "server offline",
      overrides: [
        "server.internet={fixed: {otherwise: up, "
          + "intervals: [{from: 0 s, to: 1800 s, state: down}]}}"
      ],
      cause: .serverOffline, causeText: "the server believed itself offline and sent no model",
      sentence: "At 0 d 00:00:02.02 the server replied that it believes itself offline.",
      ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "not selected",
      overrides: [
        window("0 s", "60 s", "65 s", of: "tablets"),
        "server.trigger=[cohort-complete]",
        "server.selector={scripted: {cohorts: [[1, 2]]}}",
      ],
      cause: .notChosen, causeText: "the server did not select it",
      sentence: "the cohort of round 1 was formed at 0 d 00:00:01.01, of 2 devices, and it was not "
        + "among those selected",
      ledger: ["attempts finished 2"]),
    PlantedStory(
      name: "upload lost and retried too late",
      // The round ends with the tablets' updates at 9.650. The phone's link is gone from 9 s to
      // 19 s, in its upload; it begins again and takes 1.310 s.
      overrides: [
        window("0 s", "60 s", "65 s", of: "tablets"),
        "server.trigger=[cohort-complete]",
        "server.selector={uniform: {cohort: 2, overSelection: 1.5}}",
        "fleet.phones.network.patience=0 s",
        "inject=[{at: 9 s, device: phones/0, action: dropLink, lasting: 10 s}]",
      ],
      round: nil, cause: .late,
      causeText: "its upload was lost, and its update arrived after its round was over",
      sentence: "reached the server at 0 d 00:00:20.31, after round 1 was over, because sending it "
        + "had failed at 0 d 00:00:09 (the link was lost during the transfer)",
      ledger: ["updates rejectedLate 1", "updates aggregated 2", "transmissions linkLost 1"]),
    PlantedStory(
      name: "upload lost",
      overrides: [
        window("0 s", "60 s", "65 s", of: "tablets"),
        "server.trigger=[cohort-complete]",
        "server.selector={uniform: {cohort: 2, overSelection: 1.5}}",
        "fleet.phones.network.patience=0 s",
        "inject=[{at: 9 s, device: phones/0, action: dropLink, lasting: 10 s}]",
      ],
      cause: .uploadLost, causeText: "its upload was lost and not sent again in time",
      sentence: "and it was not sent again before 0 d 00:00:09.65",
      ledger: ["updates rejectedLate 1"]),
    PlantedStory(
      name: "stale",
      // Version 1 is there at 9.650; the phone trains from 4.340 to 24.340 and arrives at 25.650.
      overrides: [
        window("0 s", "60 s", "65 s", of: "tablets"), "server.maximumStaleness=0",
        "fleet.phones.compute.perBatch=5 s",
      ],
      round: nil, cause: .stale, causeText: "its update was stale",
      sentence: "was of version 0 when it arrived at 0 d 00:00:25.65, and version 1 was current",
      ledger: ["updates rejectedStale 1", "updates aggregated 2"]),
    PlantedStory(
      name: "dropped",
      overrides: [
        "fleet.phones.link={fixed: {intervals: [{from: 0 s, to: 6 s}]}}",
        "fleet.phones.outbox.capacity=0",
      ],
      cause: .notKept,
      causeText:
        "the device did not keep its update: it could not be sent, and the device keeps none",
      sentence: "At 0 d 00:00:08.34 update 0 was dropped", ledger: ["updates dropped 1"]),
    PlantedStory(
      name: "waiting",
      overrides: ["server.trigger.threshold=9"], round: nil, cause: .waiting,
      causeText: "its update waited at the server, which had too few to aggregate",
      sentence: "its update 0 waited at the server from 0 d 00:00:09.65 on",
      ledger: ["updates unfinishedAtEnd 3"]),
    PlantedStory(
      name: "lost at a restart",
      // It is there at 9.650; the two others come later.
      overrides: ["server.trigger.threshold=9", "server.restarts={at: [20 s]}"], round: nil,
      cause: .serverRestarted, causeText: "the server restarted and lost its update",
      sentence:
        "its update 0 waited at the server at 0 d 00:00:20, when the server restarted and lost it",
      ledger: ["updates lostAtRestart 1", "updates unfinishedAtEnd 2"]),
    PlantedStory(
      name: "skipped",
      // A cohort of all three at 1.010; the deadline at 10.010 finds three of four updates.
      overrides: [
        window("0 s", "60 s", "65 s", of: "tablets"), "fleet.phones.compute.perBatch=1 s",
        "server.trigger=[{deadline: {after: 9 s, minimum: 4}}]",
        "server.selector={uniform: {cohort: 3}}",
      ],
      cause: .roundSkipped, causeText: "its round was skipped with its update",
      sentence: "Round 1 was open from 0 d 00:00:00 to 0 d 00:00:10.01 and was skipped",
      ledger: ["updates roundSkipped 3"]),
  ]
}

@Suite("fedsim explain")
struct ExplainTests {
  @Test(
    "names the one thing that kept a device from contributing, as the ledgers do",
    arguments: PlantedStory.conditions + PlantedStory.trainings + PlantedStory.server
      + PlantedStory.kept)
  func planted(story: PlantedStory) throws {
    let folder = try Folder()
    let (explanation, document) = try story.explained(in: folder)
    #expect(explanation.cause == story.cause)
    #expect(explanation.causeText == story.causeText)
    #expect(!explanation.contributed)
    #expect(explanation.text.contains(story.sentence), "\(explanation.text)")
    #expect(explanation.text.hasSuffix("\nCause: \(story.causeText)."))
    for line in story.ledger {
      let words = line.split(separator: " ")
      #expect(document.count(words) == Int64(words[2]), "\(line)")
    }
    #expect(document.integers("devices/aggregated")?[0] == 0)
  }

  /// The phone begins again a second after it is done. Its first update arrives at 9.650, the next
  /// one, of the same version, is ignored; the tablets' first one completes the round.
  @Test("reports a duplicate that was ignored in addition to the update that counted")
  func duplicate() throws {
    let folder = try Folder()
    let story = PlantedStory(
      name: "",
      overrides: [
        "server.duplicates=ignore", "fleet.phones.participation.repeats=true",
        "fleet.phones.participation.pause=1 s",
        PlantedStory.window("0 s", "20 s", "25 s", of: "phones"),
      ], cause: .contributed, causeText: "", sentence: "", ledger: [])
    let (explanation, document) = try story.explained(in: folder)
    #expect(explanation.contributed)
    #expect(explanation.causeText == "its update 0 became part of version 1")
    // Done at 10.660; asks at 11.660, trains from 13.680 on, sends from 17.680, arrives at 18.990.
    #expect(
      explanation.text.contains(
        "At 0 d 00:00:18.99 update 1 was rejected: the server had another update of this device "
          + "on this version."
      ), "\(explanation.text)")
    #expect(document.count(["updates", "rejectedDuplicate"]) == 1)
  }

  @Test("plays the same run with and without computing, and says the same of one that was stopped")
  func stopped() throws {
    let folder = try Folder()
    var story = PlantedStory.conditions[0]
    // No tablets' window: nobody can ever contribute.
    story.overrides.append("fleet.tablets.power={fixed: unplugged}")
    story.overrides.append("fleet.tablets.participation.externalPower=true")
    let (explanation, document) = try story.explained(in: folder)
    #expect(document.numbers("simulatedTime") == [0])
    #expect(explanation.causeText == "never charging")
    #expect(explanation.sentences[0].hasPrefix("The run stopped early, at 0 d 00:00:00, because"))
    // Where the accuracy decides, everything is computed, and the story is complete nevertheless.
    var accurate = PlantedStory.trainings[0]
    accurate.overrides.append("stop.accuracy=1")
    #expect(try accurate.explained(in: folder).0.cause == accurate.cause)
  }

  @Test("refuses what it cannot explain, with the nearest right word")
  func faults() throws {
    let folder = try Folder()
    _ = try PlantedStory.conditions[0].explained(in: folder)
    func message(_ result: String, _ device: String, _ round: Int? = nil) -> String {
      do throws(RunFailure) {
        _ = try Explanation(result: folder(result), device: device, round: round)
        return "none"
      } catch {
        #expect(error.isBadInput)
        return error.description.replacing(folder.path + "/", with: "")
      }
    }
    #expect(
      message("r.h5", "phone/0") == "r.h5: there is no device `phone/0`; did you mean `phones/0`?")
    #expect(
      message("r.h5", "tablets/2")
        == "r.h5: there is no device `tablets/2`: `tablets` has 2 devices, tablets/0 to tablets/1")
    #expect(
      message("r.h5", "phones/0", 9).hasPrefix("r.h5: there is no round 9: the run had 2 rounds"))
    #expect(message("none.h5", "phones/0").hasPrefix("none.h5: there is no such file"))
    try folder.write("name: x\n", to: "x.yaml")
    #expect(message("x.yaml", "phones/0").hasPrefix("x.yaml: this is not a result of FedSim"))
  }

  @Test("notices that a table of intervals, or the data, have changed since the run")
  func changed() throws {
    let folder = try Folder()
    try folder.write("device,from,to\n*,0,4000\n", to: "power.csv")
    let data = "f0,f1,label\n" + String(repeating: "1,2,0\n2,1,1\n", count: 6)
    try folder.write(data, to: "data.csv")
    var story = PlantedStory.conditions[0]
    story.overrides = [
      PlantedStory.task("requiresExternalPower: true"), "fleet.phones.power={csv: power.csv}",
    ]
    func refusal() -> String? {
      do throws(RunFailure) {
        _ = try Explanation(result: folder("r.h5"), device: "phones/0")
        return nil
      } catch {
        return error.isBadInput ? error.description : "another failure"
      }
    }
    _ = try story.explained(in: folder)
    #expect(refusal() == nil)
    try folder.write("device,from,to\n*,0,50\n", to: "power.csv")
    #expect(refusal()?.contains("the replayed run differs from the one in the file") == true)
    try FileManager.default.removeItem(atPath: folder("power.csv"))
    #expect(refusal()?.contains("power.csv") == true)
    // Another data set of the same size, of which no event depends.
    story.overrides = [PlantedStory.task("requiresExternalPower: true")]
    let text = PlantedStory.text.replacing(
      "{blobs: {classes: 2, features: 2, train: 12, test: 4}}",
      with: "{csv: {train: data.csv, test: data.csv}}")
    let scenario = try Scenario(text: text, file: folder("s.yaml"), overrides: story.overrides)
    // The result is elsewhere: the scenario's folder is in its provenance.
    let other = try Folder()
    _ = try Run(scenario, output: other("r.h5")).perform()
    func elsewhere(_ folder: String? = nil) -> String? {
      do throws(RunFailure) {
        _ = try Explanation(result: other("r.h5"), device: "phones/0", folder: folder)
        return nil
      } catch {
        return error.isBadInput ? error.description : "another failure"
      }
    }
    #expect(elsewhere() == nil)
    #expect(elsewhere("/nowhere")?.contains("data.csv") == true)
    try folder.write(data.replacing("2,1,1", with: "2,3,1"), to: "data.csv")
    #expect(elsewhere()?.contains("the run's data have changed since the run") == true)
  }

  @Test("refuses a result of another version, which would play another run")
  func versions() throws {
    let folder = try Folder()
    var (_, document) = try PlantedStory.conditions[0].explained(in: folder)
    let place = try #require(document.root.attributes.firstIndex { $0.name == "engineVersion" })
    document.root.attributes[place].value = .text("0.0.1")
    try ResultFile.prepare(folder("old.h5")).write(document)
    do throws(RunFailure) {
      _ = try Explanation(result: folder("old.h5"), device: "phones/0")
      Issue.record("it was explained")
    } catch {
      #expect(error.description.contains("this is a result of FedSim 0.0.1"))
    }
  }
}
