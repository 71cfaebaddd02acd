import Testing

/// A rule about the source tree, with its own proof that it can fail.
struct Rule: Sendable, CustomTestStringConvertible {
  /// What it demands, as a sentence.
  let name: String
  /// Sources that break it, one violation at least in each set.
  let planted: [[Source]]
  /// Sources near to those that keep it.
  let allowed: [[Source]]
  /// The violations in a tree.
  let check: @Sendable ([Source]) -> [Violation]
  /// The same of this project's tree, which may be forgiven some.
  var checkTree: @Sendable ([Source]) -> [Violation]
  /// What it is forgiven without need.
  var notes: @Sendable ([Source]) -> [String] = { _ in [] }

  var testDescription: String { name }

  init(
    _ name: String, planted: [[Source]], allowed: [[Source]] = [],
    check: @escaping @Sendable ([Source]) -> [Violation]
  ) {
    self.name = name
    self.planted = planted
    self.allowed = allowed
    self.check = check
    checkTree = check
  }

  /// A rule that looks at one file at a time.
  static func perFile(
    _ name: String, planted: [Source], allowed: [Source] = [],
    check: @escaping @Sendable (Source) -> [Violation]
  ) -> Rule {
    Rule(name, planted: planted.map { [$0] }, allowed: allowed.map { [$0] }) { sources in
      sources.flatMap(check)
    }
  }

  static let all: [Rule] = [
    .mapNames, .mapPlaces, .mapRows, .mapFolders, .readmes,
    .imports, .noTestable, .bans, .compilerFlags, .noUnorderedIteration, .noContraction,
    .fileSize, .lineWidth, .functionSize, .members, .storedProperties, .loopAndQueue,
    .folderCycles, .extensionsAstray, .documented, .repeatedDocLines, .noUnfinishedWork,
    .noEmptyNouns, .seamSize, .noPartCasts, .wholeSwitches, .parties,
    .plainTexts, .plainComments, .plainTestNames, .plainPages,
  ]
}
