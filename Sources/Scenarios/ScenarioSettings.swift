import FedSim
import Schema

/// Everything that a scenario file may say.
public struct ScenarioSettings: PartSettings {
  /// The version of the format that the file is written in.
  public var version = 1
  /// The scenario's name; the file's name if nothing is written.
  public var name: String?
  /// What the scenario is for.
  public var description: String?
  /// The seed from which all others follow.
  public var seed: UInt64 = 1
  /// Sub-seeds, each equal to `seed` unless it is written.
  public var seeds = SeedSettings()
  /// The civil time at which the virtual clock stands at 0; a Monday, if nothing is written.
  public var start = CivilTime(secondsSince1970: 1_763_337_600)
  /// When the run ends.
  public var stop = StopSettings()
  /// What is learned.
  public var task = TaskSettings()
  /// The devices.
  public var fleet: [FleetGroupSettings] = []
  /// The server and its policy.
  public var server = ServerSettings()
  /// Scripted events.
  public var inject: [InjectionSettings] = []
  /// What is recorded.
  public var record = RecordSettings()
  /// What `fedsim sweep` plays; no part of a run, nor of a resolved scenario.
  public var sweep: SweepSettings?
  /// Where `fedsim stress` searches; no part of a run, nor of a resolved scenario.
  public var stress: StressSettings?
  /// Claims that have to hold; nil: none. They change nothing of a run, and are no part of the
  /// resolved scenario.
  public var expect: [ClaimSettings]?

  public init() {}

  public static var fields: [Field<ScenarioSettings>] {
    [
      Field("version", \.version, .formatVersion, "The version of this format."),
      Field("name", \.name, optional: .text, "The scenario's name; absent: the file's."),
      Field("description", \.description, optional: .text, "What the scenario is for."),
      Field(
        reserved: "base", .list(.path), expected: "the path of a scenario file, or a list of them",
        "Files over which this one is laid: mappings merge, lists and other values are replaced."),
      Field("seed", \.seed, .seed, "The seed from which all others follow."),
      Field("seeds", \.seeds, .settings(), "Sub-seeds, each set alone; absent: `seed`."),
      Field("start", \.start, .civilTime, "The civil time at which the virtual clock stands at 0."),
      Field("stop", \.stop, .settings(), "When the run ends: the first to hold."),
      Field("task", \.task, .task, "What is learned; `none`: nothing, for times alone."),
      Field(
        "fleet", \.fleet, .list(of: .fleetGroup, minimum: 1), required: true,
        "The devices, in groups with the same habits."),
      Field("server", \.server, .server, "The server and its policy."),
      Field("inject", \.inject, .list(of: .settings()), "Events that happen as scripted."),
      Field("record", \.record, .settings(), "What is recorded beside the usual tables."),
      Field(
        "sweep", \.sweep, aside: .settings(),
        "Variants of the scenario that `fedsim sweep` plays; a single run ignores it."),
      Field(
        "stress", \.stress, aside: .settings(),
        "Worlds in which `fedsim stress` searches for one that breaks a claim; a run ignores it."),
      Field(
        "expect", \.expect, aside: .list(of: .settings()),
        "Claims about the run, which `fedsim run` and `fedsim check` hold it to."),
    ]
  }
}

/// The named sub-seeds of a scenario; what is not written is the scenario's `seed`.
public struct SeedSettings: PartSettings {
  /// The world: power, links, usage, clocks.
  public var world: UInt64?
  /// The partition of the data, and data that are made.
  public var data: UInt64?
  /// The initial weights.
  public var initial: UInt64?
  /// Batch orders and whatever else a local training draws.
  public var training: UInt64?
  /// The server's policy.
  public var policy: UInt64?
  /// The order of simultaneous events of different actors.
  public var ties: UInt64?

  /// No sub-seed set.
  public init() {}

  public static var fields: [Field<SeedSettings>] {
    [
      Field("world", \.world, optional: .seed, "Power, links, usage, clocks."),
      Field("data", \.data, optional: .seed, "The partition of the data, and data that are made."),
      Field("init", \.initial, optional: .seed, "The initial weights."),
      Field("training", \.training, optional: .seed, "What a local training draws."),
      Field("policy", \.policy, optional: .seed, "What the server's policy draws."),
      Field(
        "ties", \.ties, optional: .seed,
        "The order of simultaneous events under `--shake-ties`; no effect without it."),
    ]
  }

  /// The seeds of a run whose scenario has this seed.
  func seeds(of seed: UInt64) -> Seeds {
    var seeds = Seeds(seed)
    seeds.world = world ?? seed
    seeds.data = data ?? seed
    seeds.initial = initial ?? seed
    seeds.training = training ?? seed
    seeds.policy = policy ?? seed
    seeds.ties = ties ?? seed
    return seeds
  }
}

extension Form where Value == Int {
  /// The version of the scenario format.
  static var formatVersion: Form {
    Form(
      shape: .integer(minimum: 1, maximum: 1), expected: "1, the version of this format",
      parse: { text, isQuoted in text == "1" && !isQuoted ? 1 : nil },
      write: { .text(String($0)) })
  }
}
