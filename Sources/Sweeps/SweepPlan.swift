import DataSets
import Foundation
import Numerics
import Processes
import Runs
import Scenarios
import Schema

/// A sweep whose cells were all composed and checked: what will be written, and nothing yet is.
public struct SweepPlan {
  /// What is played.
  public let manifest: SweepManifest
  /// The resolved scenario of each cell, in the manifest's order.
  package let texts: [String]

  /// Composes and checks every cell; each variant is checked with the files that it names.
  ///
  /// Throws: `RunFailure.input` with every fault of every variant, equal ones reported once.
  public init(
    _ sweep: Sweep, build: String, store: String, options: RunOptions
  ) throws(RunFailure) {
    var composer = CellComposer(sweep, options)
    composer.compose()
    guard composer.faults.isEmpty else { throw .input(composer.faults) }
    texts = composer.texts
    let scenario = sweep.scenario
    let halving = sweep.settings.halving.map { halving in
      SweepManifest.Halving(
        metric: halving.metric.rawValue, prefersLower: halving.metric.prefersLower,
        keep: halving.keep.fraction, rungs: halving.rungs.map(\.json))
    }
    manifest = SweepManifest(
      name: scenario.settings.name ?? "sweep",
      scenario: URL(fileURLWithPath: scenario.file).standardizedFileURL.path,
      seed: scenario.settings.seed, engineVersion: FedSimVersion.current, build: build,
      store: store, dataFolders: options.searchesInstalledData ? nil : options.dataFolders,
      axes: sweep.axes.map { .init(name: $0.name, path: $0.axis.path) },
      dimensions: sweep.dimensions.map { dimension in
        .init(
          name: dimension.name, length: dimension.points.count, axes: Array(dimension.axes),
          points: dimension.points.map { $0.map(SweepManifest.Value.init) })
      }, variants: sweep.variants.map(\.place), seeds: sweep.seeds,
      targets: sweep.settings.targets, halving: halving, cells: composer.cells,
      files: composer.files)
  }
}

extension SweepManifest.Value {
  /// A value as it is in a scenario.
  init(_ node: Node) {
    if case .scalar(let scalar, _) = node.content { text = scalar } else { text = node.json }
    if case .number(let number, let family) = SweepScalar(node) {
      self.number = number
      unit = family.baseUnit
    }
  }
}

/// Composes the cells of a sweep, and collects what is wrong.
private struct CellComposer {
  private let sweep: Sweep
  private var options: RunOptions
  private(set) var faults: [Fault] = []
  private(set) var cells: [SweepManifest.Cell] = []
  private(set) var texts: [String] = []
  private(set) var files: [SweepManifest.File] = []
  /// The files that each variant reads, as one digest.
  private var fileDigests: [String] = []

  init(_ sweep: Sweep, _ options: RunOptions) {
    self.sweep = sweep
    self.options = options
    self.options.threads = 1
    if options.dataCache == nil { self.options.dataCache = DataCache() }
  }

  mutating func compose() {
    for variant in sweep.variants.indices { check(variant) }
    guard faults.isEmpty else { return }
    let rungs = (sweep.settings.halving?.rungs ?? []).map(Optional.some) + [nil]
    for (rung, stop) in rungs.enumerated() {
      for variant in sweep.variants.indices {
        guard let scenario = scenario(variant, stop) else { continue }
        for replica in 0..<(sweep.seeds?.count ?? 1) {
          let seeded = sweep.seeds.map { scenario.variant(seed: $0[replica]) } ?? scenario
          add(seeded, rung, variant, replica)
        }
      }
    }
  }

  /// Reads all that a variant's first replica names.
  private mutating func check(_ variant: Int) {
    guard let scenario = scenario(variant, nil) else { return }
    let witness = FileWitness()
    do throws(RunFailure) {
      try witness.watch { () throws(RunFailure) in try Run.check(scenario, options) }
    } catch {
      if case .input(let found) = error { report(found) }
      return
    }
    var digest = SHA256()
    for path in witness.paths.map(Self.whole) {
      if let file = files.first(where: { $0.path == path }) {
        digest.update(file.digest.utf8)
      } else {
        let file = SweepManifest.File(path: path, digest: FileDigest.digest(ofFile: path) ?? "")
        digest.update(file.digest.utf8)
        files.append(file)
      }
    }
    fileDigests.append(witness.paths.isEmpty ? "" : digest.hexDigest())
  }

  /// Cells may be played in another folder than this. Links on the way stay what they are.
  private static func whole(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  /// A variant with the scenario's own seed, or that of its axis.
  private mutating func scenario(_ variant: Int, _ stop: Node?) -> Scenario? {
    var values = zip(sweep.axes, sweep.variants[variant].values).map { axis, value in
      // The values of a range are written nowhere: its axis is.
      let place = value.place == .none ? axis.axis.place : value.place
      return VariantValue(
        path: axis.axis.path, place: axis.axis.place, value: Node(value.content, at: place))
    }
    if let stop { values.append(VariantValue(path: "stop", place: stop.place, value: stop)) }
    do throws(Faults) {
      return try sweep.scenario.variant(values)
    } catch {
      report(error.faults.map(advised))
      return nil
    }
  }

  /// A fault of a value in a range, with what to do about it.
  private func advised(_ fault: Fault) -> Fault {
    guard case .unexpected(let found, let expected) = fault.problem,
      expected.hasPrefix("a whole number"),
      let axis = sweep.axes.first(where: { $0.axis.place == fault.place })?.axis,
      case .range(let range) = axis.domain, !range.integer, range.multipleOf == nil
    else { return fault }
    var fault = fault
    fault.problem = .unexpected(
      found: found, expected: expected + "; `integer: true` makes a range's values whole")
    return fault
  }

  private mutating func report(_ found: [Fault]) {
    for fault in found where !faults.contains(fault) { faults.append(fault) }
  }

  private mutating func add(_ scenario: Scenario, _ rung: Int, _ variant: Int, _ replica: Int) {
    let digest = scenario.digest
    texts.append(scenario.resolvedText)
    cells.append(
      SweepManifest.Cell(
        id: CellIdentity.id(scenario: digest, files: fileDigests[variant]), scenario: digest,
        variant: variant, replica: replica, rung: rung))
  }
}

/// What a cell is called, in this sweep and in any other.
public enum CellIdentity {
  /// The versions of the engine and of what its results hold.
  public static var version: String { "\(FedSimVersion.current)/\(FedSimVersion.resultSchema)" }

  /// The id of a run: 32 hexadecimal digits of the SHA-256 of these versions, the resolved
  /// scenario's digest, and that of the files that it reads.
  public static func id(
    scenario: String, files: String, engineVersion: String = version
  ) -> String {
    var digest = SHA256()
    digest.update("FedSim cell 1\n\(engineVersion)\n\(scenario)\n\(files)\n".utf8)
    return String(digest.hexDigest().prefix(32))
  }
}

/// Digests of files by their bytes.
public enum FileDigest {
  /// The digest of a file; nil where it cannot be read.
  public static func digest(ofFile path: String) -> String? {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    else { return nil }
    var digest = Digest()
    data.withUnsafeBytes { digest.combine(bytes: $0) }
    return digest.value.hexDigits
  }

  /// The digest of the program that runs.
  public static var ofThisProgram: String {
    digest(ofFile: ThisProgram.path) ?? "unknown"
  }
}
