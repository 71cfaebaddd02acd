import FedSim
import Results
import Runs
import Scenarios
import Testing

@Suite("Identities in result files")
struct IdentityResultTests {
  private let text = Night.text.replacing(
    "  - name: tablets",
    with: "    authentication: {}\n    registration: {}\n    heartbeats: {}\n"
      + "    clock: {skewSpread: 10 min, driftSpread: 20}\n  - name: tablets")

  private func run(_ options: RunOptions = RunOptions()) throws -> (Simulation, ResultDocument) {
    let scenario = try Scenario(text: text, file: "night.yaml")
    var simulation = try scenario.makeSimulation(options)
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    return (simulation, recorder.document(simulation, of: scenario))
  }

  private func count(_ document: ResultDocument, _ name: String) -> Int64 {
    guard case .int64(let values)? = document.variable("identity/\(name)")?.values else {
      return -1
    }
    return values[0]
  }

  @Test("the group has what was sent and believed, and it adds up")
  func counts() throws {
    let (simulation, document) = try run()
    let due = count(document, "heartbeatsDue")
    let parts = ["Withheld", "Unsent", "Succeeded", "Failed", "Unfinished"]
    #expect(due > 0)
    #expect(due == parts.reduce(0) { $0 + count(document, "heartbeats\($1)") })
    // Nine phones, each with its own number, for two days each.
    #expect(count(document, "registered") == 9)
    #expect(count(document, "bootstraps") == 9)
    guard case .double(let times)? = document.variable("identity/presence")?.values else {
      Issue.record("no presence")
      return
    }
    #expect(times.count == 9)
    let present = times.reduce(0, +)
    #expect(abs(present - 9 * 172_800) < 1e-3)
    // Nothing was refused, so these ends are not listed.
    #expect(
      document["ledger"]?.axes.first { $0.name == "transmissionOutcome" }?.length
        == TransmissionOutcome.allCases.count - TransmissionOutcome.rare.count)
    #expect(simulation.books.ledgers.transmissions[.unauthorised] == 0)
  }

  @Test("two threads and eager computing give the same")
  func same() throws {
    var other = RunOptions()
    other.threads = 2
    other.compute = .eager
    #expect(try run().1.contentDigest == run(other).1.contentDigest)
  }
}
