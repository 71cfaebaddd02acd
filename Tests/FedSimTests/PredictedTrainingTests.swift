import FedSim
import Learning
import Numerics
import Schema
import Testing

/// That trainings are predicted: that no byte depends on it is for `KnownCohortTests`.
@Suite("Trainings that are begun before their devices ask for them")
struct PredictedTrainingTests {
  private static let cohorts = [[0, 3, 5], [1, 3, 4], [0, 1, 2], [3, 4, 5]]

  /// Four rounds of three of six phones that are always there, one after the other.
  private func scene(_ selector: Choice<AnySelector>, threads: Int = 2) -> Scene {
    var scene = Scene(
      fleet: [
        .group(count: 6, windows: [[0, 2_000_000, 2_005_000]]) {
          $0.participation.repeats = true
          $0.participation.pause = .seconds(1)
        }
      ])
    scene.inputs.pool = WorkerPool(threads: threads)
    scene.inputs.server.selector = selector
    scene.inputs.server.trigger = [Choice(CohortCompleteTrigger.self) { $0 }]
    scene.inputs.stop.rounds = 4
    scene.inputs.stop.after = .seconds(2000)
    return scene
  }

  private func scripted(_ cohorts: [[Int]] = cohorts) -> Choice<AnySelector> {
    Choice(ScriptedSelector.self, .init()) { ScriptedSelector($0.settings, cohorts: cohorts) }
  }

  private func uniform() -> Choice<AnySelector> {
    var settings = UniformSelector.Settings()
    settings.cohort = 3
    return Choice(UniformSelector.self, settings) { $0 }
  }

  private func predicted(_ scene: Scene) -> PredictionCounts {
    let played = scene.play()
    #expect(played.tape.versions.count == 5, "four rounds publish")
    return played.simulation.predictionCounts
  }

  @Test("all of a scripted cohort, with the publication before it; of the first, as it forms")
  func known() {
    // Four rounds of three; before the first nothing is published but the initial model.
    #expect(predicted(scene(scripted())) == PredictionCounts(count: 12, beforehand: 9))
  }

  @Test("who is drawn from those that wait is predicted as the cohort forms, and not before")
  func drawn() {
    #expect(predicted(scene(uniform())) == PredictionCounts(count: 12, beforehand: 0))
  }

  @Test("of a cohort whose models are large, as many are predicted as fit 8 MiB")
  func large() {
    // 2·900 + 900 + 900² + 900 + 900·2 + 2 parameters are 3.26 MB: two fit. Three rounds are
    // known beforehand; as their cohorts form there is no room for more.
    var scene = scene(scripted())
    scene.inputs.fleet[0].network.wifi = .link(
      bytesPerSecond: 1_000_000, roundTrip: .milliseconds(20))
    let task = scene.inputs.task
    let network = Network.multilayerPerceptron(
      inputCount: 2, hidden: [900, 900], classCount: 2)
    let stream = StreamKey(seed: 3, purpose: "worlds").stream(slot: 0)
    scene.inputs.task = LearningTask(
      network: network, initial: network.initialParameters(stream), train: task.train,
      test: task.test, partition: task.partition, plan: task.plan)
    #expect(predicted(scene) == PredictionCounts(count: 8, beforehand: 6))
  }

  @Test("a cohort that cannot be predicted is not: there is none, or nobody could begin")
  func unforeseeable() {
    var open = scene(Choice(OpenSelector.self) { $0 })
    open.threshold(3)
    #expect(predicted(open) == PredictionCounts())
    // One thread has no other that could begin; eager computing begins with what is described.
    #expect(predicted(scene(scripted(), threads: 1)) == PredictionCounts())
    var eager = scene(scripted())
    eager.inputs.compute = .eager
    #expect(predicted(eager) == PredictionCounts())
  }

  @Test("what is predicted and comes otherwise is not taken")
  func otherwise() {
    // Device 3 trains from 16 s on and is cut off at 18 s, after two of its four batches: what
    // comes is a training of two, and later one of the others. Devices 1 and 4 train as predicted.
    var cut = scene(scripted())
    cut.inputs.stop.rounds = 2
    cut.inject(.expire, "phones/3", at: 18_000)
    cut.inject(.launch, "phones/3", at: 60_000)
    let played = cut.play()
    #expect(played.simulation.predictionCounts == PredictionCounts(count: 5, beforehand: 2))
  }
}
