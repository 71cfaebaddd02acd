import Learning
import Schema

/// Adversaries among the devices of a group.
public struct AdversarySettings: PartSettings {
  /// The share of the group's devices.
  public var share = 0.0
  /// From when on.
  public var from = SimTime.start
  /// What they do.
  public var attack = Choice<any Attack>(SignFlip.self) { $0 }

  public init() {}
  public static var fields: [Field<AdversarySettings>] {
    [
      Field(
        "share", \.share, .fraction, required: true,
        "Share of the group's devices that are adversaries, to the nearest whole device"),
      Field("from", \.from, .sinceStart, "Start of the attack; adversaries are honest before"),
      Field("attack", \.attack, .part(.attack), required: true, "What does an adversary do?"),
    ]
  }
}
