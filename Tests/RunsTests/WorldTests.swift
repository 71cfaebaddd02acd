import Testing

import FedSim
import Runs
import Scenarios

@Suite("The world does not know the policy")
struct WorldTests {
  private func names(_ simulation: Simulation) -> [String] {
    (0..<simulation.inputs.deviceCount).map { simulation.path(of: $0) }
  }

  @Test("another policy leaves every device's series, partition and batch orders as they are")
  func policy() throws {
    let open = try Night.run().simulation
    let other = try Night.run(
      "server.payload=weights", "server.trigger={threshold: 1}", "server.aggregator=uniform-mean",
      "fleet.phones.interruption.onExpiry=discard"
    ).simulation
    #expect(open.eventDigest != other.eventDigest)
    #expect(open.deviceRecords.map(\.exogenousDigest) == other.deviceRecords.map(\.exogenousDigest))
    #expect(open.inputs.task.partition == other.inputs.task.partition)
    for device in 0..<12 {
      #expect(
        open.deviceRecords.orderDigest(of: device, epochs: 5)
          == other.deviceRecords.orderDigest(of: device, epochs: 5))
    }
    #expect(open.inputs.task.initial.values == other.inputs.task.initial.values)
  }

  @Test(
    "another device in a group leaves the others as they are", arguments: ["phones", "tablets"])
  func oneMore(group: String) throws {
    let before = try Night.run().simulation
    let count = group == "phones" ? 10 : 4
    let after = try Night.run("fleet.\(group).count=\(count)").simulation
    var digests: [String: UInt64] = [:]
    for (name, device) in zip(names(after), after.deviceRecords) {
      digests[name] = device.exogenousDigest
    }
    #expect(digests.count == 13)
    for (device, name) in names(before).enumerated() {
      #expect(digests[name] == before.deviceRecords[device].exogenousDigest, "\(name)")
    }
    #expect(before.inputs.task.partition == after.inputs.task.partition)
    // Phones come first in the fleet, so both numbers and clients of theirs stay.
    for device in 0..<9 {
      #expect(before.path(of: device) == after.path(of: device))
      #expect(
        before.deviceRecords.orderDigest(of: device, epochs: 3)
          == after.deviceRecords.orderDigest(of: device, epochs: 3))
      #expect(before.deviceRecords[device].client == after.deviceRecords[device].client)
    }
    let differing = Set(before.deviceRecords.map(\.exogenousDigest)).count
    #expect(differing > 6, "the devices' series differ from one another")
  }
}
