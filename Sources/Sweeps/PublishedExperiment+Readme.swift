import Foundation

extension PublishedExperiment {
  /// Whether there is a sweep to play; a folder without one describes what another command plays.
  public var isPlayed: Bool { FileManager.default.fileExists(atPath: sweepPath) }

  /// The first heading of README.md: paper and subject; the folder's name where there is none.
  public var title: String {
    let heading = readme.first { $0.hasPrefix("# ") }
    return heading.map { String($0.dropFirst(2)) } ?? name
  }

  /// What README.md says under `## Verdict`, up to the next heading; empty where it says nothing.
  public var verdict: String {
    let after = readme.drop { $0 != "## Verdict" }.dropFirst()
    let lines = after.prefix { !$0.hasPrefix("#") }
    return lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
  }

  /// The lines of README.md; none where there is no such file.
  private var readme: [Substring] {
    let text = (try? String(contentsOfFile: "\(path)/README.md", encoding: .utf8)) ?? ""
    return text.split(separator: "\n", omittingEmptySubsequences: false)
  }
}
