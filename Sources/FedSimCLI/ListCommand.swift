import ArgumentParser
import Runs
import Scenarios

/// `fedsim list`.
struct ListCommand: RegistryCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List what a scenario may say: sections, seams and their parts.")

  @Argument(help: "Only the parts of this seam, such as aggregator; or policy, profile, kernels.")
  var seam: String?

  @Flag(help: "The list as JSON.")
  var json = false

  @Flag(help: "The JSON Schema of scenarios, for editors.")
  var jsonSchema = false

  func run(_ registry: Registry) -> Int32 {
    let listing = Listing(registry)
    if jsonSchema {
      Output.out(listing.schema)
      return 0
    }
    var wanted: String?
    if let seam {
      wanted = listing.seam(named: seam)
      guard wanted != nil else { return refuse(seam, listing.seams) }
    }
    Output.out(json ? listing.json : listing.text(wanted))
    return 0
  }

  private func refuse(_ seam: String, _ known: [String]) -> Int32 {
    let nearest = Nearest.word(to: seam, among: known).map { "did you mean `\($0)`?" }
    Output.error(
      "there is no seam `\(seam)`; \(nearest ?? "seams: \(known.joined(separator: ", "))")")
    return 2
  }
}
