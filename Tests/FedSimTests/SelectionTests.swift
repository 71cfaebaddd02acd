import FedSim
import Learning
import Numerics
import Schema
import Testing

/// A server in an open round without a cohort, at some second.
private func view(
  round: Int = 1, at seconds: Int64 = 0, openedAt: Int64 = 0, known: [DeviceFacts] = []
) -> ServerView {
  ServerView(
    now: .start + .seconds(seconds), version: 0, round: round, pending: 0, cohortGoal: nil,
    cohortSize: 0, roundOpenedAt: .start + .seconds(openedAt), known: known)
}

private func facts(_ change: (inout DeviceFacts) -> Void) -> DeviceFacts {
  var facts = DeviceFacts()
  facts.checkIns = 1
  change(&facts)
  return facts
}

/// The devices chosen out of some that wait, in the order of the fleet.
private func chosen<S: CohortSelector>(
  by selector: S, of waiting: [Int], _ view: ServerView, _ memory: inout S.Memory,
  seed: UInt64 = 1
) -> [Int]? {
  var stream = StreamKey(seed: seed, purpose: "selection").stream(slot: UInt64(view.round))
  return selector.chooseCohort(
    from: waiting.map { CheckIn(device: $0, heldVersion: -1) }, view, &stream, &memory
  ).map { $0.members.map { waiting[$0] }.sorted() }
}

@Suite("Selection")
struct SelectionTests {
  @Test("weighted draws have the chances that all orders together give", arguments: [1, 2, 3])
  func chances(count: Int) {
    let expected = drawnChances[count - 1].values
    let draws = 20_000
    var hits = [Int](repeating: 0, count: drawnWeights.count)
    for slot in 0..<draws {
      var stream = StreamKey(seed: 5, purpose: "selection").stream(slot: UInt64(slot))
      for place in stream.sample(count, weights: drawnWeights) { hits[place] += 1 }
    }
    for (place, chance) in expected.enumerated() {
      // Four standard deviations of a share of 20,000.
      let bound = 4 * (chance * (1 - chance) / Double(draws)).squareRoot()
      let share = Double(hits[place]) / Double(draws)
      #expect(abs(share - chance) <= bound, "place \(place) of \(count): \(share), \(chance)")
    }
  }

  @Test("over-selection rounds up to whole members", arguments: [(10, 1.34, 14), (3, 1.1, 4)])
  func overSelection(cohort: Int, factor: Double, members: Int) {
    // 13.4 and 3.3.
    let selector = make(UniformSelector.self) { ($0.cohort, $0.overSelection) = (cohort, factor) }
    var memory = selector.makeMemory()
    #expect(chosen(by: selector, of: Array(0..<members - 1), view(), &memory) == nil)
    #expect(chosen(by: selector, of: Array(0..<members), view(), &memory)?.count == members)
  }

  @Test("a weighted draw takes one number a place, and places without weight at the end only")
  func draws() {
    var a = StreamKey(seed: 9, purpose: "selection").stream(slot: 0)
    var b = a
    let order = a.sample(5, weights: [0, 2, 0, 1, 4])
    for _ in 0..<5 { _ = b.uniformAboveZero() }
    #expect(a.uniform() == b.uniform())
    #expect(Set(order.prefix(3)) == [1, 3, 4] && Set(order.suffix(2)) == [0, 2])
    #expect(a.sample(3, weights: []) == [])
  }

