import Testing

import FedSim
import Results
import Runs
import Scenarios

@Suite("What reports say of conditions")
struct ConditionReportTests {
  /// What a device lacks, as overrides of `PlantedStory`, and what is said of it.
  private struct Lack: Sendable {
    let condition: Condition
    let overrides: [String]
    let words: String
  }

  // MARK: explain

  /// The window opens at 60 s, and the app asks for all that can hold at once.
  private static let asking = [
    PlantedStory.window("60 s", "150 s", "155 s", of: "phones"), "record.ineligibility=true",
    "fleet.phones.participation={avoidsLowPower: true, avoidsHeat: true, externalPower: true, "
      + "chargingOnly: true, minimumBattery: 20, network: unmetered, idle: true}",
    // 36 kJ. Nothing is drawn, and no heat is shed.
    "fleet.phones.battery={capacity: 10 Wh, initialLevel: 0.5, idle: 0 mW, screen: 0 mW, "
      + "training: 0 mW, wifi: 0 mW, cellular: 0 mW, lowPowerAcceptance: 0}",
    "fleet.phones.thermal={cooling: 0 mW, chargingLoss: 0, fair: 1 J, serious: 2 J}",
  ]

  private static let refused = [
    // 180 J above 20 %, which are gone after 30 s; the charger comes at 40 s.
    Lack(
      condition: .normalPower,
      overrides: [
        "fleet.phones.battery.initialLevel=0.205", "fleet.phones.battery.idle=6 W",
        "fleet.phones.battery.lowPowerAcceptance=1", "fleet.phones.thermal=null",
        "fleet.phones.participation.minimumBattery=null",
        "fleet.phones.power={fixed: {intervals: [{from: 40 s, to: 200 s}]}}",
      ], words: "in low-power mode"),
    Lack(condition: .cool, overrides: ["fleet.phones.battery.idle=6 W"], words: "too warm"),
    Lack(
      condition: .charging, overrides: ["fleet.phones.power={fixed: unplugged}"],
      words: "not charging"),
    Lack(
      condition: .filling, overrides: ["fleet.phones.battery.initialLevel=1"],
      words: "fully charged"),
    Lack(
      condition: .battery,
      overrides: [
        "fleet.phones.power={fixed: unplugged}", "fleet.phones.battery.initialLevel=0.1",
        "fleet.phones.participation.externalPower=false",
      ], words: "low on battery"),
    Lack(
      condition: .wifi,
      overrides: [
        "fleet.phones.link={fixed: cellular}", "fleet.phones.participation.network=wifi",
      ], words: "not on Wi-Fi"),
    Lack(
      condition: .unmetered, overrides: ["fleet.phones.link={fixed: cellular}"],
      words: "not on an unmetered link"),
    Lack(
      condition: .idle,
      overrides: ["fleet.phones.usage={fixed: {intervals: [{from: 55 s, to: 200 s}]}}"],
      words: "in use"),
    Lack(
      condition: .allowance,
      overrides: [
        "fleet.phones.link={fixed: cellular}", "fleet.phones.participation.network=any",
        "fleet.phones.participation.cellularBytesPerDay=0 B",
      ], words: "out of cellular bytes for the day"),
  ]

  private static func story(_ overrides: [String]) -> PlantedStory {
    PlantedStory(
      name: "", overrides: overrides, cause: .notEligible, causeText: "", sentence: "", ledger: [])
  }

