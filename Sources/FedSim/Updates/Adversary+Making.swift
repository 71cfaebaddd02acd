import Learning
import Numerics

extension Adversary {
  /// Draws the adversaries, where a group has any.
  ///
  /// Of a group's devices those with the lowest draws are adversaries, so a larger set includes the
  /// smaller ones. Draws: one `uniform` a device at slot 0 of `adversary` (seed `world`).
  static func makeAdversaries(_ cx: inout Context) {
    guard cx.inputs.fleet.contains(where: { $0.adversary != nil }) else { return }
    var found: [Bool] = []
    for group in cx.inputs.fleet {
      var lies = Array(repeating: false, count: group.count)
      let wanted = (group.adversary?.share ?? 0) * Double(group.count)
      if wanted > 0 {
        var draws: [(draw: Double, ordinal: Int)] = []
        for ordinal in 0..<group.count {
          var stream = StreamKey(
            seed: cx.inputs.seeds.world, purpose: "adversary", group: group.name,
            ordinal: UInt32(ordinal)
          ).stream(slot: 0)
          draws.append((stream.uniform(), ordinal))
        }
        draws.sort { $0 < $1 }
        for place in draws.prefix(Int(wanted.rounded())) { lies[place.ordinal] = true }
      }
      found += lies
    }
    cx.states.adversaries = found
    let attacks = cx.inputs.fleet.compactMap(\.adversary?.attack.value)
    cx.features.falsifies = attacks.contains(where: \.falsifies)
    if attacks.contains(where: \.replaysFirst) {
      cx.states.first = Array(repeating: nil, count: cx.members.count)
    }
  }
}
