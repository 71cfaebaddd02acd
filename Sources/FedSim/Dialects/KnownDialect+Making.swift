import Learning
import Numerics

extension KnownDialect {
  /// Makes what the settings ask for.
  static func makeExchange(_ devices: inout Devices, _ server: inout Server, _ cx: inout Context) {
    cx.features.admission = cx.inputs.server.selector.value.cycles
    cx.features.givesKeys = cx.features.admission != nil
    if cx.features.givesKeys {
      server.lastCycles = Array(repeating: 0, count: cx.members.count)
    }
    let verbs = cx.inputs.injections.map(\.action)
    Instructions.makeInstructions(&server, &cx)
    ClientStates.makeLocalStates(&devices, &cx)
    Transforms.makeTransforms(&server, &cx)
    if cx.inputs.fleet.contains(where: { $0.protocol != nil }) || verbs.contains(.wrongURL)
      || cx.features.hasInstructions || cx.inputs.server.retry != nil
    {
      devices.clients = Array(repeating: ClientRegion(), count: cx.members.count)
      cx.network.speeds = Array(repeating: MeasuredSpeeds(), count: cx.members.count)
    }
    if verbs.contains(.erase) {
      cx.network.erasures = Array(repeating: ErasureNotice(), count: cx.members.count)
    }
    if let change = cx.inputs.server.layoutChange {
      let ranges = cx.inputs.task.network.layout.ranges(ofLayer: change.layer)
      precondition(!ranges.isEmpty, "the layer that changes belongs to the model")
      cx.features.change = (Int32(change.version), ranges)
    }
    cx.features.isOn =
      cx.features.givesKeys || !devices.clients.isEmpty || !cx.network.erasures.isEmpty
      || cx.features.change != nil
    guard cx.features.isOn else { return }
    // What the server or a script does may concern every group.
    let concernsAll =
      cx.features.givesKeys || cx.features.hasInstructions || !cx.network.erasures.isEmpty
      || cx.features.change != nil || verbs.contains(.wrongURL) || cx.inputs.server.retry != nil
    cx.features.dialects = cx.inputs.fleet.map {
      concernsAll || $0.protocol != nil ? KnownDialect() : nil
    }
    cx.features.serverDialect = KnownDialect()
  }

  /// What cannot be between server and devices.
  static func exchangeImpossibilities(_ server: Server, _ cx: Context)
    -> [String]
  {
    guard cx.features.isOn else { return [] }
    var found: [String] = []
    if !cx.network.erasures.isEmpty,
      server.pending.contains(where: {
        cx.updates[$0].createdAt <= cx.network.erasures[Int(cx.updates[$0].device)].refusedUntil
      })
    {
      found.append("an update waits whose user had it erased")
    }
    if let evaluation = server.instructions.evaluation,
      evaluation.members
        != evaluation.pending.count + evaluation.results.count + evaluation.failures
    {
      found.append("a member of an evaluation is lost")
    }
    if let cycle = server.openRound.cycle, let settings = cx.features.admission?.cycle {
      if settings.mode == .asDocumented, Int(cycle.workers) > settings.maximumWorkers ?? .max {
        found.append("a cycle has too many workers")
      }
      if server.pending.contains(where: { cx.updates[$0].round != server.openRound.number }) {
        found.append("a report waits in another cycle")
      }
    }
    return found
  }
}
