import FedSim
import Results
import Runs
import Testing

@Suite("The table of updates")
struct UpdateTableTests {
  @Test("It adds up to the versions, to the devices and to the ledger")
  func sums() throws {
    let document = try Night.run("record.updates=true").document
    func column(_ name: String, in table: String = "updates") throws -> [Double] {
      try #require(document[table]?[variable: name]?.values.asDoubles)
    }
    let (into, losses) = (try column("version"), try column("trainingLoss"))
    let processed = try column("samplesProcessed")
    let trainingLoss = try column("trainingLoss", in: "versions")
    let counts = try column("updates", in: "versions")
    try #require(trainingLoss.count > 2)
    for version in 1..<trainingLoss.count {
      let places = into.indices.filter { into[$0] == Double(version) }
      #expect(Double(places.count) == counts[version])
      let sum = places.reduce(0.0) { $0 + losses[$1] * processed[$1] }
      let mean = sum / places.reduce(0.0) { $0 + processed[$1] }
      #expect(abs(mean - trainingLoss[version]) < 1e-12, "version \(version)")
    }
    let made = try column("updates", in: "devices")
    let makers = try column("device")
    #expect(made.indices.map { d in Double(makers.count { $0 == Double(d) }) } == made)
    // They are in the order of their making.
    let times = try column("createdAt")
    #expect(times == times.sorted())
    let clients = try column("client", in: "devices")
    #expect(try column("client") == makers.map { clients[Int($0)] })
  }

  @Test("It is there only where it was asked for")
  func off() throws {
    #expect(try !Night.run().document.root.groups.contains(where: { $0.name == "updates" }))
  }
}
