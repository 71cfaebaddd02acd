import FedSim
import Foundation
import Results
import Runs
import Scenarios
import Testing

@Suite("What a result says of work, versions and the fleet")
struct MeasureResultTests {
  private static let battery = "fleet.phones.battery={capacity: 10 Wh, initialLevel: 0.9}"

  @Test("work by its outcome adds up to the ledgers, the devices and the versions")
  func effort() throws {
    let (simulation, document) = try Night.run(Self.battery)
    func sum(_ path: String) throws -> Int64 {
      try #require(document.integers(path), "\(path)").reduce(0, +)
    }
    func total(_ path: String) throws -> Double {
      try #require(document.numbers(path), "\(path)").reduce(0, +)
    }
    #expect(simulation.audit() == [])
    #expect(try sum("effort/attempts") == sum("ledger/attemptsOpened"))
    let batches = try sum("ledger/batchesUsed") + sum("ledger/batchesWasted")
    #expect(try sum("effort/batches") == batches)
    for name in ["bytesUp", "bytesDown"] {
      #expect(try sum("effort/\(name)") == sum("ledger/\(name)"), "\(name)")
      #expect(try sum("devices/\(name)") == sum("ledger/\(name)"), "\(name)")
      let cumulated = try #require(document.integers("versions/\(name)"))
      #expect(cumulated == cumulated.sorted())
      #expect(try cumulated.last! <= sum("ledger/\(name)"))
    }
    let processed = try #require(document.integers("effort/samplesProcessed"))
    #expect(try processed[0] == sum("versions/samplesProcessed"))
    #expect(try sum("devices/samplesAggregated") == sum("versions/samples"))
    let (used, wasted) = try (
      total("devices/deviceSecondsAggregated"), total("devices/deviceSecondsWasted")
    )
    let seconds = try #require(document.numbers("effort/deviceSeconds"))
    #expect(abs(used - seconds[0]) < 1e-6)
    let inAll = seconds.reduce(0, +)
    #expect(abs(used + wasted - inAll) < 1e-6)
    #expect(wasted > 0 && used > wasted)
    let drawn = try sum("effort/energyRadio") + sum("effort/energyRadioOther")
    #expect(try sum("effort/energyTraining") == sum("devices/energyTraining"))
    #expect(try drawn == sum("devices/energyRadio"))
    let energy = try sum("devices/energyAggregated") + sum("devices/energyWasted")
    #expect(try energy == sum("effort/energyTraining") + sum("effort/energyRadio"))
    #expect(try sum("staleness/updates") == sum("versions/updates"))
    let hours = try #require(document.numbers("fleetHours/trainingOfAll"))
    #expect(abs(hours.reduce(0, +) - inAll) < 1e-6)
  }

  @Test("without batteries there is no energy, and without learning no accuracy")
  func absent() throws {
    let document = try Night.run().document
    for path in [
      "effort/energyTraining", "versions/joules", "versions/batteryLevel", "devices/energyWasted",
    ] {
      #expect(document.variable(path) == nil, "\(path)")
    }
    let times = try Night.run("task.learning=none").document
    for path in ["versions/heldAccuracy", "versions/labelShare", "devices/heldAccuracy"] {
      #expect(times.variable(path) == nil, "\(path)")
    }
    #expect(times.variable("versions/heldNone") != nil)
    #expect(try Night.run("record.fleetHours=false").document["fleetHours"] == nil)
    #expect(try Night.run("record.labelShare=false").document.variable("versions/label") == nil)
  }

  @Test("label shares are those of the partition where all take part alike")
  func labelShares() throws {
    let document = try Night.run().document
    guard case .float(let shares)? = document.variable("versions/labelShare")?.values else {
      Issue.record("no shares")
      return
    }
    let updates = try #require(document.integers("versions/updates"))
    #expect(shares.count == 3 * updates.count)
    #expect(shares.prefix(3).count { $0.isNaN } == 3)
    for version in updates.indices.dropFirst() {
      let sum: Float = shares[(3 * version)..<(3 * version + 3)].reduce(0, +)
      #expect(abs(sum - 1) < 1e-6)
    }
  }

