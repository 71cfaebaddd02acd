import FedSim
import FedSimTesting
import Learning
import Testing

/// Each part breaks something, and the checks say what, with numbers.
@Suite("Broken parts are found out")
struct PlantedPartTests {
  /// The message about one promise; empty where nothing was found.
  private func message(_ check: Check, _ findings: [Finding]) -> String {
    findings.first { $0.check == check }?.message ?? ""
  }

  private let conformance = Conformance()

  @Test("an aggregator that adds in Float, so that its sum depends on the order of its terms")
  func floatSum() {
    // A fifth of 2e8 is 4e7, whose neighbours in Float are 4 apart. In device order 4e7 + 0.2 − 4e7
    // + 0.2 + 0.05 is 0 + 0.25; backwards 0.05 + 0.2 − 4e7 + 0.2 + 4e7 is 0.
    let findings = conformance.findings(of: Planted.FloatSum.self)
    #expect(
      message(.order, findings)
        == "parameter 0 is 0.25 with the terms in one order and 0.0 in another: a sum in `Float`; "
        + "add in `Double`, or by `weightedSum`")
    #expect(findings.map(\.check) == [.order], "\(findings)")
  }

  @Test("an aggregator that adds in the order of the updates' places in memory")
  func addressOrder() {
    let findings = conformance.findings(of: Planted.AddressOrder.self)
    let found = message(.storage, findings)
    #expect(found.hasSuffix("where the same updates are elsewhere in memory"), "\(findings)")
  }

  @Test("an aggregator that divides by a sum of staleness, which is zero when all is fresh")
  func zeroStaleness() {
    let findings = conformance.findings(of: Planted.OnlyStale.self)
    #expect(
      message(.zeroWeight, findings).hasSuffix(
        "is nan (no update is stale: samples [4, 7, 1, 9, 4], staleness [0, 0, 0, 0, 0])"),
      "\(findings)")
  }

  @Test("an aggregator that divides by the samples of an update that has none")
  func zeroSamples() {
    let findings = conformance.findings(of: Planted.InverseSamples.self)
    #expect(
      message(.zeroWeight, findings) == "a weight is nan (an update of 0 samples among others)",
      "\(findings)")
    #expect(findings.map(\.check) == [.zeroWeight])
  }

  @Test("an aggregator that keeps what no memory holds")
  func hiddenState() {
    let findings = conformance.findings(of: Planted.HiddenState.self)
    let found = message(.memory, findings)
    #expect(found.hasSuffix("state outside of its memory is not saved"), "\(findings)")
    // In a run it shows from version 2 on, after the first of five stops.
    let saved = message(.saved, findings)
    #expect(saved.contains(" where the run was saved and restored after ["), "\(findings)")
    #expect(message(.repeats, findings).hasPrefix("the same calls gave "), "\(findings)")
  }

  @Test("an aggregator that counts an update twice")
  func countsTwice() {
    // Five updates, the first with 2 of 6 shares.
    #expect(
      message(.symmetry, conformance.findings(of: Planted.CountsTwice.self))
        == "updates with equal samples and staleness have different weights: one more in each "
        + "update moves the result by 0.333, 0.167, 0.167, 0.167, 0.167")
  }

  @Test("what a part does on purpose can be left out")
  func skipping() {
    #expect(Conformance(skipping: [.symmetry]).findings(of: Planted.CountsTwice.self) == [])
    // What cannot be combined is not played, whether that is reported or not.
    #expect(Conformance(skipping: [.shape]).findings(of: Planted.ShortWeights.self) == [])
  }

  @Test("an aggregator with a weight too few, or with others than it says")
  func weights() {
    #expect(
      conformance.findings(of: Planted.ShortWeights.self).map(\.description)
        == ["short-weights, shape: it has 4 weights for 5 updates (5 updates)"])
    let found = message(.weights, conformance.findings(of: Planted.OtherWeights.self))
    #expect(found.hasSuffix("by the weights that `weights(of:)` returns beforehand (5 updates)"))
  }

  @Test("an optimizer that divides by the length of a step that is zero")
  func zeroStep() {
    let found = message(.finite, conformance.findings(of: Planted.NormStep.self))
    #expect(found == "parameter 0 is nan (all values 0, payload weights)")
  }

  @Test("a transform that depends on how many updates came before")
  func countingTransform() {
    let findings = conformance.findings(of: Planted.CountingNoise.self)
    #expect(message(.repeats, findings).hasPrefix("the same calls gave "), "\(findings)")
    #expect(message(.memory, findings).hasPrefix("it gave "), "\(findings)")
  }
}

