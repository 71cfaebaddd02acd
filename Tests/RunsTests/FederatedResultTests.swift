import Testing

import FedSim
import Results
import Runs
import Scenarios

@Suite("Federated evaluation and label histograms in a result file")
struct FederatedResultTests {
  @Test(
    "Over validation samples, each client's once, it agrees with the central evaluation of them")
  func agreement() throws {
    // Twelve devices, twelve clients with 4 validation samples each.
    let (simulation, document) = try Night.run(
      "record.federatedEvaluation=3", "fleet.phones.firstClient=0", "fleet.tablets.firstClient=9")
    let mean = try #require(document.numbers("versions/federatedAccuracy"))
    let weighted = try #require(document.numbers("versions/federatedAccuracyBySamples"))
    let central = try #require(document.numbers("versions/centralValidationAccuracy"))
    let count = try #require(document.integers("versions/federatedDevices"))
    try #require(simulation.version % 3 != 0 && simulation.version > 6)
    for version in 0...simulation.version {
      let isDue = version % 3 == 0 || version == simulation.version
      #expect(mean[version].isNaN != isDue && count[version] == (isDue ? 12 : 0))
      guard isDue else { continue }
      #expect(weighted[version] == central[version])
      #expect(abs(mean[version] - central[version]) < 1e-12, "equal sizes, equal means")
    }
  }

  @Test("The devices' accuracies are the last version's, and the tenths and spread theirs")
  func devices() throws {
    let (simulation, document) = try Night.run("record.federatedEvaluation={every: {time: 1 d}}")
    let accuracies = try #require(document.numbers("devices/federatedAccuracy")).sorted()
    try #require(accuracies.count == 12 && accuracies[0] < accuracies[11])
    func last(_ name: String) throws -> Double {
      try #require(document.numbers("versions/federatedAccuracy\(name)"))[simulation.version]
    }
    // ceil(12/10) = 2.
    #expect(try last("WorstTenth") == (accuracies[0] + accuracies[1]) / 2)
    #expect(try last("BestTenth") == (accuracies[11] + accuracies[10]) / 2)
    let mean = accuracies.reduce(0, +) / 12
    let variance = accuracies.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 12
    #expect(abs(try last("Spread") - variance.squareRoot()) < 1e-12)
    #expect(document.integers("devices/federatedSamples") == Array(repeating: 4, count: 12))
    let on = try #require(document.variable("devices/federatedOn"))
    #expect(on.flagMeanings == ["test", "validation", "training", "none"])
    #expect(on.values == .int8(Array(repeating: 1, count: 12)))
  }

  @Test("Without being asked for nothing of it is in the file")
  func absent() throws {
    let (_, document) = try Night.run()
    #expect(document.variable("versions/federatedAccuracy") == nil)
    #expect(document.variable("devices/federatedAccuracy") == nil)
    #expect(document.variable("partition/testLabelHistogram") == nil)
  }

  @Test("Histograms count the labels of training, validation and test samples, as by hand")
  func histograms() throws {
    let folder = try Folder()
    // Eight samples, labels 0 1 2 0 1 2 0 0; client 0 has 0, 1, 2, 3 and client 1 has 4, 5, 6, 7.
    try folder.write("x,label\n1,0\n2,1\n3,2\n4,0\n5,1\n6,2\n7,0\n8,0\n", to: "train.csv")
    try folder.write("x,label\n1,0\n2,1\n3,2\n", to: "test.csv")
    let lines = (0..<8).map { "\($0 / 4),\($0)\n" }.joined()
    try folder.write("client,sample\n\(lines)", to: "p.csv")
    try folder.write(
      """
      stop: {after: 1 h}
      task:
        data:
          source: {csv: {train: train.csv, test: test.csv, label: label}}
          partition: {file: p.csv}
          validationFraction: 0.25
        model: softmax
      fleet: [{name: phones, count: 2}]

      """, to: "s.yaml")
    let scenario = try Scenario(contentsOf: folder("s.yaml"))
    var simulation = try scenario.makeSimulation()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    let document = recorder.document(simulation, of: scenario)
    func counts(_ name: String) throws -> [Int32] {
      guard case .int32(let counts)? = document.variable("partition/\(name)")?.values else {
        throw Missing()
      }
      return counts
    }
    let (training, kept) = try (counts("labelHistogram"), counts("validationLabelHistogram"))
    // One of each four samples is kept back; together they are the labels as dealt.
    #expect(zip(training, kept).map { $0 + $1 } == [2, 1, 1, 2, 1, 1])
    #expect(kept[0..<3].reduce(0, +) == 1 && kept[3..<6].reduce(0, +) == 1)
    let labels: [Int32] = [0, 1, 2, 0, 1, 2, 0, 0]
    for client in 0..<2 {
      let sample = simulation.inputs.task.partition.validation[client][0]
      #expect(kept[3 * client + Int(labels[Int(sample)])] == 1)
    }
  }

  private struct Missing: Error {}

  @Test("Users' own test samples are counted and evaluated")
  func users() throws {
    let (simulation, document) = try Night.run(
      "task.data.source={sensors: {devices: 6, samplesPerDevice: 10, testPerDevice: 4}}",
      "task.data.partition=natural", "task.data.validationFraction=0",
      "task.model={mlp: {hidden: [4]}}", "record.federatedEvaluation=1", "stop.after=6 h")
    let samples = try #require(document.integers("partition/testSamples"))
    #expect(samples == Array(repeating: 4, count: 6))
    guard case .int32(let counts)? = document.variable("partition/testLabelHistogram")?.values
    else {
      Issue.record("no histogram")
      return
    }
    let labels = simulation.inputs.task.test.labels
    let classes = simulation.inputs.task.test.classCount
    for client in 0..<6 {
      var expected = Array(repeating: Int32(0), count: classes)
      for label in labels[4 * client..<4 * client + 4] { expected[Int(label)] += 1 }
      #expect(Array(counts[client * classes..<(client + 1) * classes]) == expected)
    }
    // Twelve devices for six users: each user's test samples twice, the test set is theirs.
    let weighted = try #require(document.numbers("versions/federatedAccuracyBySamples"))
    #expect(weighted[0] == document.numbers("versions/centralAccuracy")?[0])
    let on = document.variable("devices/federatedOn")?.values
    #expect(on == .int8(Array(repeating: 0, count: 12)))
  }
}
