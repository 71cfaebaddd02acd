import Learning
import Numerics
import Schema

extension Roster {
  /// What a device computes and sends; nil: its group has no trace of it.
  static func capacity(group: Int, ordinal: Int, _ cx: borrowing Context) -> DeviceCapacity? {
    guard let number = capacityNumber(group: group, ordinal: ordinal, cx) else { return nil }
    return cx.inputs.capacities[cx.inputs.fleet[group].capacity!.replay.file.path]![number]
  }

  /// The place in its file of a device's capacity; nil: its group has no such trace.
  static func capacityNumber(group: Int, ordinal: Int, _ cx: borrowing Context) -> Int? {
    guard let settings = cx.inputs.fleet[group].capacity else { return nil }
    guard let capacities = cx.inputs.capacities[settings.replay.file.path] else {
      preconditionFailure("the capacities \(settings.replay.file.path) were not read")
    }
    return settings.replay.number(
      seed: cx.inputs.seeds.world, device: cx.inputs.fleet[group].name, ordinal: UInt32(ordinal),
      of: capacities.count)
  }
}

extension Roster {
  /// A device's path, such as `phones/17`.
  static func path(of device: Int, _ cx: borrowing Context) -> String {
    "\(cx.inputs.fleet[cx.members.group(of: device)].name)/\(cx.members.ordinal(of: device))"
  }
}