  @Test("by samples: who has none is not chosen while others wait, and too few are waited for")
  func weighted() {
    let selector = make(WeightedSelector.self) { $0.cohort = 3 }
    let known = [0, 4, 0, 9, 1].map { samples in facts { $0.samples = samples } }
    var memory = selector.makeMemory()
    for seed in 1...20 {
      #expect(
        chosen(by: selector, of: [0, 1, 2, 3, 4], view(known: known), &memory, seed: UInt64(seed))
          == [1, 3, 4])
    }
    #expect(chosen(by: selector, of: [1, 3], view(known: known), &memory) == nil)
    #expect(selector.needs == .facts && selector.rules.neededWaiting == 3)
  }

  @Test("turns: behind the last one, around the end, and past those that do not wait")
  func turns() {
    let selector = make(RoundRobinSelector.self) { $0.cohort = 2 }
    var memory = selector.makeMemory()
    let all = [0, 1, 2, 3, 4]
    #expect(chosen(by: selector, of: all, view(), &memory) == [0, 1])
    #expect(chosen(by: selector, of: all, view(round: 2), &memory) == [2, 3])
    #expect(chosen(by: selector, of: all, view(round: 3), &memory) == [0, 4])
    // After 0 comes 1, which is not there, then 2 and 4.
    #expect(chosen(by: selector, of: [0, 2, 4], view(round: 4), &memory) == [2, 4])
    #expect(chosen(by: selector, of: [3], view(round: 5), &memory) == nil)
    #expect(chosen(by: selector, of: [1, 3], view(round: 5), &memory) == [1, 3])
  }

  @Test("an interval passes over those of the rounds before, and of the time before")
  func interval() {
    let every = Choice<AnySelector>(RoundRobinSelector.self) { $0 }
    let two = make(MinimumIntervalSelector.self) {
      $0.rounds = 2
      var inner = RoundRobinSelector.Settings()
      inner.cohort = 2
      $0.of = Choice(RoundRobinSelector.self, inner) { $0 }
    }
    let known = (0..<5).map { device in
      facts {
        guard device < 2 else { return }
        $0.lastRound = 1 + device  // Device 0 in round 1, device 1 in round 2.
        $0.chosenAt = .start + .seconds(Int64(100 * device))
      }
    }
    var memory = two.makeMemory()
    let all = [0, 1, 2, 3, 4]
    // In round 3 device 1 rests; turns continue where they were: 0 2, then 3 4.
    #expect(chosen(by: two, of: all, view(round: 3, known: known), &memory) == [0, 2])
    #expect(chosen(by: two, of: all, view(round: 3, known: known), &memory) == [3, 4])
    #expect(chosen(by: two, of: [0, 1], view(round: 3, known: known), &memory) == nil)
    #expect(two.rules.neededWaiting == 2 && two.rules.neededDevices == 4)
    #expect(two.erased.formsCohorts)
    // A device that is chosen again at once is turned away: 300 s have not passed since 100 s.
    let slow = make(MinimumIntervalSelector.self) {
      ($0.rounds, $0.time) = (1, .seconds(300))
      $0.of = Choice(OpenSelector.self) { $0 }
    }
    let late = CheckIn(device: 1, heldVersion: -1)
    #expect(slow.admit(late, view(round: 3, at: 399, known: known)) == .reject)
    #expect(slow.admit(late, view(round: 3, at: 400, known: known)) == .accept)
    #expect(slow.admit(CheckIn(device: 2, heldVersion: -1), view(known: known)) == .accept)
    #expect(!slow.erased.formsCohorts && every.value.rules?.neededDevices == 10)
  }

  @Test("what cannot be said of an interval, or of candidates")
  func contradictions() {
    var interval = MinimumIntervalSelector.Settings()
    #expect(interval.contradictions().isEmpty)
    interval.rounds = 1
    #expect(interval.contradictions().first?.key == "rounds")
    interval.time = .hours(1)
    #expect(interval.contradictions().isEmpty)
    for of in [
      Choice<AnySelector>(CycleSelector.self) { $0 },
      Choice<AnySelector>(ScriptedSelector.self) { $0 },
      Choice<AnySelector>(MinimumIntervalSelector.self) { $0 },
    ] {
      interval.of = of
      #expect(interval.contradictions().first?.key == "of", "\(of.name)")
    }
    var power = PowerOfChoiceSelector.Settings()
    #expect(power.contradictions().isEmpty)
    power.overSelection = 2.1
    #expect(power.contradictions().first?.message.contains("13 members") == true)
  }

  @Test("of all candidates the highest losses train, before them those that reported none")
  func powerOfChoice() {
    let selector = make(PowerOfChoiceSelector.self) { ($0.cohort, $0.candidates) = (3, 5) }
    let known = [0.5, 2, nil, 1, 3].map { loss in
      facts { ($0.samples, $0.loss) = (4, loss) }
    }
    var memory = selector.makeMemory()
    let all = [0, 1, 2, 3, 4]
    #expect(chosen(by: selector, of: all, view(known: known), &memory) == [1, 2, 4])
    #expect(chosen(by: selector, of: [0, 1, 2], view(known: known), &memory) == nil)
    // Fewer candidates than wait: device 3 has all samples but 4, so it is one of two.
    let two = make(PowerOfChoiceSelector.self) { ($0.cohort, $0.candidates) = (1, 2) }
    let uneven = known.enumerated().map { place, one in
      var one = one
      one.samples = place == 3 ? 1_000_000_000 : 1
      return one
    }
    var found = [Int](repeating: 0, count: 5)
    for seed in 1...60 {
      found[
        chosen(by: two, of: all, view(known: uneven), &memory, seed: UInt64(seed))![0]] += 1
    }
    // Device 3 meets each of the others in a quarter of the draws, and loses to all but device 0.
    #expect(found[0] == 0 && found.allSatisfy { $0 < 30 } && found[1...].allSatisfy { $0 > 4 })
  }
}

