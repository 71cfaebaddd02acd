import Numerics

/// A change of a device's own condition.
public enum DeviceChange: String, Sendable, CaseIterable {
  case full, lowPowerOn, lowPowerOff, shutDown, booted, nominal, fair, serious, critical
  case joined, left
  /// The system has removed the suspended app from memory.
  case unloaded
  /// A session has ended in an upload, and the system continues with it.
  case uploadHandedOver

  /// Words that came later: they are the last of the details of stored events.
  static let later = [unloaded, uploadHandedOver]
}

extension Body {
  /// Whether a device has a battery to look at.
  @inline(__always)
  static func hasBody(_ device: Int, _ devices: borrowing Devices) -> Bool {
    guard !devices.bodies.isEmpty else { return false }
    return devices.bodies[device].isThere
  }

  /// How full a device's battery is, in billionths; −1 without a battery.
  static func batteryLevel(of device: Int, _ devices: borrowing Devices, at now: SimTime) -> Int32 {
    guard hasBody(device, devices) else { return -1 }
    let share =
      Double(devices.bodies[device].energy(at: now)) / Double(devices.bodies[device].capacity)
    return Int32((1e9 * share).rounded())
  }

  private static func battery(of device: Int, _ devices: inout Devices) -> BatterySettings {
    devices.batteryFigures[Int(devices[device].group)]
  }

