import ArgumentParser
import Runs
import Scenarios

/// `fedsim list`.
struct ListCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the contents of scenarios: sections, seams and their parts.")

  @Argument(help: "Only the parts of this seam, such as aggregator; or policy, profile, kernels.")
  var seam: String?

  @Flag(help: "Print the list as JSON.")
  var json = false

  func run(_ registry: Registry) -> Int32 {
    let listing = Listing(registry)
    var wanted: String?
    if let seam {
      wanted = listing.seam(named: seam)
      guard wanted != nil else { return refuse(seam, listing) }
    }
    Output.out(json ? listing.json(wanted) : listing.text(wanted))
    return 0
  }

  private func refuse(_ seam: String, _ listing: Listing) -> Int32 {
    let sections = listing.sections(of: seam).map {
      "`fedsim list \($0.replacing(" ", with: "-"))`"
    }
    if !sections.isEmpty {
      Output.error("`\(seam)` is no seam, and is listed by " + sections.joined(separator: " and "))
      return 2
    }
    let alike = listing.seams(withWord: seam)
    let known = listing.seams + listing.parts.map(\.name)
    let nearest = SpellingSuggestion.word(to: seam, among: known).map { [$0] } ?? []
    let meant = alike.isEmpty ? nearest : alike
    let advice =
      meant.isEmpty
      ? "seams: \(listing.seams.joined(separator: ", ")); the keys of scenarios: `fedsim list`"
      : "did you mean \(meant.map { "`\($0)`" }.joined(separator: " or "))?"
    Output.error("there is no seam `\(seam)`; \(advice)")
    return 2
  }
}
