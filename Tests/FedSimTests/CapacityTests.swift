import FedSim
import Schema
import Testing

extension Scene {
  /// The same phones, whose speed and rates are of a trace: a second a sample, and 1,000 bytes a
  /// second, which is what phones of scenes have.
  fileprivate func byTrace() -> Scene {
    var scene = self
    var settings = CapacitySettings()
    settings.replay.file = FileName("trace")
    settings.factor = 2
    for place in scene.inputs.fleet.indices {
      scene.inputs.fleet[place].capacity = settings
      // What the trace takes the place of.
      scene.inputs.fleet[place].compute.perBatch = .seconds(77)
    }
    scene.inputs.capacities = ["trace": [DeviceCapacity(milliseconds: 500, kilobits: 8)]]
    return scene
  }
}

@Suite("Devices whose speed is of a trace")
struct CapacityTests {
  private let sessions: [[Int64]] = [0, 100_000, 200_000].map { [$0, $0 + 60_000, $0 + 65_000] }

  private func configured(_ change: (inout ClientConfig) -> Void) -> Played {
    var scene = workers([sessions], group: { $0.protocol!.worker = nil }).byTrace()
    var config = ClientConfig()
    change(&config)
    scene.inputs.server.clientConfig = [config]
    return scene.play()
  }

  @Test("They train by the hyper-parameters of the server, in the time that these take")
  func clientConfig() {
    // The model is there at 4.340, and trained from then on. Two batches of a sample take 2 s: the
    // report is noted 10 ms on the way later, and 1.300 s long: at the server at 7.650.
    let two = configured { $0.maximumUpdates = 2 }
    #expect(two.story(of: 0, only: "arrives").first == "7650 arrives 0")
    #expect(two.version(1).samplesProcessed == 2)
    // Three passes over four samples, in batches of three and one: 12 s, 8 s more than one pass.
    let three = configured {
      $0.epochs = 3
      $0.batchSize = 3
    }
    #expect(three.story(of: 0, only: "arrives").first == "17650 arrives 0")
    #expect(three.version(1).samplesProcessed == 12)
  }

  @Test("An evaluation without a step takes its share of an epoch's time, and as coded all of it")
  func evaluation() {
    // The times of `evaluating`, whose batches of a sample take a second, too.
    let documented = evaluating(as: nil).byTrace().play()
    #expect(
      documented.story(of: 0, only: "does", "downloaded").suffix(3) == [
        "10960 does evaluationAsked", "10960 downloaded v1", "12293.336 does evaluated",
      ])
    // A task of two passes trains for 8 s, and evaluates in one: everything is 4 s later.
    let coded = evaluating(task: .tiny(epochs: 2)).byTrace().play()
    #expect(
      coded.story(of: 0, only: "does", "downloaded").suffix(3) == [
        "14960 does evaluationAsked", "14960 downloaded v1", "18960 does evaluated",
      ])
  }
}
