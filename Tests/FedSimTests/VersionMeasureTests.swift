import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("What a version is measured by")
struct VersionMeasureTests {
  @Test("Devices count with the accuracy of the version that they hold")
  func held() {
    // Device 0 publishes version 1 at 9.650, device 1 version 2 at 29.650; it holds version 1 then.
    var scene = Scene(
      fleet: [
        .group("a", windows: [[0, 15_000, 16_000]]),
        .group("b", windows: [[20_000, 35_000, 36_000]]),
        .group("c", count: 3),
      ])
    scene.threshold(1)
    scene.inputs.record.evaluateEvery.versions = 1
    let played = scene.play()
    #expect(played.tape.versions.count == 3)
    func accuracy(_ version: Int) -> Double { played.version(version).evaluation!.test.accuracy }
    #expect(played.version(0).heldAccuracy.isNaN)
    #expect(played.tape.versions.map(\.withoutVersion) == [5, 4, 3])
    #expect(played.version(1).heldAccuracy == accuracy(0))
    #expect(accuracy(1) != accuracy(0))
    #expect(abs(played.version(2).heldAccuracy - (accuracy(0) + accuracy(1)) / 2) < 1e-15)
  }

  @Test("A version that was not evaluated counts as the last evaluated one before it")
  func heldUnevaluated() {
    // The same, and version 1 is not evaluated: both devices count as holding version 0.
    var scene = Scene(
      fleet: [
        .group("a", windows: [[0, 15_000, 16_000]]),
        .group("b", windows: [[20_000, 35_000, 36_000]]),
      ])
    scene.threshold(1)
    let played = scene.play()
    #expect(played.version(1).evaluation == nil)
    let initial = played.version(0).evaluation!.test.accuracy
    #expect(played.version(2).heldAccuracy == initial)
  }

  @Test("Labels are those of the updates' samples")
  func labels() {
    // Features k·5 mod 17 − 8 make the labels 0, 1, 0, 1. Client 0 has the first three samples,
    // client 1 the fourth; both train, over two epochs, and are one version.
    var scene = Scene(
      .tiny(samples: [3, 1], epochs: 2),
      fleet: [.group(count: 2, windows: [[0, 20_000, 21_000], [100_000, 120_000, 121_000]])])
    scene.threshold(2)
    let played = scene.play()
    #expect(played.version(0).labelCounts == [0, 0])
    #expect(played.version(1).labelCounts == [2, 2])
    // The same samples again.
    #expect(played.version(2).labelCounts == [2, 2])
  }

  @Test("Labels of a part of an epoch are those of its first batches")
  func partLabels() {
    // Batch 1 is running at 4.5 s and counts. Its one sample is the first in the device's order.
    let task = LearningTask.tiny(samples: [4])
    var scene = Scene(
      task,
      fleet: [
        .group(windows: [[0, 4_500, 9_000]]) { $0.interruption.onExpiry = .submitPartial }
      ])
    scene.threshold(1)
    let played = scene.play()
    let order = BatchOrder.keyed(
      StreamKey(seed: 1, purpose: "batches", group: "phones", ordinal: 0), firstSlot: 0)
    let first = Int(order.positions(epoch: 0, shardCount: 4)[0])
    #expect(played.version(1).samples == 1)
    #expect(played.version(1).labelCounts == (first % 2 == 0 ? [1, 0] : [0, 1]))
  }

  @Test("Labels can be left out, and are where there are more than a hundred")
  func withoutLabels() {
    var scene = Scene(fleet: [.group(windows: [[0, 20_000, 21_000]])])
    scene.inputs.record.labelShare = false
    #expect(scene.play().version(0).labelCounts == [])
  }

  @Test("Norms of tensors, and of their steps")
  func norms() {
    // The weight 3, 0, 0, 4 is 5 long, the bias −2, 0 is 2 long.
    var scene = Scene(
      .tiny(initial: [3, 0, 0, 4, -2, 0]), fleet: [.group(windows: [[0, 20_000, 21_000]])])
    scene.threshold(1)
    scene.inputs.record.layerNorms = true
    let played = scene.play()
    #expect(played.version(0).norms.map(\.norm) == [5, 2])
    #expect(played.version(0).norms.allSatisfy { $0.step.isNaN })
    for (place, range) in [0..<4, 4..<6].enumerated() {
      var (norm, step) = (0.0, 0.0)
      for index in range {
        let (new, old) = (Double(played.model(1)[index]), Double(played.model(0)[index]))
        norm += new * new
        step += (new - old) * (new - old)
      }
      let found = played.version(1).norms[place]
      #expect(abs(found.norm - norm.squareRoot()) < 1e-12)
      #expect(abs(found.step - step.squareRoot()) < 1e-12)
      #expect(found.step > 0)
    }
  }

  @Test("Updates are counted by the versions that they are behind")
  func staleness() {
    // Three devices hold version 0 from the start of one window on. Each update is a version: at
    // 9.650, then the two that took part at once with the first, in device order, 1 and 2 behind.
    var scene = Scene(fleet: [.group(count: 3, windows: [[0, 20_000, 21_000]])])
    scene.threshold(1)
    scene.inputs.fleet[0].participation.retrain = .newVersions
    #expect(Array(scene.play().simulation.books.staleness) == [1, 1, 1])
  }
}
