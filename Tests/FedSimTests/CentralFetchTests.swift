import FedSim
import Learning
import Schema
import Testing

@Suite("Models of a central training on devices")
struct CentralFetchTests {
  private func scene(
    _ task: LearningTask = .tiny(), windows: [[Int64]], every: SimDuration = .seconds(10),
    compile: SimDuration = .seconds(2), count: Int = 1,
    _ change: (inout CollectionSettings) -> Void = { _ in }
  ) -> Scene {
    var scene = Scene(
      task,
      fleet: [
        .collectors("a", count: count, windows: windows) {
          $0.fetch = FetchSettings()
          $0.fetch!.every = every
          $0.fetch!.compile = compile
          change(&$0)
        }
      ])
    scene.central(every: 20_000)
    scene.inputs.stop.after = .seconds(90)
    return scene
  }

  @Test("placeholder, download, compilation, in use")
  func stages() {
    // After the file, at 3.020, it asks and hears at 5.040 that there is none: 1 s each way.
    // Version 1 of 21.000 is fetched from 30.000 on: 1 s for the request, 20 ms, 1.3 s for 1,000
    // bytes and six parameters of 50.
    let played = scene(windows: [[0, 15_000, 16_000], [30_000, 45_000, 46_000]]).play()
    #expect(
      played.story(of: 0, only: "ends", "uses") == [
        "5040 ends completed", "34320 uses m0 v1", "34320 ends completed",
      ])
    #expect(played.simulation.deviceRecords.collector(0)?.inUse == [1])
    #expect(played.simulation.collection.tallies.fetches == 1)
    let version = played.simulation.collection.versions[0]
    #expect(version.adoptions == 1 && version.adoptionTime == .milliseconds(13_320))
    // As versions 1, 2 and 3 are published at 21, 41, 61 s, it has the placeholder, 1 and 1.
    #expect(played.simulation.collection.versions.prefix(3).map(\.meanLag) == [1, 1, 2])
    let accuracies = played.simulation.collection.versions.map(\.heldAccuracy)
    #expect(accuracies[0].isNaN)
    #expect(accuracies[1] == version.evaluation?.accuracy)
    #expect(accuracies[2] == version.evaluation?.accuracy)
    let placeholder = scene(windows: [[0, 15_000, 16_000]]).play()
    #expect(placeholder.simulation.deviceRecords.collector(0)?.inUse == [-1])
  }

  @Test("a compilation of no time; one that the session does not outlast is not in use")
  func compilation() {
    func story(_ compile: SimDuration, until: Int64 = 45_000) -> [String] {
      scene(windows: [[0, 15_000, 16_000], [30_000, until, until + 500]], compile: compile).play()
        .story(of: 0, only: "uses")
    }
    #expect(story(.zero) == ["32320 uses m0 v1"])
    #expect(story(.seconds(2), until: 34_000) == [])
    // The timer of the session comes after its deadline at the same time.
    #expect(story(.milliseconds(1_680), until: 34_000) == [])
    #expect(story(.milliseconds(1_679), until: 34_000) == ["33999 uses m0 v1"])
  }

  @Test("a model is fetched again only after a while, the same version or not")
  func again() {
    func uses(_ every: SimDuration) -> [String] {
      scene(
        windows: [[0, 15_000, 16_000], [22_000, 29_000, 30_000], [32_000, 39_000, 39_500]],
        every: every
      ).play().story(of: 0, only: "uses")
    }
    // The first came at 24.320.
    #expect(uses(.seconds(7)) == ["26320 uses m0 v1", "36320 uses m0 v1"])
    #expect(uses(.seconds(8)) == ["26320 uses m0 v1"])
  }

  @Test("two models are fetched one after the other; only those that are named")
  func several() {
    let task = LearningTask.tiny().with(models: "x", "y")
    let windows: [[Int64]] = [[0, 15_000, 16_000], [30_000, 45_000, 46_000]]
    let both = scene(task, windows: windows) { $0.objects = .shared }.play()
    #expect(
      both.story(of: 0, only: "uses") == ["34320 uses m0 v1", "38640 uses m1 v1"])
    let one = scene(task, windows: windows) {
      $0.objects = .shared
      $0.models = ["y"]
    }.play()
    #expect(one.story(of: 0, only: "uses") == ["34320 uses m1 v1"])
    #expect(one.simulation.deviceRecords.collector(0)?.inUse == [-2, 1])
  }

  @Test("a user's own model is for that user; another user's is not there")
  func own() {
    func uses(_ userID: CollectionSettings.UserID) -> [String] {
      var scene = self.scene(windows: [[0, 15_000, 16_000], [30_000, 45_000, 46_000]]) {
        $0.userID = userID
      }
      var model = CentralSettings.Model()
      model.name = "model"
      model.scope = .user
      scene.inputs.server.central!.models = [model]
      // No samples are left after it.
      scene.inject(.reinstall, "a/0", at: 25_000)
      return scene.play().story(of: 0, only: "uses")
    }
    // The app is opened at 25.000 and asks at once.
    #expect(uses(.keychain) == ["29320 uses m0 v1"])
    #expect(uses(.userDefaults) == [])
  }

  @Test("a fetch that the link's loss ends is tried in the next session")
  func lost() {
    var scene = self.scene(
      windows: [[0, 15_000, 16_000], [30_000, 45_000, 46_000], [50_000, 65_000, 66_000]])
    scene.inject(.dropLink, "a/0", at: 31_500, lasting: .seconds(5))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "no model", "uses") == ["31500 no model m0", "54320 uses m0 v2"])
    #expect(played.simulation.collection.tallies.failedFetches == 1)
  }
}