  @Test("`explain` names the condition for which the app refused, and no other")
  func explained() throws {
    #expect(Self.refused.map(\.condition) == Condition.allCases.filter { $0.refusal != nil })
    for lack in Self.refused {
      let story = Self.story(Self.asking + lack.overrides)
      let (explanation, document) = try story.explained(in: Folder())
      #expect(
        explanation.causeText
          == "a condition of its app did not hold when it ran (\(lack.words))",
        "\(lack.condition)")
      #expect(
        explanation.text.contains(
          "when its app ran at 0 d 00:01:00, the device was \(lack.words)."), "\(explanation.text)")
      let words = try #require(document.variable("ledger/ineligibility")?.flagMeanings)
      let counts = try #require(document.integers("ledger/ineligible"))
      #expect(counts == words.map { $0 == lack.condition.refusal ? 1 : 0 }, "\(lack.condition)")
    }
    let (control, _) = try Self.story(Self.asking).explained(in: Folder())
    #expect(control.cause == .contributed)
  }

  @Test("Of several, the one that counted comes first, and an offline device is called so")
  func several() throws {
    let (both, document) = try Self.story(
      Self.asking + [
        "fleet.phones.link={fixed: cellular}", "fleet.phones.power={fixed: unplugged}",
      ]
    ).explained(in: Folder())
    #expect(both.causeText.hasSuffix("(not charging and not on an unmetered link)"))
    #expect(document.count(["ineligible", "power"]) == nil)
    #expect(document.integers("ledger/ineligible") == [0, 0, 1, 0, 0, 0])
    let (offline, _) = try Self.story(
      Self.asking + ["fleet.phones.link={fixed: offline}"]
    ).explained(in: Folder())
    #expect(offline.causeText.hasSuffix("(offline)"))
  }

  // MARK: The stall report

  /// Of the tablets nothing comes: they have no window.
  private static let alone = ["fleet.tablets.background={windows: null}"]

  private static func stall(_ overrides: [String]) throws -> String? {
    let folder = try Folder()
    let scenario = try Scenario(
      text: PlantedStory.text, file: folder("s.yaml"), overrides: alone + overrides)
    return try Run(scenario, output: folder("r.h5")).perform().standstill.first
  }

  private static let battery =
    "fleet.phones.battery={capacity: 10 Wh, initialLevel: 0.5, idle: 0 mW, lowPowerAcceptance: 0}"
  private static let system = [PlantedStory.task(), battery, "fleet.phones.background.system={}"]

  private static let stalled = [
    Lack(
      condition: .charging,
      overrides: [
        PlantedStory.task("requiresExternalPower: true"), "fleet.phones.power={fixed: unplugged}",
      ], words: "never charging"),
    Lack(
      condition: .online, overrides: [PlantedStory.task(), "fleet.phones.link={fixed: offline}"],
      words: "never online"),
    Lack(
      condition: .wifi,
      overrides: [
        "fleet.phones.participation={network: wifi}", "fleet.phones.link={fixed: cellular}",
      ], words: "never on Wi-Fi"),
    Lack(
      condition: .unmetered,
      overrides: [
        "fleet.phones.participation={network: unmetered}", "fleet.phones.link={fixed: cellular}",
      ], words: "never on an unmetered link"),
    Lack(
      condition: .idle,
      overrides: [
        PlantedStory.task(), "fleet.phones.usage={fixed: active}",
      ], words: "never idle"),
    Lack(
      condition: .window,
      overrides: [
        "fleet.phones.background.windows={fixed: {intervals: [{from: 3 h, to: 4 h}]}}"
      ], words: "never in a background window"),
    Lack(
      condition: .refreshOn,
      overrides: [
        PlantedStory.task(), "fleet.phones.background.system={backgroundRefresh: {fixed: off}}",
      ], words: "never allowed to run in the background"),
    // What the system found at the end.
    Lack(
      condition: .on,
      overrides: system + [
        "fleet.phones.power={fixed: unplugged}", "fleet.phones.battery.initialLevel=0.001",
        "fleet.phones.battery.idle=1 W",
      ], words: "the system never started a task; at the end: switched off"),
    Lack(
      condition: .energy,
      overrides: system + [
        "fleet.phones.power={fixed: unplugged}", "fleet.phones.battery.initialLevel=0.1",
      ],
      words: "the system never started a task; at the end: in low-power mode or low on charge"),
    Lack(
      condition: .cool,
      overrides: system + [
        "fleet.phones.battery.idle=6 W",
        "fleet.phones.thermal={cooling: 0 mW, fair: 1 J, serious: 2 J, critical: 1 Wh}",
      ], words: "the system never started a task; at the end: too warm"),
    Lack(
      condition: .due,
      overrides: [PlantedStory.task("earliestBegin: 3 h")],
      words: "the system never started a task; at the end: not due yet"),
    Lack(
      condition: .request,
      // Refused as it is made at the start; nobody opens the app later.
      overrides: [
        PlantedStory.task(),
        "fleet.phones.background.system={permitted: []}",
      ], words: "the system never started a task; at the end: without a request for a task"),
    Lack(
      condition: .used, overrides: system + ["fleet.phones.background.system.useLimit=1 min"],
      words: "the system never started a task; at the end: not used for too long"),
    Lack(
      condition: .notSwiped,
      overrides: system + ["inject=[{at: 0 s, device: phones/0, action: forceQuit}]"],
      words: "the system never started a task; at the end: swiped away by its user"),
    // What the app found.
    Lack(
      condition: .normalPower,
      overrides: [
        battery, "fleet.phones.battery.initialLevel=0.15",
        "fleet.phones.battery.lowPowerAcceptance=1", "fleet.phones.battery.idle=1 mW",
        "fleet.phones.power={fixed: unplugged}",
        "fleet.phones.participation={avoidsLowPower: true}",
      ], words: "the app ran and began no training; at the end: in low-power mode"),
    Lack(
      condition: .filling,
      overrides: [
        battery, "fleet.phones.battery.initialLevel=1",
        "fleet.phones.participation={chargingOnly: true}",
      ], words: "the app ran and began no training; at the end: fully charged"),
    Lack(
      condition: .battery,
      overrides: [
        battery, "fleet.phones.battery.initialLevel=0.1", "fleet.phones.power={fixed: unplugged}",
        "fleet.phones.participation={minimumBattery: 20}",
      ], words: "the app ran and began no training; at the end: low on battery"),
    Lack(
      condition: .allowance,
      overrides: [
        "fleet.phones.link={fixed: cellular}",
        "fleet.phones.participation={cellularBytesPerDay: 0 B}",
      ], words: "the app ran and began no training; at the end: out of cellular bytes for the day"),
  ]

  @Test("The stall report names what no device had")
  func stalls() throws {
    // Whose run time or tasks are used up has had a task.
    let named = Set(Self.stalled.map(\.condition)).union([.runTime, .startsLeft])
    #expect(named == Set(Condition.allCases))
    for lack in Self.stalled {
      let line = try Self.stall(lack.overrides)
      #expect(line == lack.words + ": 1 of 1 phones", "\(lack.condition)")
    }
  }
}
