import Testing

import FedSim
import Runs

@Suite("Participations by hour and group")
struct GroupHoursTests {
  private static let stages = Stage.allCases.map { "\($0)" }

  @Test("the groups' participations add up to all of them, hour by hour and stage by stage")
  func sums() throws {
    let document = try Night.run("record.hoursByGroup=true").document
    let hours = try #require(document.integers("hours/hour")).count
    #expect(document.integers("hours/group") == [0, 1])
    var seen: [Int64] = [0, 0]
    for stage in Self.stages {
      let whole = try #require(document.integers("hours/\(stage)"))
      let parts = try #require(document.integers("hours/\(stage)ByGroup"))
      #expect(parts.count == 2 * hours)
      for hour in 0..<hours {
        #expect(parts[2 * hour] + parts[2 * hour + 1] == whole[hour], "\(stage), hour \(hour)")
        if stage == "accepted" {
          seen[0] += parts[2 * hour]
          seen[1] += parts[2 * hour + 1]
          // Tablets have windows at 01:00 and at 13:00 only; the run starts at 06:00.
          if parts[2 * hour + 1] > 0 { #expect([7, 19].contains(hour % 24), "hour \(hour)") }
        }
      }
    }
    #expect(seen[0] > 0 && seen[1] > 0)
  }

  @Test("nothing of it is there unless it is asked for")
  func absent() throws {
    let document = try Night.run().document
    #expect(
      document["hours"]?.variables.map(\.name)
        == ["hour"] + Self.stages + ["eventDigest"])
  }
}