@Suite("Oort")
struct OortTests {
  private static let known = oortSamples.indices.map { place in
    facts {
      let (one, other) = (oortLosses[2 * place], oortLosses[2 * place + 1])
      $0.samples = oortSamples[place]
      $0.loss = (one + other) / 2
      $0.rootMeanSquareLoss = ((one * one + other * other) / 2).squareRoot()
      $0.duration = .seconds(oortDurations[place])
      $0.lossRound = oortRounds[place]
      $0.timesAggregated = 1 + place % 3
    }
  }

  @Test("scores are those of the authors' program", arguments: 0..<4)
  func scores(index: Int) {
    var settings = OortSelector.Settings()
    var (round, duration) = (7, Double?.none)
    switch index {
    case 1: settings.clip = 0.5
    // Of the durations in order the fourth is 58 s, the tenth 130 s.
    case 2: (round, duration) = (20, 58)
    case 3:
      (round, duration) = (20, 130)
      settings.penalty = 0.5
    default: break
    }
    let found = OortSelector.scores(Self.known, round: round, duration: duration, settings)
    let expected = oortScores[index].values
    #expect(found.count == expected.count)
    for (a, b) in zip(found, expected) {
      #expect(abs(a - b) < 1e-10, "\(oortScores[index].name): \(found)")
    }
  }

  @Test("without exploration and with a hard cut the best by score train")
  func exploits() {
    let selector = make(OortSelector.self) {
      ($0.cohort, $0.overSelection, $0.cutOff, $0.pace) = (4, 1, 1, 1)
    }
    var memory = selector.makeMemory()
    let all = Array(0..<12)
    // Round 7 of the fixture: devices 11, 2, 5 and 7 have the highest scores.
    #expect(
      chosen(by: selector, of: all, view(round: 7, known: Self.known), &memory) == [2, 5, 7, 11])
    // Nobody is unknown, so nothing is explored, whatever ε is.
    #expect(memory.exploration == 0.9 * 0.98)
  }

  @Test("unknown devices get their share, which falls from round to round and has an end")
  func explores() {
    let selector = make(OortSelector.self) {
      ($0.cohort, $0.overSelection, $0.minimumWaiting) = (10, 1, 10)
      ($0.exploration, $0.explorationDecay, $0.explorationMinimum) = (1, 0.5, 0.25)
    }
    // Twelve that have reported, twelve that have not.
    let known = Self.known + (0..<12).map { _ in facts { $0.samples = 5 } }
    var memory = selector.makeMemory()
    // ε is 1/2, then 1/4: of ten ⌊10·(1 − ε)⌋ = 5 and 7 are exploited.
    for (round, exploited) in [(7, 5), (8, 7), (9, 7)] {
      let members = chosen(
        by: selector, of: Array(0..<24), view(round: round, known: known), &memory)!
      #expect(members.count == 10)
      #expect(members.count { $0 < 12 } == exploited, "round \(round)")
    }
    // Where only two unknown ones wait, the others are known.
    let few = chosen(
      by: selector, of: Array(0..<14), view(round: 11, known: known), &memory)!
    #expect(few.count == 10 && few.contains(12) && few.contains(13))
  }

  @Test("who was in too many versions is chosen no more, up to a share of all")
  func excludes() {
    let selector = make(OortSelector.self) {
      ($0.cohort, $0.overSelection, $0.mostUpdates, $0.mostExcluded) = (8, 1, 2, 0.3)
    }
    var memory = selector.makeMemory()
    // Devices 2, 5, 8 and 11 were in three versions; ⌊0.3·12⌋ = 3 of them are left out.
    let members = chosen(
      by: selector, of: Array(0..<12), view(round: 7, known: Self.known), &memory)!
    #expect(!members.contains(2) && !members.contains(5) && !members.contains(8))
    // Of these nine six are left, and eight are needed.
    #expect(
      chosen(
        by: selector, of: [0, 1, 2, 3, 4, 5, 6, 7, 8], view(round: 8, known: Self.known), &memory)
        == nil)
  }

  @Test("where utilities fall from one window to the next slower devices are taken")
  func pacer() {
    let selector = make(OortSelector.self) {
      ($0.cohort, $0.overSelection, $0.cutOff) = (2, 1, 1)
      ($0.pace, $0.paceStep, $0.paceWindow) = (0.3, 0.1, 2)
    }
    var memory = selector.makeMemory()
    var paces: [Double] = []
    // The two devices exploited in a round report in it a loss of 4, 4, 1, 1, 1, 1, 3, 3: the mean
    // utility of 10 samples each is 40, 40, 10, 10, 10, 10, 30, 30.
    let losses = [4.0, 4, 1, 1, 1, 1, 3, 3, 3]
    var known = [facts { $0.samples = 10 }, facts { $0.samples = 10 }]
    for place in known.indices { (known[place].loss, known[place].lossRound) = (1, 0) }
    for (index, loss) in losses.enumerated() {
      let round = index + 1
      #expect(
        chosen(by: selector, of: [0, 1], view(round: round, known: known), &memory) == [0, 1])
      paces.append(memory.pace)
      for place in known.indices { (known[place].loss, known[place].lossRound) = (loss, round) }
    }
    // Looked at before cohorts 5, 7 and 9: 80 > 20, 20 = 20, 20 < 60.
    #expect(paces == [0.3, 0.3, 0.3, 0.3, 0.4, 0.4, 0.4, 0.4, 0.4])
  }
}

