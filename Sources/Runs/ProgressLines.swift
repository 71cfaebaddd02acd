import FedSim
import Schema

/// Tells a program of a running run: a line of JSON for each version, and about one per second for
/// the time that has passed.
public final class ProgressLines: Observer {
  /// There is a status to tell between versions.
  public let wantsAdvance = true
  private let write: (String) -> Void
  private var next = ContinuousClock.now

  /// Lines for this function, without line ends.
  public init(_ write: @escaping (String) -> Void) { self.write = write }

  /// Tells how far the run is, if it is time.
  public func advanced(_ simulation: borrowing Simulation) {
    guard ContinuousClock.now >= next else { return }
    next = ContinuousClock.now + .seconds(1)
    let time = simulation.progressTime.seconds
    let share = min(1, time / max(simulation.end.seconds, 1e-6))
    write(
      Self.line(
        "status",
        [
          ("time", Self.number(time)), ("share", Self.number(share)),
          ("version", "\(simulation.version)"),
        ]))
  }

  /// Tells of a version: all columns of the table of versions that are known now.
  public func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {
    let inputs = simulation.inputs
    // Without records nobody asks when the server used a version, which is known later only.
    let series = VersionSeries([], of: inputs, at: record.publishedAt)
    let columns = VersionColumn.all.filter { $0.presence.holds(inputs) }
    write(
      Self.line(
        "version", columns.map { ($0.name, Self.text($0.value(record, series), $0.kind)) }))
  }

  /// Tells of a version that was trained centrally.
  public func publishedCentrally(_ version: CentralVersion, _ simulation: borrowing Simulation) {
    let isError = simulation.inputs.task.test.kind == .values
    let own = version.userAccuracy.isNaN ? nil : version.userAccuracy
    let score = version.evaluation?.score(simulation.inputs.task.test.kind) ?? own
    write(
      Self.line(
        "central",
        [
          ("model", Text.jsonString(simulation.collection.tasks[version.model].name)),
          ("version", "\(version.version)"),
          ("publishedAt", Self.number(version.publishedAt.seconds)), ("files", "\(version.files)"),
          ("trainingLoss", Self.number(version.trainingLoss)),
          (isError ? "rmse" : "accuracy", Self.number(score ?? .nan)),
        ]))
  }

  private static func line(_ kind: String, _ fields: [(name: String, value: String)]) -> String {
    let all = [(name: "kind", value: Text.jsonString(kind))] + fields
    return "{" + all.map { "\(Text.jsonString($0.name)):\($0.value)" }.joined(separator: ",") + "}"
  }

  private static func text(_ value: ColumnValue, _ kind: VersionColumn.Kind) -> String {
    switch (value, kind) {
    case (.integer(let number), _): "\(number)"
    case (.code(let place), .code(let words)): Text.jsonString(words[Int(place)])
    default: number(value.asDouble)
    }
  }

  /// The shortest text that is read as the same number; what is not finite is none.
  private static func number(_ number: Double) -> String {
    number.isFinite ? Text.shortest(number) : "null"
  }
}
