import FedSim
import Numerics
import Schema

/// A selector in Python: one that accepts or rejects each request, or one that forms cohorts.
public struct PythonSelector: AdmittingSelector, CohortSelector, PythonPart {
  public static let name = "python"
  public static let summary = "A selector of your own in Python (docs/own-policy.md)"
  public typealias Settings = PythonPartSettings<SelectorSeam>
  public typealias Memory = PythonMemory

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }
  public func makeMemory() -> PythonMemory { PythonMemory() }
  var code: PolicyCode { settings.code }

  /// It as what the class is.
  public var erased: AnySelector {
    settings.code.statement.formsCohorts
      ? AnySelector(.cohorts(self)) : AnySelector(.admitting(self))
  }

  public var needs: SelectorNeeds {
    var needs = SelectorNeeds()
    for word in settings.code.statement.needs {
      switch word {
      case "facts": needs.insert(.facts)
      case "losses": needs.formUnion([.losses, .facts])
      case "batteries": needs.formUnion(.batteries)
      case "news": needs.insert(.news)
      default: break
      }
    }
    return needs
  }

  public var rules: CohortRules {
    let statement = settings.code.statement
    return CohortRules(
      neededWaiting: statement.neededWaiting,
      waitLimit: statement.waitLimit.map { SimDuration(microseconds: $0) },
      acceptsLate: statement.acceptsLate)
  }

  // MARK: Calls

  private struct Admit: Encodable {
    var call: String
    var checkIn: CheckInWords
    var server: ServerWords
  }

  private struct Hear: Encodable {
    var call = "hear"
    var news: String
    var device: Int
    var server: ServerWords
  }

  private struct Choose: Encodable {
    var call = "choose_cohort"
    var waiting: [CheckInWords]
    var server: ServerWords
    /// A seed of 128 bits, in two halves.
    var seed: [UInt64]
  }

  private struct Chosen: Decodable {
    /// Places in the list; nil: none yet.
    var members: [Int]?
    var goal: Int?
  }

  private func words(_ checkIn: CheckIn, _ server: ServerView) -> CheckInWords {
    CheckInWords(checkIn, server, hasFacts: needs.contains(.facts))
  }

  private func isTaken(
    _ call: String, _ checkIn: CheckIn, _ server: ServerView, _ memory: inout PythonMemory
  ) -> Bool {
    settings.code.call(
      Admit(call: call, checkIn: words(checkIn, server), server: ServerWords(server)),
      memory: &memory)
  }

  /// Asks the class.
  public func admit(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout PythonMemory
  ) -> Admission { isTaken("admit", checkIn, server, &memory) ? .accept : .reject }

  /// Asks the class.
  public func receive(
    _ checkIn: CheckIn, _ server: ServerView, _ memory: inout PythonMemory
  ) -> Reception { isTaken("receive", checkIn, server, &memory) ? .wait : .reject }

  /// Tells the class.
  public func hear(
    _ news: DeviceNews, from device: Int, _ server: ServerView, _ memory: inout PythonMemory
  ) {
    guard needs.contains(.news) else { return }
    let word = news == .delivered ? "delivered" : "lost"
    let _: Bool = settings.code.call(
      Hear(news: word, device: device, server: ServerWords(server)), memory: &memory)
  }

  /// Asks the class. Draws: two numbers of 64 bits, which seed its generator.
  public func chooseCohort(
    from waiting: [CheckIn], _ server: ServerView, _ stream: inout RandomStream,
    _ memory: inout PythonMemory
  ) -> Cohort? {
    if let least = settings.code.statement.neededWaiting, waiting.count < least { return nil }
    let seed = [stream.nextUInt64(), stream.nextUInt64()]
    let chosen: Chosen = settings.code.call(
      Choose(
        waiting: waiting.map { words($0, server) }, server: ServerWords(server), seed: seed),
      memory: &memory)
    return chosen.members.map { Cohort(members: $0, goal: chosen.goal ?? $0.count) }
  }
}
