import FedSim
import Foundation
import Runs
import Scenarios
import Testing

/// What `fedsim list` prints, for people and for programs.
struct ListingTests {
  private let listing = Listing(.standard)

  private func names(_ key: String) throws -> [String] {
    let json = try JSONSerialization.jsonObject(with: Data(listing.json().utf8))
    let entries = try #require((json as? [String: Any])?[key] as? [[String: Any]])
    return entries.compactMap { $0["name"] as? String }
  }

  @Test(
    "the JSON has the policies, profiles and kernels that the text has",
    arguments: [
      ("policies", "policy", "pygrid"), ("profiles", "profile", "iphone"),
      ("kernels", "kernels", "baseline"),
    ])
  func presets(_ key: String, _ seam: String, _ example: String) throws {
    let names = try names(key)
    #expect(names.contains(example), "\(names)")
    let heads = listing.text(seam).split(separator: "\n").compactMap { line -> String? in
      guard line.hasPrefix("  "), !line.hasPrefix("   ") else { return nil }
      return line.dropFirst(2).split(separator: ":").first.map(String.init)
    }
    #expect(heads == names)
  }

  @Test("no line of the list is longer than 120 characters, and settings break behind commas")
  func widths() {
    let lines = listing.text().split(separator: "\n", omittingEmptySubsequences: false)
    let long = lines.filter { $0.count > PartListing.mostColumns }
    #expect(long.isEmpty, "\(long)")
    #expect(lines.allSatisfy { $0.last != " " })
    // Put together again, the settings of a preset are those of the JSON.
    for preset in FleetProfile.standard {
      let all = lines.drop { !$0.hasPrefix("  \(preset.name): \(preset.summary.prefix(60))") }
        .drop { !$0.hasPrefix("    {") }.prefix { !$0.isEmpty }
      let text = all.map { $0.drop { $0 == " " } }.joined()
      #expect(text == preset.settings.json, "\(preset.name)")
    }
  }
}