@Suite("Broken triggers and selectors are found out")
struct PlantedRoundTests {
  /// The message about one promise; empty where nothing was found.
  private func message(_ check: Check, _ findings: [Finding]) -> String {
    findings.first { $0.check == check }?.message ?? ""
  }

  private func lines<P: AggregationTrigger>(_ type: P.Type) -> [String] {
    Conformance().findings(of: type).map(\.description)
  }
  private func lines<P: ClientSelector>(_ type: P.Type) -> [String] {
    Conformance().findings(of: type).map(\.description)
  }

  @Test("a trigger that never ends a round")
  func neverEnds() throws {
    let lines = lines(Planted.NeverEnds.self)
    #expect(lines.count == 1)
    let line = try #require(lines.first)
    #expect(line.hasPrefix("never-ends, progress: in 12 h "))
    #expect(line.hasSuffix(" updates arrived and no round ended"))
  }

  @Test("a trigger that ends rounds and makes no version")
  func alwaysSkips() throws {
    let line = try #require(lines(Planted.AlwaysSkips.self).first)
    #expect(line.hasPrefix("always-skips, progress: "))
    #expect(line.hasSuffix(" updates that arrived, and none with a version"))
  }

  @Test("a trigger whose timer lets no virtual time pass")
  func standsStill() {
    #expect(
      lines(Planted.StandsStill.self)
        == ["stands-still, timer: its timer fires after 0 s: virtual time would not advance"])
    // Nearly all of 300,000 events are rings, each a microsecond after the one before.
    let lines = lines(Planted.RingsAllTheTime.self)
    #expect(lines.count == 1)
    let start =
      "rings-all-the-time, progress: after 300000 events the run is still at 0 d 00:00:00.29"
    #expect(lines.first?.hasPrefix(start) == true, "\(lines)")
  }

  @Test("a trigger that counts where no memory holds it")
  func hiddenCount() {
    let findings = Conformance().findings(of: Planted.HiddenCount.self)
    #expect(findings.map(\.check).contains(.memory), "\(findings)")
    #expect(findings.map(\.check).contains(.saved), "\(findings)")
  }

  @Test("a memory whose coding leaves out what counts, or the parts that it is made of")
  func forgottenMemory() throws {
    let leaky = Conformance().findings(of: Planted.LeakyMemory.self)
    // At the fourth arrival it aggregates; a count that is not saved never reaches four.
    #expect(
      leaky.map(\.description) == [
        "leaky-memory, restored: it gave aggregate, and wait where its memory was encoded and "
          + "decoded before (step 4, value 0): the memory's `Codable` leaves out state"
      ])
    let lonely = Conformance().findings(of: Planted.LonelyWrapper.self)
    #expect(lonely.map(\.check) == [.restored], "\(lonely)")
    #expect(message(.restored, lonely).contains("one memory too many"), "\(lonely)")
  }

  @Test("a memory that is no value: what its copies refer to is shared")
  func sharedMemory() {
    let findings = Conformance().findings(of: Planted.SharedMemory.self)
    #expect(
      message(.memory, findings)
        == "it gave wait, and aggregate where a copy of its memory had been used before "
        + "(step 2, value 0): the memory is not a value: copies share state",
      "\(findings)")
  }

  @Test("a selector that counts a device twice, or wants too many updates")
  func cohorts() {
    #expect(
      lines(Planted.ChoosesTwice.self)
        == ["chooses-twice, cohort: it chose place 0 of 7 twice: the update would count twice"])
    #expect(
      lines(Planted.WantsTooMany.self)
        == ["wants-too-many, cohort: it wants 4 updates of 3 members: no round would end"])
  }

  @Test("a selector that is wrong about when it is closed")
  func closed() {
    #expect(
      lines(Planted.ClosedTooLong.self) == [
        "closed-too-long, closed: it says that it is closed until 0 d 00:01:30, and its answer at"
          + " 0 d 00:01:29.999999 is accept"
      ])
    #expect(
      lines(Planted.CountsRequests.self) == [
        "counts-requests, closed: it says that it is closed until 0 d 00:00:01, and remembers"
          + " something new of a request at 0 d 00:00:00: requests that are booked without it"
          + " would be missed"
      ])
  }
}
