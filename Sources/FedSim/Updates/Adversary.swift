import Learning
import Numerics

extension Adversary {
  /// Whether a device is one of the adversaries, whether they attack already or not.
  static func isAdversary(_ device: Int, _ cx: borrowing Context) -> Bool {
    guard !cx.states.adversaries.isEmpty else { return false }
    return cx.states.adversaries[device]
  }

  /// What a device does to what it makes at a time; nil: it is honest.
  private static func attack(
    by device: Int, at time: SimTime, _ cx: borrowing Context
  ) -> (any Attack)? {
    guard isAdversary(device, cx),
      let settings = cx.inputs.fleet[cx.members.group(of: device)].adversary,
      time >= settings.from
    else { return nil }
    return settings.attack.value
  }

  /// The labels of the training that a device begins now, if not its data's own.
  static func relabelling(by device: Int, _ cx: borrowing Context)
    -> [Int32]?
  {
    attack(by: device, at: cx.now, cx)?.relabelling(
      classCount: cx.inputs.task.train.classCount)
  }

  /// A training has become an update: one that is sent again and again is kept.
  static func keepFirst(
    _ device: Int, _ training: DeferredTraining?, _ attempt: Attempt, _ cx: inout Context
  ) {
    guard !cx.states.first.isEmpty, cx.states.first[device] == nil,
      isAdversary(device, cx),
      cx.inputs.fleet[cx.members.group(of: device)].adversary?.attack.value.replaysFirst == true,
      let training, let base = attempt.baseParameters
    else { return }
    cx.states.first[device] = Forgery.First(training: training, base: base)
  }

  /// How a device makes up the update that it makes now; nil: it sends what it trained.
  ///
  /// Draws, when it is computed: the attack's, at slot = the first data epoch of the training (seed
  /// `training`, purpose `attack`).
  static func forgery(by device: Int, _ cx: borrowing Context)
    -> Forgery?
  {
    guard let attack = attack(by: device, at: cx.now, cx), attack.falsifies else {
      return nil
    }
    let key = StreamKey(
      seed: cx.inputs.seeds.training, purpose: "attack",
      group: cx.inputs.fleet[cx.members.group(of: device)].name,
      ordinal: UInt32(cx.members.ordinal(of: device)))
    return Forgery(
      attack: cx.members.group(of: device), key: key,
      first: attack.replaysFirst ? cx.states.first[device] : nil)
  }
}