  private static func thermal(of device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> ThermalSettings?
  {
    cx.inputs.fleet[Int(devices[device].group)].thermal
  }

  /// Whether the device is empty and everything on it is suspended.
  static func isOff(_ device: Int, _ devices: inout Devices) -> Bool {
    Membership.isAway(device, devices)
      || (devices.bodies.isEmpty ? false : devices.bodies[device].state.isOff)
  }

  /// Whether a lack of energy, or heat, keeps the system from starting a background task.
  static func isSparing(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> Bool {
    guard hasBody(device, devices) else { return false }
    return isSparing(device, devices.bodies[device].sparingFacts, &devices, &cx)
  }

  private static func isSparing(
    _ device: Int, _ facts: Body.SparingFacts, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    if facts.thermal.rawValue >= ThermalState.serious.rawValue { return true }
    return isSavingEnergy(device, facts, &devices, &cx)
  }

  private static func isSavingEnergy(
    _ device: Int, _ facts: Body.SparingFacts, _ devices: inout Devices, _ cx: inout Context
  ) -> Bool {
    if facts.isOff || facts.isLowPower { return true }
    if facts.thermal == .critical,
      cx.inputs.fleet[Int(devices[device].group)].thermal?.criticalStops == true
    {
      return true
    }
    if devices[device].isPlugged { return false }
    let essential = devices.batteryFigures[Int(devices[device].group)].essentialBelow
    return devices.bodies[device].energy(at: cx.now) < devices.bodies[device].threshold(essential)
  }

  /// The speed of training, in percent.
  static func speed(of device: Int, _ devices: inout Devices) -> Int64 {
    devices.bodies.isEmpty ? 100 : devices.bodies[device].speed
  }

  /// After an event: what flows in the devices that it touched.
  static func refreshBodies(
    after event: Event, actor: Int32, _ devices: inout Devices, _ cx: inout Context
  ) {
    if actor > 0 { return refreshBody(Int(actor) - 1, &devices, &cx) }
    // The server's end breaks the connections of many.
    if case .server = event { for device in devices.indices { refreshBody(device, &devices, &cx) } }
  }

  /// Brings a device's battery and heat up to date, with all that follows from it.
  static func refreshBody(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard devices.bodies[device].isThere else { return }
    let use = use(of: device, devices, &cx)
    let look = devices.bodies[device].look(use, at: cx.now)
    if look == .nothing { return }
    Heartbeat.keepReports(device, &devices, cx)
    if look == .load {
      let load = load(of: device, use, &devices)
      return planCheck(device, devices.bodies[device].change(use, load, at: cx.now), &devices, &cx)
    }
    devices.bodies[device].settle(at: cx.now)
    setFlows(device, use, &devices)
    let before = devices.bodies[device].sparingFacts
    updateConditions(device, &devices, &cx)
    setFlows(device, Self.use(of: device, devices, &cx), &devices)
    planCheck(device, devices.bodies[device].nextCrossing(), &devices, &cx)
    let after = devices.bodies[device].sparingFacts
    guard before != after, isSparing(device, before, &devices, &cx) else { return }
    if !isSparing(device, after, &devices, &cx) { Scheduler.considerTask(device, &devices, &cx) }
  }

  /// What a device does that takes or brings energy.
  private static func use(
    of device: Int, _ devices: borrowing Devices, _ cx: inout Context
  ) -> BodyUse {
    if Membership.isAway(device, devices) { return BodyUse.nothing }
    var use: BodyUse = devices[device].isPlugged ? .plugged : []
    if devices.bodies[device].state.isOff { return use.union(.off) }
    if devices[device].isActive { use.insert(.screen) }
    guard devices[device].hasSession || cx.network[device].isBusy else { return use }
    if devices[device].isRunning { use.insert(.training) }
    if let phase = cx.network[transferOf: device]?.phase, phase != .awaiting,
      cx.network[device].isConnected
    {
      use.insert(cx.network[device].link == 1 ? .cellular : .wifi)
    }
    return use
  }

  /// From now on so much flows.
  private static func setFlows(_ device: Int, _ use: BodyUse, _ devices: inout Devices) {
    guard use != devices.bodies[device].use else { return }
    let group = Int(devices[device].group)
    let load = load(of: device, use, &devices)
    devices.bodies[device].flow(
      use, load,
      charger: use.contains(.plugged) ? devices.batteryFigures[group].charger.milliwatts : 0)
  }

  /// From now on training draws what it does at the present speed.
  private static func refreshLoad(_ device: Int, _ devices: inout Devices) {
    let load = load(of: device, devices.bodies[device].use, &devices)
    devices.bodies[device].load = load
  }

  /// What is drawn for what a device does, at its present speed.
  private static func load(of device: Int, _ use: BodyUse, _ devices: inout Devices) -> Load {
    if use.contains(.off) { return Load() }
    let group = Int(devices[device].group)
    var load = Load(idle: devices.batteryFigures[group].idle.milliwatts)
    if use.contains(.screen) { load.screen = devices.batteryFigures[group].screen.milliwatts }
    if use.contains(.training) {
      let power =
        Roster.hardware(of: device, devices)?.power
        ?? devices.batteryFigures[group].training.milliwatts
      load.training = power * devices.bodies[device].speed / 100
    }
    if use.contains(.wifi) { load.radio = devices.batteryFigures[group].wifi.milliwatts }
    if use.contains(.cellular) { load.radio = devices.batteryFigures[group].cellular.milliwatts }
    return load
  }

  /// Schedules the moment at which the next threshold is passed.
  private static func planCheck(
    _ device: Int, _ crossing: SimTime, _ devices: inout Devices, _ cx: inout Context
  ) {
    guard let checks = devices.bodies[device].plan(crossing, at: cx.now) else { return }
    func event(_ generation: UInt32) -> Event {
      .deviceTimer(.body, device: Int32(device), generation: generation)
    }
    if let last = checks.last {
      cx.agenda.cancel(event(last.generation), at: last.at, of: device)
    }
    if let next = checks.next {
      cx.schedule(event(next.generation), .world, at: next.at, by: device)
    }
  }

  /// The states that follow from energy and heat.
  private static func updateConditions(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
  {
    if devices.bodies[device].state.isOff { return considerBoot(device, &devices, &cx) }
    if devices.bodies[device].state.isUnseen { devices.bodies[device].state.isUnseen = false }
    let (energy, charger) = (devices.bodies[device].energy, devices.bodies[device].charger)
    if energy == 0, devices.bodies[device].rate < 0 || charger == 0 {
      return shutDown(device, &devices, &cx)
    }
    let isFull = charger > 0 && energy >= devices.bodies[device].capacity
    var changed = isFull != devices.bodies[device].state.isFull
    if changed {
      devices.bodies[device].state.isFull = isFull
      if isFull { cx.note(device, .condition(.full)) }
    }
    let band = devices.bodies[device].band
    if band > devices.bodies[device].state.promptBand, charger == 0,
      !devices.bodies[device].state.isLowPower
    {
      changed = promptLowPower(device, &devices, &cx) || changed
    }
    if band != devices.bodies[device].state.promptBand {
      devices.bodies[device].state.promptBand = band
    }
    if devices.bodies[device].state.isLowPower, charger > 0,
      energy >= devices.bodies[device].threshold(battery(of: device, &devices).lowPowerEnds)
    {
      devices.bodies[device].state.isLowPower = false
      changed = true
      cx.note(device, .condition(.lowPowerOff))
    }
    changed = updateHeat(device, &devices, &cx) || changed
    updateSpeed(device, &devices, &cx)
    if changed { Surroundings.conditionsChanged(device, &devices, &cx) }
  }

  /// The person is asked whether to turn low-power mode on.
  ///
  /// Draws: one `uniform` at slot = the quarter of an hour (purpose `low-power`).
  private static func promptLowPower(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> Bool
  {
    var stream = Scheduler.schedulerKey(device, "low-power", &devices, &cx).stream(
      slot: Scheduler.quarter(cx.now))
    guard stream.uniform() < battery(of: device, &devices).lowPowerAcceptance else { return false }
    devices.bodies[device].state.isLowPower = true
    cx.note(device, .condition(.lowPowerOn))
    return true
  }

  private static func updateHeat(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> Bool
  {
    let state = ThermalState(rawValue: UInt8(devices.bodies[device].heatLimitsPassed))!
    guard state != devices.bodies[device].state.thermal else { return false }
    devices.bodies[device].state.thermal = state
    if state == .nominal { devices.bodies[device].state.isThrottled = false }
    if devices.bodies[device].isSerious { devices.bodies[device].state.isThrottled = true }
    let names: [DeviceChange] = [.nominal, .fair, .serious, .critical]
    cx.note(device, .condition(names[Int(state.rawValue)]))
    if state == .critical { ContinuedTask.stopAtCritical(device, &devices, &cx) }
    return true
  }

  /// A run continues at the speed that heat and low-power mode leave.
  private static func updateSpeed(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    if devices.bodies[device].speed == 100, !devices.bodies[device].state.isLowPower,
      !devices.bodies[device].state.isThrottled
    {
      return
    }
    var speed: Int64 = 100
    if devices.bodies[device].state.isLowPower {
      speed = speed * Int64(battery(of: device, &devices).lowPowerSpeed) / 100
    }
    if devices.bodies[device].state.isThrottled,
      let throttled = cx.inputs.fleet[Int(devices[device].group)].thermal?.throttledSpeed
    {
      speed = speed * Int64(throttled) / 100
    }
    speed = max(1, speed)
    guard speed != devices.bodies[device].speed else { return }
    devices.bodies[device].speed = speed
    Training.changeSpeed(device, to: speed, &devices, &cx)
    refreshLoad(device, &devices)
  }

  /// It is hot around the device, or no longer.
  static func setHot(_ device: Int, _ isHot: Bool, _ devices: inout Devices, _ cx: inout Context) {
    guard hasBody(device, devices), let thermal = thermal(of: device, &devices, &cx) else {
      return
    }
    devices.bodies[device].settle(at: cx.now)
    devices.bodies[device].state.isHot = isHot
    devices.bodies[device].chargingLoss = Int64(thermal.chargingLoss)
    devices.bodies[device].cooling = (isHot ? thermal.hotCooling : thermal.cooling).milliwatts
    // What is passed just now is looked at after this event, with the next threshold.
    if devices.bodies[device].check > cx.now {
      planCheck(device, devices.bodies[device].nextCrossing(), &devices, &cx)
    }
  }

  // MARK: Empty

  private static func shutDown(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    BackgroundTransfers.cancel(device, &devices, &cx)
    if devices[device].session != nil {
      Session.kill(device, &devices, &cx)
    } else {
      App.endIdleProcess(device, &devices, &cx)
    }
    cx.note(device, .condition(.shutDown))
    devices.bodies[device].state.isOff = true
    devices.bodies[device].state.isLowPower = false
    devices.bodies[device].load = Load()
    Surroundings.changeLink(device, &devices, &cx) { $0.isOff = true }
  }

  /// Plugged in and at its boot level, a device that was empty comes back after its boot delay.
  private static func considerBoot(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    let settings = battery(of: device, &devices)
    let body = devices.bodies[device]
    let mayBoot = body.charger > 0 && body.energy >= body.threshold(settings.bootLevel)
    if !mayBoot {
      devices.bodies[device].bootsAt = .never
    } else if body.bootsAt == .never {
      devices.bodies[device].bootsAt = cx.now + settings.bootDelay
    } else if body.bootsAt <= cx.now {
      devices.bodies[device].bootsAt = .never
      devices.bodies[device].state.isOff = false
      devices.bodies[device].state.isUnseen = true
      devices.bodies[device].speed = 100
      refreshLoad(device, &devices)
      cx.note(device, .condition(.booted))
      Installation.lockKeychain(device, &devices, &cx)
      if !devices[device].isActive { App.lock(device, &devices, &cx) }
      Surroundings.changeLink(device, &devices, &cx) { $0.isOff = false }
      Scheduler.considerTask(device, &devices, &cx)
    }
  }
}