@Suite("REFL")
struct AvailabilityTests {
  private let day: Int64 = 86_400
  private let hour: Int64 = 3_600

  @Test("the least seen in the coming hours come first, those that were chosen last")
  func ranks() {
    let selector = make(AvailabilitySelector.self) { ($0.cohort, $0.rest) = (2, 3) }
    var memory = selector.makeMemory()
    // Device d asks at 11 h on d days; the mean duration is an hour until a round is over, so at 10
    // h the stretch from 11 h to 12 h counts.
    for device in 0..<5 {
      for date in 0..<Int64(device) {
        let now = view(at: date * day + 11 * hour)
        _ = selector.receive(CheckIn(device: device, heldVersion: -1), now, &memory)
        // Again in the same hour counts once.
        _ = selector.receive(CheckIn(device: device, heldVersion: -1), now, &memory)
      }
    }
    let before = memory
    let all = [0, 1, 2, 3, 4]
    #expect(chosen(by: selector, of: all, view(at: 5 * day + 10 * hour), &memory) == [0, 1])
    // At 20 h nobody was seen from 21 h on, and chance decides.
    var found: [[Int]] = []
    for seed in 1...20 {
      var memory = before
      found.append(
        chosen(
          by: selector, of: all, view(at: 5 * day + 20 * hour), &memory, seed: UInt64(seed))!)
    }
    #expect(found.contains { $0 != found[0] })
    // Devices 0 and 1 were chosen for round 1: they rest in rounds 2 to 4.
    let known = all.map { device in facts { $0.lastRound = device < 2 ? 1 : 0 } }
    for (round, expected) in [(4, [2, 3]), (5, [0, 1])] {
      var memory = before
      #expect(
        chosen(
          by: selector, of: all, view(round: round, at: 5 * day + 10 * hour, known: known),
          &memory) == expected, "round \(round)")
    }
    #expect(selector.rules.acceptsLate && selector.needs == .facts)
    #expect(!make(AvailabilitySelector.self) { $0.late = false }.rules.acceptsLate)
  }

  @Test("how far it looks ahead follows how long rounds last")
  func horizon() {
    let selector = make(AvailabilitySelector.self) { ($0.cohort, $0.rest) = (1, 0) }
    var memory = selector.makeMemory()
    // Device 0 was seen at 3 h, device 1 at 5 h.
    for (device, at) in [(0, 3), (1, 5)] {
      _ = selector.receive(
        CheckIn(device: device, heldVersion: -1), view(at: Int64(at) * hour), &memory)
    }
    // A first cohort is formed at 24 h with device 2, and its round is over 2 h later.
    #expect(chosen(by: selector, of: [2], view(at: 24 * hour), &memory) == [2])
    // At 26 h μ is 2 h: from 28 h to 30 h touches the hours 4 to 6 of the day, in which device 0
    // was not seen.
    #expect(
      chosen(
        by: selector, of: [0, 1], view(round: 2, at: 26 * hour, openedAt: 26 * hour), &memory)
        == [0])
    // That round lasts 1 h: μ = 0.75·1 + 0.25·2 = 1.25 h. At 49.5 h the stretch from 50.75 h to 52
    // h touches the hours 2 to 4: device 0 was seen in 2 and 3, device 1 in 2.
    #expect(
      chosen(
        by: selector, of: [0, 1],
        view(round: 3, at: 49 * hour + 1800, openedAt: 27 * hour), &memory) == [1])
    #expect(memory.mean == .minutes(75))
  }
}
