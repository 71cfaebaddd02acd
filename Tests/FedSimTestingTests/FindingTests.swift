import FedSimTesting
import Testing

@Suite("Findings")
struct FindingTests {
  @Test("a finding reads as part, promise and what was found")
  func line() {
    let finding = Finding(part: "mean", check: .finite, message: "parameter 3 is nan")
    #expect(finding.description == "mean, finite: parameter 3 is nan")
  }
}
