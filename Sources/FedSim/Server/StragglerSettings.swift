import Schema

/// Members of each cohort that do less than the whole work, by the rule of FedProx.
///
/// Of a cohort of K members, K − round(K·(1 − share)) are stragglers (halves to the even number),
/// drawn for each round. Each does a whole number of epochs, uniform on 1 … `epochs`, and what it
/// did is its update. With `drop` they are not part of the cohort: the server waits for the others
/// alone, as FedAvg does in that paper.
/// Draws: from slot r of `stragglers` (seed `policy`) in round r: the stragglers among the members
/// in device order, then one `below` for each in that order. The draws do not depend on `drop`.
/// Source: Li et al., "Federated optimization in heterogeneous networks" (2020), section 5.2.
/// Differs: the authors' program draws from 1 … E − 1, which is `epochs: E − 1` here.
public struct StragglerSettings: PartSettings {
  /// The share of each cohort.
  public var share = 0.5
  /// The most epochs that a straggler does; nil: those of `task.training`.
  public var epochs: Int?
  /// Whether stragglers are left out.
  public var drop = false

  public init() {}
  public static var shorthand: String? { "share" }
  public static var fields: [Field<StragglerSettings>] {
    [
      Field(
        "share", \.share, .fraction, required: true,
        "Share of each cohort's members that are stragglers, drawn for each round"),
      Field(
        "epochs", \.epochs, optional: .integer(1...10_000),
        "Maximum number of epochs of a straggler, drawn uniformly from 1; absent: "
          + "`task.training.epochs`"),
      Field(
        "drop", \.drop, .flag,
        "Leave stragglers out of their cohort, instead of aggregating their partial work"),
    ]
  }

  /// How many of this many members are stragglers; where they are left out, never all.
  func count(of members: Int) -> Int {
    let active = (Double(members) * (1 - share)).rounded(.toNearestOrEven)
    return members - max(Int(active), drop ? 1 : 0)
  }
}

/// How much of its work a device does, where the server says it.
struct WorkSettings: Sendable {
  var clientConfig: [ClientConfig]?
  var stragglers: StragglerSettings?
}

extension ServerSettings {
  /// Hyper-parameters that are sent with the work; nil: devices have their own.
  public var clientConfig: [ClientConfig]? {
    get { work.clientConfig }
    set { work.clientConfig = newValue }
  }
  /// Members of each cohort that do less than the whole work; nil: none.
  public var stragglers: StragglerSettings? {
    get { work.stragglers }
    set { work.stragglers = newValue }
  }
}
