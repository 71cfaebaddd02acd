import Learning
import Numerics

/// Members of a cohort that do less than the whole work (`StragglerSettings`).
enum Stragglers {
  /// Makes the plans of 1, 2, … epochs that stragglers train by.
  static func makePlans(_ cx: inout Context) {
    guard let settings = cx.inputs.server.stragglers, !settings.drop else { return }
    let plan = cx.inputs.task.plan
    let most = settings.epochs ?? plan.epochs(shardCount: 1)
    cx.features.plans = (1...max(1, most)).map { plan.with(epochs: $0) }
    cx.states.stragglers = Array(repeating: 0, count: cx.members.count)
  }

  /// Draws a round's stragglers, and notes how many epochs each does; the cohort without those that
  /// are left out.
  ///
  /// Shapes: `members`, places among the waiting devices in device order.
  static func drawn(
    from members: [Int], goal: Int, _ server: borrowing Server, _ cx: inout Context
  ) -> Cohort {
    guard let settings = cx.inputs.server.stragglers else {
      return Cohort(members: members, goal: goal)
    }
    let key = StreamKey(seed: cx.inputs.seeds.policy, purpose: "stragglers")
    var stream = key.stream(slot: UInt64(server.openRound.number))
    var isSlow = Array(repeating: false, count: members.count)
    for place in stream.sample(settings.count(of: members.count), below: members.count) {
      isSlow[Int(place)] = true
    }
    if settings.drop {
      let active = members.indices.filter { !isSlow[$0] }.map { members[$0] }
      return Cohort(members: active, goal: min(goal, active.count))
    }
    for (place, member) in members.enumerated() {
      cx.states.stragglers[server.waiting[member].device] =
        isSlow[place] ? Int32(stream.below(UInt32(cx.features.plans.count))) + 1 : 0
    }
    return Cohort(members: members, goal: goal)
  }
}
