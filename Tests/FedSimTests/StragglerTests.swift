import FedSim
import Learning
import Schema
import Testing

/// Rounds of five of five phones, each with four batches an epoch and four epochs.
private func rounds(share: Double, drop: Bool = false, epochs: Int? = nil) -> Played {
  var scene = Scene(
    .tiny(epochs: 4),
    fleet: [
      .group(count: 5, windows: [[0, 9_000_000, 9_005_000]]) {
        $0.outbox.capacity = 0
        $0.participation.repeats = true
        $0.participation.pause = .seconds(1)
      }
    ])
  var selector = UniformSelector.Settings()
  selector.cohort = 5
  scene.inputs.server.selector = Choice(UniformSelector.self, selector) { $0 }
  scene.inputs.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
  var stragglers = StragglerSettings()
  (stragglers.share, stragglers.drop, stragglers.epochs) = (share, drop, epochs)
  scene.inputs.server.stragglers = stragglers
  scene.inputs.stop.rounds = 3
  return scene.play()
}

extension Played {
  /// Epochs that each device did in its n-th training; 0 without one.
  fileprivate func epochs(of device: Int, training: Int) -> Int {
    let batches = tape.observed.filter { $0.device == device }.compactMap { event -> Int? in
      if case .updateCreated(_, _, let batches, _) = event.kind { batches } else { nil }
    }
    return training < batches.count ? batches[training] / 4 : 0
  }
}

@Suite("Stragglers by FedProx's rule")
struct StragglerTests {
  @Test("Of each cohort round(K·(1 − x)) do all epochs, the others those of an independent program")
  func partial() {
    let played = rounds(share: 0.5)
    #expect(played.tape.rounds.prefix(3).map(\.cohort) == [5, 5, 5])
    for round in 0..<3 {
      for device in 0..<5 {
        let given = stragglerEpochs[5 * round + device]
        #expect(played.epochs(of: device, training: round) == (given == 0 ? 4 : given))
      }
    }
  }

  @Test("Dropped stragglers train nothing, and nobody waits for them")
  func dropped() {
    let played = rounds(share: 0.5, drop: true)
    for round in 0..<3 {
      let active = (0..<5).filter { stragglerEpochs[5 * round + $0] == 0 }
      #expect(played.tape.rounds[round].cohort == active.count)
      let accepted = played.tape.observed.filter { $0.kind == .accepted(round: round + 1) }
      #expect(accepted.map(\.device).sorted() == active)
    }
    #expect(
      played.tape.observed.allSatisfy {
        if case .updateCreated(_, _, let batches, _) = $0.kind { batches == 16 } else { true }
      })
  }

  @Test("A limit of one epoch, and a share of 0 and 1")
  func limits() {
    let one = rounds(share: 1, epochs: 1)
    #expect((0..<5).allSatisfy { one.epochs(of: $0, training: 2) == 1 })
    let none = rounds(share: 0)
    #expect((0..<5).allSatisfy { none.epochs(of: $0, training: 2) == 4 })
    // Not all are left out.
    let last = rounds(share: 1, drop: true).tape.rounds
    #expect(last.prefix(3).map(\.cohort) == [1, 1, 1])
  }
}
