import FedSim
import Results
import Runs
import Scenarios
import Testing

@Suite("What a result file says of the fleet")
struct FleetColumnsTests {
  @Test("classes, reasons, comings and goings, and samples that came, where groups ask for them")
  func columns() throws {
    // Three devices: two seconds of presence, no sample before a day, and an old system.
    let scenario = try Scenario(
      text: """
        stop: {after: 60 s}
        task:
          data: {source: {blobs: {classes: 3, train: 30}}, partition: {iid: {clients: 3}}}
          model: {mlp: [4]}
        fleet:
          - name: a
            count: 1
            presence: {fixed: {intervals: [{from: 1 s, to: 3 s}]}}
          - {name: b, count: 1, arrival: {initial: 0.5, schedule: [{at: 1 d, share: 1}]}}
          - name: c
            count: 1
            hardware: {classes: iphone-8, minimumOSVersion: 17}
            background: {windows: {fixed: open}}
        """)
    var simulation = try scenario.makeSimulation()
    let recorder = RunRecorder()
    simulation.run(observers: [recorder])
    #expect(simulation.deviceRecords.map { $0.hardware?.name } == [nil, nil, "iphone-8"])
    #expect(simulation.deviceRecords.map { $0.hardware?.unfitness } == [nil, nil, .osVersion])
    #expect(simulation.deviceRecords.map { $0.presence?.total } == [.seconds(2), nil, nil])
    #expect(simulation.deviceRecords.map(\.arrived) == [nil, 5, nil])
    let document = recorder.document(simulation, of: scenario)
    try document.validate()
    #expect(document.variable("devices/declines")?.values == .int8([0, 0, 1]))
    #expect(document.integers("devices/joins") == [1, 0, 0])
    #expect(document.integers("devices/leaves") == [1, 0, 0])
    #expect(document.integers("devices/samplesArrived") == [10, 5, 10])
    #expect(document.integers("ledger/declinedSessions") == [1])
    #expect(document.integers("ledger/leaves") == [1])
  }
}
