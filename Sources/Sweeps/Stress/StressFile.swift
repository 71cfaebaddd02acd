import Foundation
import Results
import Runs
import Scenarios
import Schema

/// The scenario that a failing world is written as: at most thirty lines, complete in themselves.
struct StressFile {
  /// The most lines of a file, its head included.
  static let mostLines = 30

  /// Where files are written.
  struct Place {
    /// The folder, with its `/`; empty: the one that the program runs in.
    let folder: String
    /// What begins the files' names.
    let stem: String
    /// What goes before relative paths of the scenario.
    let way: String

    init(_ scenario: Scenario, folder: String?) {
      let own = scenario.file.lastIndex(of: "/").map { String(scenario.file[...$0]) } ?? ""
      let file = scenario.file.dropFirst(own.count)
      stem = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? String(file)
      guard let folder else {
        (self.folder, way) = (own, "")
        return
      }
      self.folder = folder.hasSuffix("/") || folder.isEmpty ? folder : folder + "/"
      way = URL(fileURLWithPath: own.isEmpty ? "." : own).standardizedFileURL.path + "/"
    }

    /// The path of a file.
    func path(_ number: Int) -> String { "\(folder)\(stem).stress-\(number).yaml" }

    /// Throws: `RunFailure` where no file can be placed there.
    func check() throws(RunFailure) {
      do throws(ResultFault) {
        _ = try PlacedFile(path(1))
      } catch {
        throw .output(error)
      }
    }
  }

  let scenario: Scenario
  let world: World
  let number: Int
  let finding: Trial.Finding
  let needsReplay: Bool
  private(set) var lineCount = 0

  init(
    scenario: Scenario, world: World, number: Int, finding: Trial.Finding, needsReplay: Bool
  ) {
    (self.scenario, self.world, self.number) = (scenario, world, number)
    (self.finding, self.needsReplay) = (finding, needsReplay)
  }

  /// The command that shows the failure.
  func command(_ path: String) -> String {
    let ties = world.shakeTies.map { " --shake-ties \($0)" } ?? ""
    return needsReplay
      ? "fedsim stress \(path) --seeds 1\(ties)" : "fedsim run \(path) --audit\(ties)"
  }

  private func text(_ path: String, _ way: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let source = scenario.file.split(separator: "/").last.map(String.init) ?? scenario.file
    let seed = scenario.settings.seed
    let world = number == 0 ? "unmodified" : "world \(number) of seed \(seed)"
    let head = [
      "# \(Self.line(finding.text))",
      "# Found by `fedsim stress \(source)`: \(world), shrunk.",
      "#   \(command(name))",
    ]
    let node = scenario.moved(self.world.node, from: way)
    let body = node.compactYAML(mostLines: Self.mostLines - head.count)
    return (head + body).joined(separator: "\n") + "\n"
  }

  /// A text on one line, without what would end a comment.
  private static func line(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 }.prefix(160))
  }

  /// Writes the file under the next number that is free, or finds it there; its path.
  mutating func place(_ place: Place) throws(RunFailure) -> String {
    for number in 1... {
      let path = place.path(number)
      let text = text(path, place.way)
      lineCount = text.count { $0 == "\n" }
      if let there = FileManager.default.contents(atPath: path) {
        if there == Data(text.utf8) { return path }
        continue
      }
      do throws(ResultFault) {
        try PlacedFile.place(Array(text.utf8), at: path)
      } catch {
        // The place was looked at before the search.
        throw .failed("\(error); finding: \(finding.text)")
      }
      return path
    }
    preconditionFailure("some number is free")
  }
}
