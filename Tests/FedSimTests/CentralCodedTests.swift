import FedSim
import Learning
import Schema
import Testing

@Suite("SwiftyForesight as it is written")
struct CentralCodedTests {
  private func scene(
    windows: [[Int64]] = [
      [0, 15_000, 16_000], [30_000, 45_000, 46_000], [60_000, 75_000, 76_000],
    ], count: Int = 1, mode: CollectionSettings.Mode = .asCoded,
    _ change: (inout CollectionSettings) -> Void = { _ in }
  ) -> Scene {
    Scene(
      fleet: [
        .collectors("a", count: count, windows: windows) {
          $0.mode = mode
          change(&$0)
        }
      ])
  }

  @Test("files are called <userID>_<yyyyMMddHHmmss>_data.csv")
  func names() {
    var scene = self.scene(windows: [[3_000, 15_000, 16_000]])
    scene.inputs.civilStart = CivilTime("2018-09-29T07:33:28Z")!.secondsSince1970
    #expect(scene.play().simulation.serverRecord.storedFiles == ["a-0_20180929073331_data.csv"])
    scene.inputs.fleet[0].collection!.mode = .asDocumented
    #expect(scene.play().simulation.serverRecord.storedFiles == ["a-0_20180929073331.csv"])
  }

  @Test("the list is emptied before results are known: what fails again is forgotten, and stays")
  func forgotten() {
    func played(_ mode: CollectionSettings.Mode) -> Played {
      var scene = self.scene(mode: mode)
      scene.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(20))
      scene.inject(.dropLink, "a/0", at: 31_000, lasting: .seconds(20))
      return scene.play()
    }
    let coded = played(.asCoded)
    #expect(
      coded.story(of: 0, only: "misses", "retries", "stored", "file") == [
        "1000 misses f0 linkLost", "30000 retries 1", "31000 misses f0 linkLost",
        "31000 file f0 forgotten",
      ])
    let record = coded.simulation.deviceRecords.collector(0)!
    #expect(record.keptFiles == 1 && record.keptBytes == 1000 && record.logged == 0)
    #expect(played(.asDocumented).fileEnds == ["unread 1"])
    // A retry that succeeds is as good as any.
    var scene = self.scene()
    scene.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(20))
    #expect(scene.play().fileEnds == ["unread 1"])
  }

  @Test("a retry without a link forgets all that it would send, and no clearing frees the disk")
  func offlineRetry() {
    func played(_ mode: CollectionSettings.Mode) -> Played {
      var scene = self.scene(mode: mode)
      scene.inputs.fleet[0].link = .states("offline", in: [0...50_000], otherwise: "wifi")
      scene.inject(.clearErrorLogs, "a/0", at: 55_000)
      return scene.play()
    }
    #expect(played(.asCoded).fileEnds == ["forgotten 1"])
    #expect(played(.asCoded).simulation.deviceRecords.collector(0)?.keptBytes == 1000)
    #expect(played(.asDocumented).fileEnds == ["cleared 1"])
    #expect(played(.asDocumented).simulation.deviceRecords.collector(0)?.keptBytes == 0)
  }

  @Test("a session that ends forgets what its retry has not sent")
  func cutRetry() {
    func ends(_ mode: CollectionSettings.Mode) -> [String] {
      let task = LearningTask.tiny().with(models: "x", "y")
      var scene = Scene(
        task,
        fleet: [
          .collectors(
            "a",
            windows: [[0, 5_000, 6_000], [30_000, 31_000, 31_500], [60_000, 75_000, 76_000]]
          ) {
            $0.mode = mode
            $0.spacing = .zero
          }
        ])
      scene.inputs.fleet[0].clock = ClockSettings()
      // Both files fail at 0; the retry of 30.000 has not sent the first when it ends at 31.500.
      scene.inputs.fleet[0].link = .states("offline", in: [0...20_000], otherwise: "wifi")
      return scene.play().fileEnds
    }
    // Both are formatted in one second: the second is written over the first.
    #expect(ends(.asCoded) == ["overwritten 1", "forgotten 1"])
    #expect(ends(.asDocumented) == ["overwritten 1", "unread 1"])
  }

  @Test("a kill in the middle of an upload: nobody hears of its end, and no list names the file")
  func killed() {
    func ends(_ mode: CollectionSettings.Mode) -> [String] {
      var scene = self.scene(mode: mode)
      scene.inject(.kill, "a/0", at: 1_000)
      return scene.play().fileEnds
    }
    #expect(ends(.asCoded) == ["forgotten 1"])
    #expect(ends(.asDocumented) == ["unread 1"])
    // The end of a task is no kill: the app hears of it when it runs again.
    #expect(
      scene(windows: [[0, 1_000, 1_500], [30_000, 45_000, 46_000]]).play().fileEnds
        == ["unread 1"])
  }

  @Test("lists of unequal length are cleared, with their files, when something fails or is retried")
  func corrupt() {
    var retried = scene()
    retried.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(20))
    retried.inject(.corruptErrorLogs, "a/0", at: 25_000)
    #expect(
      retried.play().story(of: 0, only: "clears", "file", "retries", "stored") == [
        "30000 clears log 1", "30000 file f0 cleared",
      ])
    // With a file that fails, that one goes, too.
    var failed = scene()
    failed.inject(.corruptErrorLogs, "a/0", at: 500)
    failed.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(20))
    #expect(
      failed.play().story(of: 0, only: "misses", "clears", "file", "retries") == [
        "1000 misses f0 linkLost", "1000 clears log 0", "1000 file f0 cleared",
      ])
    // As documented there is nothing of the kind.
    var documented = scene(mode: .asDocumented)
    documented.inject(.corruptErrorLogs, "a/0", at: 500)
    #expect(documented.play().simulation.books.tallies.injectionsWithoutEffect == 1)
  }

  @Test("an upload that an erasure meets on its way is in the store afterwards")
  func resurrected() {
    func stored(_ mode: CollectionSettings.Mode) -> Int {
      var scene = self.scene(mode: mode)
      scene.erase("a/0", at: 1_000)
      return scene.play().simulation.serverRecord.storedFiles.count
    }
    #expect(stored(.asCoded) == 1)
    #expect(stored(.asDocumented) == 0)
  }

  @Test("what is in the error log survives an erasure, and comes later")
  func logged() {
    func stored(_ mode: CollectionSettings.Mode) -> Int {
      var scene = self.scene(mode: mode)
      scene.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(5))
      scene.erase("a/0", at: 20_000)
      return scene.play().simulation.serverRecord.storedFiles.count
    }
    #expect(stored(.asCoded) == 1)
    #expect(stored(.asDocumented) == 0)
  }

  @Test("an erasure without a link is asked for once, and in vain")
  func offlineErasure() {
    var scene = self.scene()
    scene.inject(.dropLink, "a/0", at: 5_000, lasting: .seconds(10))
    scene.erase("a/0", at: 6_000)
    let played = scene.play()
    #expect(played.simulation.serverRecord.storedFiles.count == 1)
    #expect(played.simulation.collection.tallies.failedErasures == 1)
  }

  @Test("files of users whose names begin alike are erased, too")
  func prefix() {
    func stored(_ mode: CollectionSettings.Mode) -> [String] {
      var scene = self.scene(windows: [[0, 15_000, 16_000]], count: 12, mode: mode)
      scene.erase("a/1", at: 10_000)
      return scene.play().simulation.serverRecord.storedFiles
    }
    // a-1 is the beginning of a-10 and a-11.
    let all = (0..<12).map { "a-\($0)_19700101000000" }
    #expect(
      stored(.asCoded)
        == all.filter { !$0.hasPrefix("a-1") }.map { $0 + "_data.csv" })
    #expect(stored(.asDocumented) == all.filter { !$0.hasPrefix("a-1_") }.map { $0 + ".csv" })
  }

  @Test("the request for the erasure of metadata is one that the database refuses")
  func metadata() {
    func counts(_ mode: CollectionSettings.Mode) -> (erased: Int, failed: Int) {
      var scene = self.scene(mode: mode) { $0.metadata = MetadataSettings() }
      scene.erase("a/0", at: 10_000, .metadata)
      let tallies = scene.play().simulation.collection.tallies
      return (tallies.erasedItems, tallies.failedErasures)
    }
    #expect(counts(.asCoded) == (0, 1))
    #expect(counts(.asDocumented) == (1, 0))
  }

  @Test("a fetch fails where the model's file is: the second one, unless it is removed")
  func fetch() {
    func story(_ mode: CollectionSettings.Mode, removes: Bool? = nil) -> [String] {
      var scene = self.scene(mode: mode) {
        $0.fetch = FetchSettings()
        $0.fetch!.every = .seconds(10)
        $0.fetch!.compile = .seconds(2)
        $0.fetch!.removesFile = removes
      }
      scene.central(every: 20_000)
      scene.inputs.stop.after = .seconds(90)
      return scene.play().story(of: 0, only: "no model", "uses")
    }
    // Trained at 20.000, published at 21.000; fetched from 30.000 on, there at 32.320. Version 3,
    // of 61.000, is there when the request comes at 61.010.
    #expect(story(.asDocumented) == ["34320 uses m0 v1", "64320 uses m0 v3"])
    #expect(story(.asCoded) == ["34320 uses m0 v1", "60000 no model m0"])
    #expect(story(.asCoded, removes: true) == ["34320 uses m0 v1", "64320 uses m0 v3"])
  }

  @Test("a compilation that is cut off leaves the file, and no further fetch succeeds")
  func cutCompilation() {
    func story(_ mode: CollectionSettings.Mode) -> [String] {
      var scene = self.scene(
        windows: [[0, 15_000, 16_000], [30_000, 33_000, 34_000], [60_000, 75_000, 76_000]],
        mode: mode
      ) {
        $0.fetch = FetchSettings()
        $0.fetch!.every = .seconds(10)
        $0.fetch!.compile = .seconds(2)
        $0.fetch!.removesFile = true
      }
      scene.central(every: 20_000)
      scene.inputs.stop.after = .seconds(90)
      return scene.play().story(of: 0, only: "no model", "uses")
    }
    #expect(story(.asDocumented) == ["64320 uses m0 v3"])
    #expect(story(.asCoded) == ["60000 no model m0"])
  }
}
