/// What the tree still breaks of rules that have a limit: today's figures, which can only shrink.
///
/// A figure that is above its line here fails; one that is below says so, and the line follows it
/// down or goes. Nothing else has to be edited as the engine is taken apart.
enum KnownExceptions {
  /// Types of FedSim with more than 80 members.
  static let members: [String: Int] = [:]

  /// Types of FedSim with more than 20 stored properties. These are plain records of settings
  /// (`ServerSettings`, `FleetGroupSettings`), whose properties are the keys of scenario files.
  static let storedProperties = ["ServerSettings": 33, "FleetGroupSettings": 28]

  /// Lines of loop and queue, of which there are to be fewer than 800.
  static let loopAndQueue = ["lines": 912]

  /// Pairs of folders of FedSim one of which names a type of the other and can be reached from it.
  static let folderCycles = ["edges": 24]

  /// Extensions that are not in the folder of their type.
  static let extensionsAstray = ["extensions": 18]

  /// Idioms by file that cannot go: words of result files are made of these texts.
  static let idioms: [String: [String]] = [:]
}
