import Learning
import Numerics

extension Simulation {
  /// Draws who lies, where a group has adversaries.
  ///
  /// Of a group's devices those with the lowest draws lie, so that more of them include the fewer.
  /// Draws: one `uniform` a device at slot 0 of `adversary` (seed `world`).
  mutating func makeAdversaries() {
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
      cx.states.first = Array(repeating: nil, count: devices.count)
    }
  }

  /// Whether a device is one of the adversaries, whether they lie already or not.
  public func isAdversary(_ device: Int) -> Bool {
    !cx.states.adversaries.isEmpty && cx.states.adversaries[device]
  }

  /// What a device does to what it makes at a time; nil: it is honest.
  private func attack(by device: Int, at time: SimTime) -> (any Attack)? {
    guard isAdversary(device), let settings = group(of: device).adversary, time >= settings.from
    else { return nil }
    return settings.attack.value
  }

  /// The labels of the training that a device begins now, if not its data's own.
  func relabelling(by device: Int) -> [Int32]? {
    attack(by: device, at: cx.now)?.relabelling(classCount: cx.inputs.task.train.classCount)
  }

  /// A training has become an update: one that is sent again and again is kept.
  mutating func keepFirst(_ device: Int, _ training: DeferredTraining?, _ attempt: Attempt) {
    guard !cx.states.first.isEmpty, cx.states.first[device] == nil,
      isAdversary(device), group(of: device).adversary?.attack.value.replaysFirst == true,
      let training, let base = attempt.baseParameters
    else { return }
    cx.states.first[device] = Forgery.First(training: training, base: base)
  }

  /// How a device makes up the update that it makes now; nil: it sends what it trained.
  ///
  /// Draws, when it is computed: the attack's, at slot = the first data epoch of the training (seed
  /// `training`, purpose `attack`).
  func forgery(by device: Int) -> Forgery? {
    guard let attack = attack(by: device, at: cx.now), attack.falsifies else { return nil }
    let key = StreamKey(
      seed: cx.inputs.seeds.training, purpose: "attack", group: group(of: device).name,
      ordinal: UInt32(devices[device].ordinal))
    return Forgery(
      attack: Int(devices[device].group), key: key,
      first: attack.replaysFirst ? cx.states.first[device] : nil)
  }
}