  @Test("norms are there for every tensor, by its place in the model")
  func norms() throws {
    let document = try Night.run("record.layerNorms=true").document
    // Two dense layers: two weights, two biases.
    #expect(document.integers("versions/tensor") == [0, 1, 2, 3])
    let tensors = try #require(document.variable("versions/tensor"))
    #expect(
      tensors[attribute: "comment"]
        == .text("dense1.weight dense1.bias dense2.weight dense2.bias"))
    let norms = try #require(document.numbers("versions/layerNorm"))
    let last = try #require(document.variable("model/dense2_bias")?.values.asDoubles)
    let length = last.reduce(0) { $0 + $1 * $1 }.squareRoot()
    #expect(abs(norms[norms.count - 1] - length) < 1e-12)
  }

  @Test("weights of groups are there where groups are what is weighed, for every version")
  func groupWeights() throws {
    let document = try Night.run("server.aggregator={agnostic: 0.5}").document
    let weights = try #require(document.numbers("versions/groupWeight"))
    let versions = try #require(document.integers("versions/version")).count
    #expect(versions > 2 && weights.count == 2 * versions)
    #expect(weights[..<2] == [0.5, 0.5])
    for version in 0..<versions {
      #expect(abs(weights[2 * version] + weights[2 * version + 1] - 1) < 1e-12)
    }
    #expect(weights.contains { $0 != 0.5 })
    let place = try #require(document.variable("versions/group"))
    #expect(place[attribute: "comment"] == .text("phones, tablets"))
    for other in [
      "server.aggregator={agnostic: {domains: devices}}", "server.aggregator=uniform-mean",
    ] {
      #expect(try Night.run(other).document.variable("versions/groupWeight") == nil, "\(other)")
    }
  }

  @Test("a device's accuracy is that of the version that it holds")
  func heldAccuracy() throws {
    let document = try Night.run().document
    let held = try #require(document.integers("devices/heldVersion"))
    let central = try #require(document.numbers("versions/centralAccuracy"))
    let accuracies = try #require(document.numbers("devices/heldAccuracy"))
    for (version, accuracy) in zip(held, accuracies) {
      #expect(version < 0 ? accuracy.isNaN : accuracy == central[Int(version)])
    }
  }

  @Test("Gini and Jain of participations, by hand")
  func fairness() throws {
    // Ascending values x_i: Gini = 2·Σ i·x_i / (n·Σ x_i) − (n + 1)/n, from the devices' column.
    let document = try Night.run().document
    let counts = try #require(document.integers("devices/aggregated")).map(Double.init).sorted()
    var differences = 0.0
    for a in counts { for b in counts { differences += abs(a - b) } }
    let (n, total) = (Double(counts.count), counts.reduce(0, +))
    // As half the mean difference between two, over the mean.
    let gini = differences / (2 * n * total)
    let jain = total * total / (n * counts.reduce(0) { $0 + $1 * $1 })
    let found = (
      try #require(document.numbers("fairness/giniParticipation")),
      try #require(document.numbers("fairness/jainParticipation"))
    )
    #expect(abs(found.0[0] - gini) < 1e-12)
    #expect(abs(found.1[0] - jain) < 1e-12)
    #expect(
      document.integers("fairness/participants") == [Int64(counts.count { $0 > 0 })])
  }

  @Test("the assumptions in use are listed")
  func assumptions() throws {
    let document = try Night.run().document
    let text = try #require(document.root[text: "assumptions"])
    let lines = text.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    let scenario = try Night.scenario()
    #expect(lines.map(\.first) == scenario.assumptions.map(\.path))
    #expect(lines.allSatisfy { $0.count == 3 })
    // Written by nobody, and by the scenario.
    #expect(scenario.assumptions.contains { $0.isDefault })
    #expect(scenario.assumptions.contains { !$0.isDefault })
  }

  @Test("time zones are there to fold hours by")
  func offsets() throws {
    let document = try Night.run("fleet.tablets.utcOffset=-5 h").document
    #expect(document.numbers("fleetHours/utcOffset") == [0, -18_000])
    #expect(document.integers("fleetHours/sampled") == [9, 3])
    let present = try #require(document.numbers("fleetHours/present"))
    var expected: [Double] = []
    for _ in 0..<48 { expected += [32_400, 10_800] }
    #expect(present == expected)
  }
}

@Suite("Results of other schemas")
struct SchemaVersionTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures/results").path

  @Test("the tables of a result of schema 1 can be read", arguments: ["open", "phones"])
  func tables(name: String) throws {
    let document = try ResultFile.read("\(Self.folder)/\(name)-schema1.h5")
    #expect(document.schemaVersion == 1)
    #expect(document["effort"] == nil)
    let versions = try #require(document.integers("versions/version"))
    #expect(versions.count > 3)
    #expect(document.numbers("versions/centralAccuracy")?.count == versions.count)
    #expect(try Night.run().document.schemaVersion == FedSimVersion.resultSchema)
  }

  @Test("a device of a result of schema 1 can be asked, or the version that can is named")
  func explain() throws {
    let file = "\(Self.folder)/open-schema1.h5"
    let document = try ResultFile.read(file)
    do throws(RunFailure) {
      let explanation = try Explanation(result: file, device: "phones/0")
      #expect(!explanation.causeText.isEmpty)
    } catch {
      guard case .text(let version)? = document.root[attribute: "engineVersion"] else {
        Issue.record("no version")
        return
      }
      #expect(version != FedSimVersion.current)
      #expect(error.description.contains("this is a result of FedSim \(version)"))
    }
  }
}
