import Foundation
import Runs
import Scenarios
import Schema

/// The way from a scenario to a sweep's folder that can be played.
public struct SweepPreparation {
  /// A sweep that can be played.
  public struct Prepared {
    /// Its folder.
    public let folder: SweepFolder
    /// How many cells it may need.
    public let cells: Int
    /// How many of them are in its list: those of the first rung.
    public let listed: Int
    /// What its user should know.
    public let notice: String?
  }

  /// The sweep's folder.
  public let folder: SweepFolder
  private let scenario: Scenario
  private let store: String?
  private var options: RunOptions

  /// A sweep of a scenario; without an output in `results/NAME`.
  public init(_ scenario: Scenario, output: String?, store: String?, options: RunOptions) {
    let name = (scenario.settings.name ?? "sweep").replacing("/", with: "-")
    self.scenario = scenario
    folder = SweepFolder(output ?? "results/\(name)")
    self.store = store.map(Self.whole)
    self.options = options
    // Cells may be played in another folder than this.
    self.options.dataFolders = options.dataFolders.map(Self.whole)
  }

  private static func whole(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
  }

  /// Next to the sweep's folder, so that its neighbours share it; of one build, so that no result
  /// of another program is taken for one of this.
  private func standardStore(_ build: String) -> String {
    let parent = URL(fileURLWithPath: Self.whole(folder.path)).deletingLastPathComponent().path
    return (parent == "/" ? "" : parent) + "/cells/\(FedSimVersion.current)-\(build.prefix(8))"
  }

  private func plan(_ build: String) throws(RunFailure) -> SweepPlan {
    let sweep: Sweep
    do throws(Faults) { sweep = try Sweep(scenario) } catch { throw .input(error.faults) }
    return try SweepPlan(
      sweep, build: build, store: store ?? standardStore(build), options: options)
  }

  /// Checks the section and every variant, and writes nothing.
  public static func check(_ scenario: Scenario, _ options: RunOptions) throws(RunFailure) {
    _ = try SweepPreparation(scenario, output: nil, store: nil, options: options).plan("")
  }

  /// Writes the manifest with all scenarios, or finds the one that is there.
  ///
  /// Throws: `RunFailure.input` with every fault of every variant; also where the folder holds
  /// another sweep, or a file that cells read has changed since.
  public func begin() throws(RunFailure) -> Prepared {
    let build = FileDigest.ofThisProgram
    let plan = try plan(build)
    let (cells, listed) = (plan.manifest.cells.count, plan.manifest.cells(ofRung: 0).count)
    guard folder.exists else {
      try folder.write(plan)
      return Prepared(folder: folder, cells: cells, listed: listed, notice: nil)
    }
    let old = try folder.manifest()
    guard plan.manifest.asksForTheSame(as: old) else {
      throw SweepFolder.refusal(
        folder.path,
        "\(difference(from: old, to: plan.manifest)); give another --output, or remove the folder")
    }
    try folder.writeMissing(plan)
    if old.build == build, store == nil || store == old.store {
      return Prepared(folder: folder, cells: cells, listed: listed, notice: nil)
    }
    let lock = try SweepLock(folder, nil)
    defer { _ = lock }
    // What failed in another program may go well in this one. Before the manifest names this build:
    // a start that is cut off here forgets again.
    if old.build != build { folder.forgetFailures(of: plan.manifest) }
    try folder.write(plan)
    guard old.build != build else {
      return Prepared(folder: folder, cells: cells, listed: listed, notice: nil)
    }
    let notice =
      store == nil
      ? "note: another build of fedsim began this sweep; its cells are played again"
        + " (--store \(old.store) reuses its finished cells)"
      : "note: another build of fedsim began this sweep"
    return Prepared(folder: folder, cells: cells, listed: listed, notice: notice)
  }

  private func difference(from old: SweepManifest, to new: SweepManifest) -> String {
    for (a, b) in zip(old.files, new.files) where a.digest != b.digest {
      return "\(b.path) has changed since this sweep began"
    }
    return "this folder contains another sweep than the scenario's"
  }

  // MARK: For people

  /// The cells, one per line, as they would be played; of a shard its own.
  ///
  /// Throws: `RunFailure.input` for every fault, and for a shard of a sweep with rungs.
  public func listing(_ shard: Shard? = nil) throws(RunFailure) -> String {
    let build = FileDigest.ofThisProgram
    let manifest = try plan(build).manifest
    if let shard, manifest.halving != nil {
      throw SweepFolder.refusal(
        "--shard \(shard.number)/\(shard.count)",
        "with `halving` the cells of a shard are known only after each rung; leave out --dry-run")
    }
    let store = CellStore(manifest.store)
    var lines = ["variants \(manifest.variants.count), replicas \(manifest.replicas)"]
    if let halving = manifest.halving {
      lines[0] += ", rungs \(manifest.rungs) by \(halving.metric)"
    }
    var (there, listed) = (0, 0)
    // The place among different cells, as the driver counts them.
    var places: [String: Int] = [:]
    for cell in manifest.cells(ofRung: manifest.rungs - 1) {
      let next = places.count
      let place = places[cell.id, default: next]
      places[cell.id] = place
      guard shard?.has(place) ?? true else { continue }
      listed += 1
      let values = zip(manifest.axes, manifest.values(of: cell.variant)).map { axis, value in
        "\(axis.name)=\(value.text)"
      }
      let seed = manifest.seeds?[cell.replica] ?? manifest.seed
      var line = "\(cell.id)  variant \(cell.variant)  replica \(cell.replica)  "
      line += (["seed=\(seed)"] + values).joined(separator: "  ")
      if store.mayHave(cell.id) {
        line += "  (there)"
        there += 1
      }
      lines.append(line)
    }
    let count = manifest.variants.count * manifest.replicas
    let cells = shard == nil ? "\(count) cells" : "\(listed) of \(count) cells"
    lines.append("\(cells), \(there) of them finished; folder \(folder.path)")
    return lines.joined(separator: "\n")
  }
}
