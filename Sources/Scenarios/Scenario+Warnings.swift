import FedSim

extension Scenario {
  /// What is right and surely not meant: a line each.
  public var warnings: [String] { [unreachableTrigger].compactMap { $0 } }

  /// A trigger that waits for more updates than there ever are, where each device has one of them;
  /// nil: none does.
  private var unreachableTrigger: String? {
    let devices = settings.fleet.reduce(0) { $0 + $1.count }
    let server = settings.server
    guard server.duplicates == .replace || server.duplicates == .ignore,
      // A device that was removed and installed again is another one.
      settings.fleet.allSatisfy({ $0.registration?.reinstallEvery == nil }),
      settings.inject.allSatisfy({ $0.action != .reinstall })
    else { return nil }
    let needs = server.trigger.map { $0.value.neededUpdates ?? 0 }
    guard let least = needs.min(), least > devices, let place = needs.firstIndex(of: least) else {
      return nil
    }
    let trigger = "`server.trigger.\(server.trigger[place].name)`"
    let fleet = "\(devices) device\(devices == 1 ? "" : "s")"
    return "no version will be published: \(trigger) waits for \(least) updates, and there are "
      + "never more than \(devices): the fleet has \(fleet), and `duplicates: "
      + "\(server.duplicates)` counts one update of each"
  }
}
