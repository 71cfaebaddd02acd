import FedSim
import Learning
import Schema
import Testing

@Suite("Devices that collect: files, retries, error logs, metadata")
struct CollectionTests {
  private func scene(
    windows: [[Int64]], models: [String] = [],
    _ change: (inout CollectionSettings) -> Void = { _ in }
  ) -> Scene {
    var task = LearningTask.tiny()
    if models.count == 2 { task = task.with(models: models[0], models[1]) }
    return Scene(task, fleet: [.collectors("a", windows: windows, change)])
  }

  private let nights: [[Int64]] = [
    [0, 15_000, 16_000], [30_000, 45_000, 46_000], [60_000, 75_000, 76_000],
  ]

  @Test("a session formats, sends, and is done; what was sent is deleted and sent no more")
  func session() {
    let played = scene(windows: nights).play()
    #expect(
      played.story(of: 0) == [
        "0 begins window", "0 formats f0 4s 1000B", "0 sends f0", "2010 stored f0",
        "3020 ends completed", "30000 begins window", "30000 ends completed",
        "60000 begins window", "60000 ends completed", "10000000 file f0 unread",
      ])
    let record = played.simulation.deviceRecords.collector(0)!
    #expect(record.keptFiles == 0 && record.keptBytes == 0 && record.mostBytes == 1000)
    #expect(played.simulation.serverRecord.storedFiles == ["a-0_19700101000000.csv"])
    // The file, and the answer.
    #expect(played.simulation.books.ledgers.bytesUp == 2000)
    #expect(played.simulation.books.ledgers.bytesDown == 1000)
  }

  @Test("the bytes of a file are those of its lines, written by hand")
  func bytes() {
    // Values (5·n mod 17 − 8)/8 of n from 0 on: -1.0,-0.375 · 0.25,0.875 · -0.625,0.0 ·
    // 0.625,-0.875; labels 1.0,0.0 or 0.0,1.0; a comma behind each value, a line's end:
    // (5 + 7 + 8) + (5 + 6 + 8) + (7 + 4 + 8) + (6 + 7 + 8) = 79.
    func bytes(_ change: (inout CollectionSettings) -> Void) -> Int64 {
      var settings = CollectionSettings()
      settings.timestamps = false
      change(&settings)
      let inputs = scene(windows: nights).inputs
      return Simulation(inputs).collection.csvBytes(
        [0, 1, 2, 3], settings, of: inputs.task.train)
    }
    #expect(bytes { _ in } == 79)
    // A time of twelve characters and a comma before each line.
    #expect(bytes { $0.timestamps = true } == 79 + 4 * 13)
    // Two values of five characters and a comma, eight for the labels.
    #expect(bytes { $0.charactersPerValue = 5 } == 4 * (2 * 6 + 8))
    // One step a line: the labels are there twice.
    #expect(bytes { $0.sequences = true } == 79)
    let tiny = LearningTask.tiny()
    let data = Dataset(
      features: tiny.train.features, sampleShape: [2, 1], labels: tiny.train.labels, classCount: 2)
    let task = LearningTask(
      network: try! Network(
        sampleShape: [2, 1], layers: [.flatten, .dense(outputs: 2, activation: .identity)]),
      initial: tiny.initial, train: data, test: data, partition: tiny.partition, plan: tiny.plan)
    var inputs = Scene(task, fleet: [.collectors("a", windows: nights)]).inputs
    inputs.server.central = nil
    var settings = CollectionSettings()
    settings.timestamps = false
    settings.sequences = true
    let bytes = Simulation(inputs).collection.csvBytes(
      [0, 1, 2, 3], settings, of: inputs.task.train)
    #expect(bytes == 79 + 4 * 8)
  }

  @Test("bytes are fractions of 255, as they are printed")
  func byteFeatures() {
    // 0.0 · 1.0 · 0.2 · 0.4: a comma behind each, and 7 + 1 for the labels of two samples.
    let tiny = LearningTask.tiny(samples: [2])
    let data = Dataset(
      features: .bytes([0, 255, 51, 102]), sampleShape: [2], labels: [0, 1], classCount: 2)
    let task = LearningTask(
      network: tiny.network, initial: tiny.initial, train: data, test: data,
      partition: tiny.partition, plan: tiny.plan)
    var settings = CollectionSettings()
    settings.timestamps = false
    let simulation = Simulation(Scene(task, fleet: [.collectors("a", windows: nights)]).inputs)
    #expect(simulation.collection.csvBytes([0, 1], settings, of: data) == 4 * 4 + 2 * 8)
  }

  @Test("a lost link: the file is in the error log, and the next session sends it")
  func retry() {
    var scene = self.scene(windows: nights)
    scene.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(20))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "sends", "misses", "retries", "stored", "ends") == [
        "0 sends f0", "1000 misses f0 linkLost", "1000 ends completed", "30000 retries 1",
        "30000 sends f0", "32010 stored f0", "33020 ends completed", "60000 ends completed",
      ])
    #expect(played.simulation.collection.tallies.retries == 1)
    #expect(played.simulation.books.ledgers.transmissions[.linkLost] == 1)
  }

  @Test("as documented what fails again stays in the log, and the session after sends it")
  func retryAgain() {
    var scene = self.scene(windows: nights)
    scene.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(20))
    scene.inject(.dropLink, "a/0", at: 31_000, lasting: .seconds(20))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "misses", "retries", "stored") == [
        "1000 misses f0 linkLost", "30000 retries 1", "31000 misses f0 linkLost",
        "60000 retries 1", "62010 stored f0",
      ])
    #expect(played.simulation.deviceRecords.collector(0)?.keptFiles == 0)
  }

  @Test("retries are the app's policy: never, or when its user opens it")
  func policy() {
    func retried(_ retry: CollectionSettings.Retry) -> [String] {
      var scene = self.scene(windows: nights) { $0.retry = retry }
      scene.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(20))
      scene.inject(.open, "a/0", at: 50_000)
      return scene.play().story(of: 0, only: "retries", "stored")
    }
    #expect(retried(.never) == [])
    #expect(retried(.onActivation) == ["50000 retries 1", "52010 stored f0"])
    #expect(retried(.everySession) == ["30000 retries 1", "32010 stored f0"])
  }

  @Test("without a link a file is formatted and logged at once")
  func offline() {
    var scene = self.scene(windows: nights)
    scene.inputs.fleet[0].link = .states("offline", in: [0...20_000], otherwise: "wifi")
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "formats", "misses", "stored", "ends").prefix(4) == [
        "0 formats f0 4s 1000B", "0 misses f0 offline", "0 ends completed", "32010 stored f0",
      ])
    #expect(played.simulation.books.ledgers.transmissions.opened == 1)
  }

  @Test("a soft expiry lets an upload continue; the hard one ends it, and it is logged")
  func expiry() {
    let played = scene(windows: [[0, 1_000, 1_500], [30_000, 31_000, 34_000]]).play()
    #expect(
      played.story(of: 0, only: "misses", "stored", "ends") == [
        "1500 misses f0 cancelled", "1500 ends expired", "32010 stored f0", "33020 ends expired",
      ])
  }

  @Test("an answer that was lost: the file is sent again, and counts once")
  func ambiguous() {
    var scene = self.scene(windows: nights)
    scene.central(every: nil) { $0.samples = 4 }
    scene.inject(.dropLink, "a/0", at: 2_015, lasting: .seconds(20))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "misses", "stored", "file") == [
        "2010 stored f0", "2010 file f0 trained", "2015 misses f0 unacknowledged",
      ])
    #expect(played.simulation.collection.tallies.repeatedFiles == 1)
    #expect(played.simulation.collection.versions.count == 1)
    #expect(played.fileEnds == ["trained 1"])
  }

  @Test("clearData throws away what is not formatted, and nothing else")
  func clearData() {
    var scene = self.scene(windows: [[10_000, 25_000, 26_000], [60_000, 75_000, 76_000]])
    var arrival = ArrivalSettings()
    arrival.initial = 0.25
    arrival.perDay = 4320
    // One sample at the start, one each 20 s: at 5 s one, at 10 s none more, at 60 s all four.
    scene.inputs.fleet[0].arrival = arrival
    scene.inject(.clearData, "a/0", at: 5_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "clears", "formats") == [
        "5000 clears data 1", "60000 formats f0 3s 750B",
      ])
    #expect(played.simulation.collection.tallies.clearedSamples == 1)
  }

  @Test("clearErrorLogs deletes failed files for good")
  func clearLog() {
    var scene = self.scene(windows: nights)
    scene.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(20))
    scene.inject(.clearErrorLogs, "a/0", at: 10_000)
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "misses", "clears", "file", "stored") == [
        "1000 misses f0 linkLost", "10000 clears log 1", "10000 file f0 cleared",
      ])
    #expect(played.simulation.deviceRecords.collector(0)?.keptBytes == 0)
  }

  @Test("the app clears its error log once the files in it have too many bytes")
  func clearAbove() {
    func cleared(above bytes: Int64) -> Int {
      var scene = self.scene(windows: nights, models: ["x", "y"]) { $0.clearAbove = bytes }
      scene.inputs.fleet[0].link = .states("offline", in: [0...20_000], otherwise: "wifi")
      return scene.play().simulation.collection.ledger[.cleared]
    }
    // Two files of 1,000 bytes.
    #expect(cleared(above: 1999) == 2)
    #expect(cleared(above: 2000) == 0)
  }

  /// Two data objects, the network a thousand times as fast: a file is stored 12 ms after it is
  /// formatted, and its answer is there 11 ms later.
  private func collision(spacing: SimDuration) -> Played {
    var scene = self.scene(windows: nights, models: ["x", "y"]) {
      $0.spacing = spacing
      $0.metadata = MetadataSettings()
    }
    scene.inputs.fleet[0].network.wifi = .link(
      bytesPerSecond: 1_000_000, roundTrip: .milliseconds(20))
    scene.central(every: nil) { $0.samples = 4 }
    scene.inputs.server.central!.requiresMetadata = true
    return scene.play()
  }

  @Test("files and metadata of one user and second have one name: the later overwrites the earlier")
  func sameSecond() {
    // The item of 1,200 bytes is in the store 23 + 11.2 ms after the file was formatted, and the
    // training, with it, begins then; the second file comes 22.2 + 12 ms later in the same second.
    let played = collision(spacing: .zero)
    #expect(
      played.story(of: 0, only: "formats", "stored", "item", "file") == [
        "0 formats f0 4s 1000B", "12 stored f0", "34.200 item f0", "34.200 file f0 trained",
        "45.200 formats f1 4s 1000B", "57.200 stored f1", "57.200 file f1 trained",
        "79.400 item f1",
      ])
    #expect(played.simulation.serverRecord.storedFiles == ["a-0_19700101000000.csv"])
    #expect(played.simulation.collection.tallies.overwrittenFiles == 1)
    #expect(played.simulation.collection.tallies.overwrittenItems == 1)
  }

  @Test("before a training reads it, a file that is overwritten ends so; a second later it is not")
  func spaced() {
    func ends(_ spacing: SimDuration) -> ([String], Int) {
      var scene = self.scene(windows: nights, models: ["x", "y"]) { $0.spacing = spacing }
      scene.inputs.fleet[0].network.wifi = .link(
        bytesPerSecond: 1_000_000, roundTrip: .milliseconds(20))
      scene.central(every: 10_000)
      let played = scene.play()
      return (played.fileEnds, played.simulation.collection.versions.count)
    }
    // The first model's data never reach it.
    #expect(ends(.zero) == (["trained 1", "overwritten 1"], 999))
    #expect(ends(.seconds(1)) == (["trained 2"], 1998))
  }

  @Test("E16: when the clock goes back an hour, a name comes again")
  func zone() {
    func stored(goesBack: Bool) -> ([String], [String]) {
      var scene = self.scene(windows: [[0, 60_000, 61_000], [3_600_000, 3_660_000, 3_661_000]])
      var arrival = ArrivalSettings()
      arrival.initial = 0.5
      var step = ArrivalSettings.Step()
      step.at = ms(1_000_000)
      arrival.schedule = [step]
      scene.inputs.fleet[0].arrival = arrival
      scene.inputs.fleet[0].clock = ClockSettings()
      var zone = ClockSettings.Zone()
      zone.from = CivilTime("1970-01-01T00:30:00Z")!
      zone.utcOffset = goesBack ? .hours(-1) : .zero
      scene.inputs.fleet[0].clock!.zones = [zone]
      let played = scene.play()
      return (played.simulation.serverRecord.storedFiles, played.fileEnds)
    }
    #expect(
      stored(goesBack: false) == (
        ["a-0_19700101000000.csv", "a-0_19700101010000.csv"], ["unread 2"]
      ))
    #expect(
      stored(goesBack: true) == (["a-0_19700101000000.csv"], ["overwritten 1", "unread 1"]))
  }

  @Test("metadata that are lost are not sent again: the file is never trained on")
  func lostMetadata() {
    var scene = self.scene(windows: nights) {
      $0.metadata = MetadataSettings()
      $0.metadata!.bytes = 0
    }
    scene.central(every: 20_000) { $0.requiresMetadata = true }
    scene.inject(.dropLink, "a/0", at: 3_500, lasting: .seconds(5))
    let played = scene.play()
    #expect(
      played.story(of: 0, only: "stored", "item", "no item", "retries") == [
        "2010 stored f0", "3500 no item f0",
      ])
    #expect(played.fileEnds == ["unread 1"])
    #expect(played.simulation.collection.versions.isEmpty)
  }

  @Test("with fewer new samples than wanted nothing is formatted")
  func minimum() {
    let few = scene(windows: nights) { $0.minimumSamples = 5 }.play()
    #expect(few.story(of: 0, only: "formats") == [])
    #expect(few.simulation.deviceRecords.collector(0)?.waiting == 4)
    #expect(scene(windows: nights) { $0.minimumSamples = 4 }.play().fileEnds == ["unread 1"])
  }

  @Test("an app that is removed loses its files; its user keeps the name only in the keychain")
  func reinstall() {
    func names(_ userID: CollectionSettings.UserID) -> ([String], [String]) {
      var scene = self.scene(windows: nights, models: ["x", "y"]) {
        $0.userID = userID
        $0.spacing = .seconds(20)
      }
      scene.inputs.fleet[0].registration = RegistrationSettings()
      scene.inputs.fleet[0].registration!.keepsData = true
      scene.inputs.fleet[0].registration!.atStart = true
      // The second object would format at 20.000, and its session ends at 15.000. Opened at 25.000
      // the app registers first: 1,500 bytes up, 1,000 down, 20 ms.
      scene.inject(.reinstall, "a/0", at: 25_000)
      let played = scene.play()
      return (played.simulation.serverRecord.storedFiles, played.fileEnds)
    }
    #expect(
      names(.keychain).0 == ["a-0_19700101000000.csv", "a-0_19700101000027.csv"])
    #expect(
      names(.userDefaults).0 == ["a-0_19700101000000.csv", "a-0-2_19700101000027.csv"])
    #expect(names(.keychain).1 == ["unread 2"])
    // One that was not sent is lost.
    var scene = self.scene(windows: nights)
    scene.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(5))
    scene.inject(.reinstall, "a/0", at: 20_000)
    #expect(scene.play().fileEnds == ["uninstalled 1"])
  }

  @Test("a device that leaves the fleet loses its files, not those in the store")
  func leaves() {
    var scene = self.scene(windows: nights)
    scene.inject(.dropLink, "a/0", at: 1_000, lasting: .seconds(5))
    scene.inputs.fleet[0].presence = .states("here", in: [0...20_000], otherwise: "away")
    #expect(scene.play().fileEnds == ["deviceLeft 1"])
    scene.inputs.injections = []
    #expect(scene.play().fileEnds == ["unread 1"])
  }
}
