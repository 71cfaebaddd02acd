import Numerics

extension App {
  /// Makes what the system and the app remember, for the groups that have `system` or `app`, and
  /// the list of request names.
  static func makeApps(_ devices: inout Devices, _ cx: inout Context) {
    devices.taskNames = ["processing", "refresh"]
    for injection in cx.inputs.injections where injection.action == .submit {
      let name = injection.identifier ?? (injection.task ?? .processing).rawValue
      if !devices.taskNames.contains(name) { devices.taskNames.append(name) }
    }
    guard
      cx.inputs.fleet.contains(where: \.needsApps)
    else { return }
    devices.systemFigures = cx.inputs.fleet.map { SystemFigures($0.background) }
    let usual = cx.inputs.fleet.map { group -> AppRegion? in
      guard group.needsApps else { return nil }
      var app = AppRegion()
      app.runTime = group.background.system?.dailyRunTime?.microseconds ?? 0
      return app
    }
    devices.apps.reserveCapacity(devices.count)
    for device in devices.indices {
      devices.apps.append(usual[Int(devices[device].group)])
      drawIdleSlop(device, &devices, &cx)
    }
  }
}
