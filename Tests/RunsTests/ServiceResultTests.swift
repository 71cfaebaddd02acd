import FedSim
import Results
import Runs
import Scenarios
import Testing

@Suite("A server that takes time in result files")
struct ServiceResultTests {
  @Test("the ledger says what came and its outcome, where there is a queue")
  func counts() throws {
    let (simulation, document) = try Night.run(
      "server.service.time=2 min", "server.service.distribution=exponential")
    func count(_ name: String) -> Int {
      guard case .int64(let values)? = document.variable("ledger/\(name)")?.values else {
        return -1
      }
      return Int(values[0])
    }
    #expect(count("serviceRequests") > 20)
    #expect(count("serviceServed") > 10)
    #expect(count("serviceServed") <= count("serviceRequests"))
    #expect(count("serviceDelayed") > 0)
    #expect(count("serviceLost") == 0)
    #expect(count("serviceLongestQueue") > 0)
    guard case .double(let wait)? = document.variable("ledger/serviceWait")?.values else {
      Issue.record("no sum of waits")
      return
    }
    #expect(wait == [simulation.serverRecord.serviceTallies!.waited.seconds])
    #expect(wait[0] > 0)
  }

  @Test("where there is none, neither result nor resolved scenario speaks of it")
  func absent() throws {
    let document = try Night.run().document
    #expect(document["ledger"] != nil)
    #expect(document["ledger"]?.variables.contains { $0.name.hasPrefix("service") } == false)
    #expect(try !Night.scenario().resolvedText.contains("service"))
    #expect(try Night.scenario("server.service.time=1 s").resolvedText.contains("service"))
  }

  @Test("a service time is needed, and a worker")
  func faults() {
    #expect(throws: (any Error).self) { try Night.scenario("server.service.workers=2") }
    #expect(throws: (any Error).self) {
      try Night.scenario("server.service.time=1 s", "server.service.workers=0")
    }
  }
}
