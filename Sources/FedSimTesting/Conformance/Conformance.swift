import FedSim
import Learning
import Schema

/// Checks that a policy keeps what the engine, saved runs and comparisons rely on.
///
/// A check of a part calls it with made-up values first; what survives that is played in a small
/// world of 16 devices for 12 hours, several times. The world is larger, longer or faster where the
/// policy says that it needs more: cohorts, thresholds, deadlines. The result is a list of
/// findings, empty for a part that keeps everything:
/// `#expect(Conformance().findings(of: MyPart.self) == [])`.
public struct Conformance: Sendable {
  /// Promises that are not looked at, because the part breaks them on purpose.
  public var skipped: [Check]

  /// Checks of everything but some promises.
  public init(skipping skipped: [Check] = []) { self.skipped = skipped }

  // MARK: One part

  /// What an aggregator breaks.
  public func findings<P: Aggregator>(
    of type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> [Finding] { aggregator { .part(type, settings) } }

  /// What an aggregation trigger breaks.
  public func findings<P: AggregationTrigger>(
    of type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> [Finding] { trigger { .part(type, settings) } }

  /// What a client selector breaks.
  public func findings<P: ClientSelector>(
    of type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> [Finding] { selector { .part(type, settings) } }

  /// What an update transform breaks.
  public func findings<P: UpdateTransform>(
    of type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> [Finding] { transform { .part(type, settings) } }

  /// What a server optimizer breaks.
  public func findings<P: ServerOptimizer>(
    of type: P.Type, _ settings: P.Settings = P.Settings()
  ) -> [Finding] { optimizer { .part(type, settings) } }

  // MARK: Whole policies, and parts by name

  /// What a whole policy breaks; `make` gives its settings, with parts made again where that is
  /// possible, such as those of a scenario that is read again.
  public func findings(
    ofPolicy name: String, _ make: () -> ServerSettings
  ) -> [Finding] {
    var findings = Findings(name, skipping: skipped)
    PolicyWorld.check(make, &findings)
    return findings.list
  }

  /// The keys of a server's settings that are not played: they need the scenario's task and world.
  public static func unplayed(_ server: ServerSettings) -> [String] {
    PolicyWorld.unplayed(server)
  }

  /// The seams whose parts can be checked by name.
  public static let seams = [
    Seam.clientSelector.name, Seam.aggregationTrigger.name, Seam.updateTransform.name,
    Seam.aggregator.name, Seam.serverOptimizer.name,
  ]

  /// What a part of a catalog breaks, by the names of its seam and its own; nothing where the seam
  /// is not one of `seams`.
  ///
  /// `settings` are as they would be written, such as `.mapping([("share", .text("0.5"))])`; files
  /// are named from `folder`.
  public func findings(
    of name: String, in seam: String, _ settings: Node = Node(.null), from catalog: Catalog,
    folder: String = "."
  ) -> [Finding] {
    let written = Written(name: name, settings: settings, catalog: catalog, folder: folder)
    switch seam {
    case Seam.aggregator.name: return check(written, .aggregator, aggregator)
    case Seam.aggregationTrigger.name: return check(written, .aggregationTrigger, trigger)
    case Seam.clientSelector.name: return check(written, .clientSelector, selector)
    case Seam.updateTransform.name: return check(written, .updateTransform, transform)
    case Seam.serverOptimizer.name: return check(written, .serverOptimizer, optimizer)
    default: return []
    }
  }

  private func check<Value>(
    _ written: Written, _ seam: Seam<Value>, _ check: (() -> Choice<Value>) -> [Finding]
  ) -> [Finding] {
    let (choice, faults) = written.read(seam)
    guard choice != nil else {
      let message = faults.map(\.description).joined(separator: "; ")
      return [Finding(part: written.name, check: .shape, message: message)]
    }
    // The same text is read to the same part each time.
    return check { written.read(seam).choice! }
  }
}

/// A part as it is written in a scenario.
private struct Written {
  let name: String
  let settings: Node
  let catalog: Catalog
  let folder: String

  /// The part, made again; nil with faults.
  func read<Value>(_ seam: Seam<Value>) -> (choice: Choice<Value>?, faults: [Fault]) {
    var reader = Reader(catalog: catalog, folder: folder)
    let choice = reader.readPart(.mapping([(name, settings)]), seam)
    return (reader.faults.isEmpty ? choice : nil, reader.faults)
  }
}
