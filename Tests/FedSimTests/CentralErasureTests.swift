import FedSim
import Learning
import Schema
import Testing

@Suite("Erasure of what was collected, and the next central training")
struct CentralErasureTests {
  private let task = LearningTask.tiny()
  private let zeros: [Float] = [0, 0, 0, 0, 0, 0]

  /// Both files are in the store at 2.010; the server trains at 20 and 40 s.
  private func scene(
    _ change: (inout CollectionSettings) -> Void = { _ in }
  ) -> Scene {
    var scene = Scene(
      task,
      fleet: [
        .collectors(
          "a", client: 0, windows: [[0, 14_000, 15_000], [50_000, 64_000, 65_000]], change),
        .collectors("b", client: 1, windows: [[0, 14_000, 15_000]], change),
      ])
    scene.central(every: 20_000)
    scene.inputs.stop.after = .seconds(70)
    return scene
  }

  private func samples(_ clients: Int32...) -> [Int32] {
    clients.flatMap { client in (0..<4).map { 4 * client + $0 } }
  }

  @Test("files erased before a training are not in it")
  func before() {
    var scene = self.scene()
    scene.erase("a/0", at: 10_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "erases", "file") == ["10000 erases files", "10010 file f0 erased"])
    let first = directCentral(task, samples(1), from: zeros)
    let second = directCentral(task, samples(1), from: first, epoch: 1)
    #expect(
      played.simulation.collection.parameters(of: 0).values
        == directCentral(task, samples(1), from: second, epoch: 2))
    #expect(played.fileEnds == ["trained 1", "erased 1"])
    #expect(played.simulation.collection.tallies.erasedFiles == 1)
  }

  @Test("files erased after a training stay in its version and are not in the next")
  func after() {
    var scene = self.scene()
    scene.erase("a/0", at: 30_000)
    scene.inputs.stop.after = .seconds(50)
    let played = scene.play()
    let first = directCentral(task, samples(0, 1), from: zeros)
    #expect(
      played.simulation.collection.parameters(of: 0).values
        == directCentral(task, samples(1), from: first, epoch: 1))
    #expect(played.simulation.collection.versions.map(\.samples) == [8, 4])
    #expect(played.fileEnds == ["trained 2"])
    #expect(played.simulation.collection.tallies.erasedFiles == 1)
    #expect(played.simulation.serverRecord.storedFiles == ["b-0_19700101000000.csv"])
  }

  @Test("erased during a training: it had been read, so it stays part of that version")
  func during() {
    var scene = self.scene()
    // 8 samples: 20.000 to 22.000.
    scene.erase("a/0", at: 21_000)
    let played = scene.play()
    #expect(played.simulation.collection.versions.map(\.samples) == [8, 4, 4])
  }

  @Test("E42: erased while it is sent: it never reaches the store")
  func whileSent() {
    var scene = self.scene()
    scene.erase("a/0", at: 1_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "erases", "misses", "stored", "file", "retries") == [
        "1000 erases files", "1000 misses f0 cancelled", "1000 file f0 erased",
      ])
    #expect(played.simulation.serverRecord.storedFiles == ["b-0_19700101000000.csv"])
    #expect(played.simulation.deviceRecords.collector(0)?.keptFiles == 0)
  }

  @Test("E42: erased while it is on its way: it comes first, and 5 ms later it is gone")
  func onItsWay() {
    // All is sent at 2.000, in the store at 2.010; the erasure of 2.005 is there at 2.015.
    var scene = self.scene()
    scene.erase("a/0", at: 2_005)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "erases", "stored", "file") == [
        "2005 erases files", "2010 stored f0", "2015 file f0 erased",
      ])
    #expect(played.simulation.serverRecord.storedFiles == ["b-0_19700101000000.csv"])
  }

  @Test("E42: an erasure that overtakes the file: what comes later stays gone")
  func overtaken() {
    // Over the cellular link, 500 bytes a second and 20 ms: sent at 4.000, there at 4.020. The
    // erasure of 4.005 goes over Wi-Fi and is there at 4.015.
    var scene = self.scene()
    scene.inputs.fleet[0].link = .states("cellular", in: [0...4_003], otherwise: "wifi")
    scene.inputs.fleet[0].network.handover = .survives
    scene.erase("a/0", at: 4_005)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "erases", "misses", "stored", "file") == [
        "4005 erases files", "4005 misses f0 unacknowledged", "4020 file f0 erased",
      ])
    #expect(played.simulation.serverRecord.storedFiles == ["b-0_19700101000000.csv"])
  }

  @Test("E42: erased without a link: continued the device now, in the store when the link is back")
  func offline() {
    var scene = self.scene()
    scene.inject(.dropLink, "a/0", at: 5_000, lasting: .seconds(10))
    scene.erase("a/0", at: 6_000)
    #expect(
      scene.play().story(of: 0, only: "erases", "file") == [
        "6000 erases files", "15010 file f0 erased",
      ])
  }

  @Test("what is collected after an erasure is sent and trained on")
  func later() {
    var scene = self.scene()
    var arrival = ArrivalSettings()
    arrival.initial = 0.5
    var step = ArrivalSettings.Step()
    step.at = ms(45_000)
    arrival.schedule = [step]
    scene.inputs.fleet[0].arrival = arrival
    scene.erase("a/0", at: 10_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "formats", "file") == [
        "0 formats f0 2s 500B", "10010 file f0 erased", "50000 formats f2 2s 500B",
        "60000 file f2 trained",
      ])
  }

  @Test("metadata erased alone: the file stays, and the next training leaves it out")
  func metadata() {
    var scene = scene {
      $0.metadata = MetadataSettings()
      $0.metadata!.bytes = 0
    }
    scene.inputs.server.central!.requiresMetadata = true
    scene.erase("a/0", at: 30_000, .metadata)
    scene.inputs.stop.after = .seconds(50)
    let played = scene.play()
    #expect(played.simulation.collection.versions.map(\.samples) == [8, 4])
    let first = directCentral(task, samples(0, 1), from: zeros)
    #expect(
      played.simulation.collection.parameters(of: 0).values
        == directCentral(task, samples(1), from: first, epoch: 1))
    #expect(played.simulation.serverRecord.storedFiles.count == 2)
    #expect(played.simulation.collection.tallies.erasedItems == 1)
    #expect(played.simulation.collection.tallies.withoutMetadata == 1)
    // Without the requirement it changes nothing.
    scene.inputs.server.central!.requiresMetadata = false
    #expect(scene.play().simulation.collection.versions.map(\.samples) == [8, 8])
  }

  @Test("files erased alone: the metadata stay; all: both go, and what is not formatted")
  func scopes() {
    func left(_ scope: Erasure) -> (files: Int, items: Int, cleared: Int) {
      var scene = scene {
        $0.metadata = MetadataSettings()
        $0.minimumSamples = 2
      }
      // Three of four at the start, the last from 8 s on: it is not enough for a file.
      var arrival = ArrivalSettings()
      arrival.initial = 0.75
      var step = ArrivalSettings.Step()
      step.at = ms(8_000)
      arrival.schedule = [step]
      scene.inputs.fleet[0].arrival = arrival
      scene.erase("a/0", at: 12_000, scope)
      let tallies = scene.play().simulation.collection.tallies
      return (tallies.erasedFiles, tallies.erasedItems, tallies.clearedSamples)
    }
    #expect(left(.files) == (1, 0, 0))
    #expect(left(.metadata) == (0, 1, 0))
    #expect(left(.all) == (1, 1, 1))
  }

  @Test("metadata erased while they are sent are not stored, and not sent again")
  func metadataOnTheWay() {
    // The item is sent from 3.020 to 4.020 and in the store at 4.030.
    for (time, items) in [(Int64(3_500), 0), (4_025, 1)] {
      var scene = scene {
        $0.metadata = MetadataSettings()
        $0.metadata!.bytes = 0
      }
      scene.inputs.fleet.removeLast()
      scene.erase("a/0", at: time, .metadata)
      let played = scene.play()
      #expect(played.simulation.collection.tallies.items == items)
      #expect(played.simulation.collection.tallies.erasedItems == items)
      #expect(played.fileEnds == ["trained 1"])
    }
  }

  @Test("a user of another name: what the first one sent is out of reach")
  func anotherUser() {
    func erased(_ userID: CollectionSettings.UserID) -> Int {
      var scene = scene { $0.userID = userID }
      scene.inject(.reinstall, "a/0", at: 5_000)
      scene.erase("a/0", at: 10_000)
      return scene.play().simulation.collection.tallies.erasedFiles
    }
    #expect(erased(.keychain) == 1)
    #expect(erased(.userDefaults) == 0)
  }
}
