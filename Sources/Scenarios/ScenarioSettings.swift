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
  /// The civil time at which the virtual clock is at 0; a Monday, if nothing is written.
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
      Field("version", \.version, .formatVersion, "Version of the scenario format."),
      Field("name", \.name, optional: .text, "The scenario's name; absent: the file's."),
      Field("description", \.description, optional: .text, "Description of the scenario."),
      Field(
        reserved: "base", .list(.path), expected: "the path of a scenario file, or a list of them",
        "Base files: mappings merge, lists and other values of this file replace theirs."),
      Field("seed", \.seed, .seed, "Main seed, from which all others are derived."),
      Field("seeds", \.seeds, .settings(), "Separate seeds; absent: derived from `seed`."),
      Field("start", \.start, .civilTime, "Civil time at virtual time 0."),
      Field("stop", \.stop, .settings(), "When the run ends: at the first condition that holds."),
      Field(
        "task", \.task, .task,
        "The learning task; `none`: no learning, only the simulation of times."),
      Field(
        "fleet", \.fleet, .list(of: .fleetGroup, minimum: 1), required: true,
        "The devices, in groups with the same habits."),
      Field("server", \.server, .server, "The server and its policy."),
      Field("inject", \.inject, .list(of: .settings()), "Scripted events."),
      Field(
        "record", \.record, .settings(), "What is recorded in addition to the standard tables."),
      Field(
        "sweep", \.sweep, aside: .settings(),
        "Variants of the scenario for `fedsim sweep`; a single run ignores this."),
      Field(
        "stress", \.stress, aside: .settings(),
        "Ranges in which `fedsim stress` searches for a broken assertion; a run ignores this."),
      Field(
        "expect", \.expect, aside: .list(of: .settings()),
        "Assertions about the run, checked by `fedsim run` and `fedsim check`."),
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
      Field("data", \.data, optional: .seed, "Partition of the data, and generated data."),
      Field("init", \.initial, optional: .seed, "Initial weights."),
      Field("training", \.training, optional: .seed, "Random draws of local trainings."),
      Field("policy", \.policy, optional: .seed, "Random draws of the server's policy."),
      Field(
        "ties", \.ties, optional: .seed,
        "Order of simultaneous events under `--shake-ties`; else no effect."),
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
