import Numerics
import Schema

extension Simulation {
  /// The places in their files of the traces that a device has, by what they give.
  func traceRecord(_ device: Int) -> [(name: String, number: Int)] {
    if cx.inputs.traces.isEmpty, cx.inputs.capacities.isEmpty { return [] }
    let (place, ordinal) = (Int(devices[device].group), Int(devices[device].ordinal))
    let group = cx.inputs.fleet[place]
    var sources: [(String, StateSpace, (any TimelineSource)?)] = [
      ("power", .power, group.power.value), ("link", .link, group.link.value),
      ("usage", .usage, group.usage.value), ("window", .window, group.background.windows?.value),
    ]
    sources += [
      ("share", .share, group.network.share?.value),
      ("presence", .presence, group.presence?.value),
    ]
    var record: [(name: String, number: Int)] = []
    for case let (name, space, source?) in sources {
      guard let source = source as? any TraceSource else { continue }
      let key = StreamKey(seed: cx.inputs.seeds.world, purpose: "trace", ordinal: UInt32(ordinal))
      let context = TimelineContext(
        space: space, key: key, device: group.name, traces: cx.inputs.traces,
        seed: cx.inputs.seeds.world)
      record.append((name, source.traceNumber(context)))
    }
    if let number = Roster.capacityNumber(group: place, ordinal: ordinal, cx) {
      record.append(("capacity", number))
    }
    return record
  }
}
