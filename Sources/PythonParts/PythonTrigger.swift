import FedSim
import Schema

/// A trigger in Python.
public struct PythonTrigger: AggregationTrigger, PythonPart {
  public static let name = "python"
  public static let summary = "A trigger of your own in Python (docs/own-policy.md)"
  public typealias Settings = PythonPartSettings<TriggerSeam>
  public typealias Memory = PythonMemory

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }
  public func makeMemory() -> PythonMemory { PythonMemory() }
  var code: PolicyCode { settings.code }

  /// The timer that the class states.
  public var timer: TriggerTimer? {
    guard let timer = settings.code.statement.timer else { return nil }
    let span = SimDuration(microseconds: timer.microseconds)
    return switch timer.kind {
    case "sinceRound": .sinceRound(span)
    case "afterCohort": .afterCohort(span)
    default: .every(span)
    }
  }

  public var needs: TriggerNeeds {
    settings.code.statement.needs.contains("cohorts") ? .cohorts : []
  }

  public var neededUpdates: Int? { settings.code.statement.neededUpdates }

  private struct Call: Encodable {
    var call = "decide"
    var moment: String
    var server: ServerWords
  }

  private enum Answer: String, Decodable { case wait, aggregate, skip }

  /// Asks the class.
  public func decide(
    _ moment: TriggerMoment, _ server: ServerView, _ memory: inout PythonMemory
  ) -> TriggerDecision {
    let answer: Answer = settings.code.call(
      Call(moment: moment.word, server: ServerWords(server)), memory: &memory)
    return switch answer {
    case .wait: .wait
    case .aggregate: .aggregate
    case .skip: .skip
    }
  }
}

extension TriggerMoment {
  fileprivate var word: String {
    switch self {
    case .arrival: "arrival"
    case .timer: "timer"
    case .connectionReturned: "connectionReturned"
    case .failure: "failure"
    }
  }
}
