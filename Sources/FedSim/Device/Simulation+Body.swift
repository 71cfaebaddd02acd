import Numerics

/// A change of a device's own condition.
public enum Condition: String, Sendable, CaseIterable {
  case full, lowPowerOn, lowPowerOff, shutDown, booted, nominal, fair, serious, critical
  case joined, left
}

extension Simulation {
  /// Gives a battery and heat to the devices whose groups have them.
  mutating func makeBodies() {
    guard cx.inputs.fleet.contains(where: { $0.battery != nil }) else { return }
    devices.batteryFigures = cx.inputs.fleet.map { $0.battery ?? BatterySettings() }
    let usual = cx.inputs.fleet.map { group in
      group.battery.map { Body($0, group.thermal) } ?? Body()
    }
    devices.bodies.reserveCapacity(devices.count)
    for place in devices.indices {
      let group = Int(devices[place].group)
      guard usual[group].isThere, let made = hardware(of: place) else {
        devices.bodies.append(usual[group])
        continue
      }
      var battery = devices.batteryFigures[group]
      battery.capacity = made.hardware.battery
      devices.bodies.append(Body(battery, cx.inputs.fleet[group].thermal))
    }
  }

  /// Whether a device has a battery to look at.
  @inline(__always)
  func hasBody(_ device: Int) -> Bool { !devices.bodies.isEmpty && devices.bodies[device].isThere }

  private mutating func battery(of device: Int) -> BatterySettings {
    devices.batteryFigures[Int(devices[device].group)]
  }

  private mutating func thermal(of device: Int) -> ThermalSettings? {
    cx.inputs.fleet[Int(devices[device].group)].thermal
  }

  /// Whether the device is empty and everything on it stands still.
  mutating func isOff(_ device: Int) -> Bool {
    isAway(device) || (devices.bodies.isEmpty ? false : devices.bodies[device].isOff)
  }

  /// Whether the system starts no background task for want of energy, or for heat.
  mutating func isSparing(_ device: Int) -> Bool {
    guard hasBody(device) else { return false }
    return isSparing(device, devices.bodies[device].sparingFacts)
  }

  private mutating func isSparing(_ device: Int, _ facts: Body.SparingFacts) -> Bool {
    if facts.thermal.rawValue >= ThermalState.serious.rawValue { return true }
    return isSavingEnergy(device, facts)
  }

  /// Whether the system starts no refresh task for want of energy.
  mutating func isSavingEnergy(_ device: Int) -> Bool {
    guard hasBody(device) else { return false }
    return isSavingEnergy(device, devices.bodies[device].sparingFacts)
  }

  private mutating func isSavingEnergy(_ device: Int, _ facts: Body.SparingFacts) -> Bool {
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
  mutating func speed(of device: Int) -> Int64 {
    devices.bodies.isEmpty ? 100 : devices.bodies[device].speed
  }

  /// After an event: what flows in the devices that it touched.
  mutating func refreshBodies(after event: Event, actor: Int32) {
    if actor > 0 { return refreshBody(Int(actor) - 1) }
    // The server's end breaks the connections of many.
    if case .server = event { for device in devices.indices { refreshBody(device) } }
  }

  /// Brings a device's battery and heat up to date, with all that follows from it.
  mutating func refreshBody(_ device: Int) {
    guard devices.bodies[device].isThere else { return }
    let use = use(of: device)
    guard cx.now >= devices.bodies[device].check || use != devices.bodies[device].use else {
      return
    }
    if devices.bodies[device].changesOnlyLoad(use, at: cx.now) {
      let load = load(of: device, use)
      return planCheck(device, devices.bodies[device].change(use, load, at: cx.now))
    }
    devices.bodies[device].settle(at: cx.now)
    setFlows(device, use)
    let before = devices.bodies[device].sparingFacts
    updateConditions(device)
    setFlows(device, self.use(of: device))
    planCheck(device, devices.bodies[device].nextCrossing())
    let after = devices.bodies[device].sparingFacts
    guard before != after, isSparing(device, before) else { return }
    if !isSparing(device, after) { considerTask(device) }
  }

  /// What a device does that takes or brings energy.
  private mutating func use(of device: Int) -> BodyUse {
    if isAway(device) { return BodyUse.nothing }
    var use: BodyUse = devices[device].isPlugged ? .plugged : []
    if devices.bodies[device].isOff { return use.union(.off) }
    if devices[device].isActive { use.insert(.screen) }
    guard devices[device].hasSession else { return use }
    if devices[device].isRunning { use.insert(.training) }
    if let phase = devices[device].transferPhase, phase != .awaiting {
      use.insert(devices[device].link == 1 ? .cellular : .wifi)
    }
    return use
  }

  /// From now on so much flows.
  private mutating func setFlows(_ device: Int, _ use: BodyUse) {
    guard use != devices.bodies[device].use else { return }
    let group = Int(devices[device].group)
    let load = load(of: device, use)
    devices.bodies[device].flow(
      use, load,
      charger: use.contains(.plugged) ? devices.batteryFigures[group].charger.milliwatts : 0)
  }

  /// From now on training draws what it does at the present speed.
  private mutating func refreshLoad(_ device: Int) {
    let load = load(of: device, devices.bodies[device].use)
    devices.bodies[device].load = load
  }

  /// What is drawn for what a device does, at its present speed.
  private mutating func load(of device: Int, _ use: BodyUse) -> Load {
    if use.contains(.off) { return Load() }
    let group = Int(devices[device].group)
    var load = Load(idle: devices.batteryFigures[group].idle.milliwatts)
    if use.contains(.screen) { load.screen = devices.batteryFigures[group].screen.milliwatts }
    if use.contains(.training) {
      let power = hardware(of: device)?.power ?? devices.batteryFigures[group].training.milliwatts
      load.training = power * devices.bodies[device].speed / 100
    }
    if use.contains(.wifi) { load.radio = devices.batteryFigures[group].wifi.milliwatts }
    if use.contains(.cellular) { load.radio = devices.batteryFigures[group].cellular.milliwatts }
    return load
  }

  /// Schedules the moment at which the next threshold is passed.
  private mutating func planCheck(_ device: Int, _ crossing: SimTime) {
    let next = min(crossing, devices.bodies[device].bootsAt)
    guard next != devices.bodies[device].check else { return }
    if devices.bodies[device].check > cx.now, devices.bodies[device].check != .never {
      cx.agenda.cancel(
        .deviceTimer(
          .body, device: Int32(device), generation: devices.bodies[device].checkGeneration),
        at: devices.bodies[device].check, of: device)
    }
    let generation = devices.bodies[device].plan(next)
    guard next != .never else { return }
    cx.schedule(
      .deviceTimer(.body, device: Int32(device), generation: generation), .world, at: next,
      by: device)
  }

  /// The states that follow from energy and heat.
  private mutating func updateConditions(_ device: Int) {
    if devices.bodies[device].isOff { return considerBoot(device) }
    if devices.bodies[device].isUnseen { devices.bodies[device].isUnseen = false }
    let (energy, charger) = (devices.bodies[device].energy, devices.bodies[device].charger)
    if energy == 0, devices.bodies[device].rate < 0 || charger == 0 { return shutDown(device) }
    let isFull = charger > 0 && energy >= devices.bodies[device].capacity
    var changed = isFull != devices.bodies[device].isFull
    if changed {
      devices.bodies[device].isFull = isFull
      if isFull { cx.note(device, .condition(.full)) }
    }
    let band = devices.bodies[device].band
    if band > devices.bodies[device].promptBand, charger == 0, !devices.bodies[device].isLowPower {
      changed = promptLowPower(device) || changed
    }
    if band != devices.bodies[device].promptBand { devices.bodies[device].promptBand = band }
    if devices.bodies[device].isLowPower, charger > 0,
      energy >= devices.bodies[device].threshold(battery(of: device).lowPowerEnds)
    {
      devices.bodies[device].isLowPower = false
      changed = true
      cx.note(device, .condition(.lowPowerOff))
    }
    changed = updateHeat(device) || changed
    updateSpeed(device)
    if changed { conditionsChanged(device) }
  }

  /// The person is asked whether to turn low-power mode on.
  ///
  /// Draws: one `uniform` at slot = the quarter of an hour (purpose `low-power`).
  private mutating func promptLowPower(_ device: Int) -> Bool {
    var stream = schedulerKey(device, "low-power").stream(slot: quarter(cx.now))
    guard stream.uniform() < battery(of: device).lowPowerAcceptance else { return false }
    devices.bodies[device].isLowPower = true
    cx.note(device, .condition(.lowPowerOn))
    return true
  }

  private mutating func updateHeat(_ device: Int) -> Bool {
    let state = ThermalState(rawValue: UInt8(devices.bodies[device].heatLimitsPassed))!
    guard state != devices.bodies[device].thermal else { return false }
    devices.bodies[device].thermal = state
    if state == .nominal { devices.bodies[device].isThrottled = false }
    if devices.bodies[device].isSerious { devices.bodies[device].isThrottled = true }
    let names: [Condition] = [.nominal, .fair, .serious, .critical]
    cx.note(device, .condition(names[Int(state.rawValue)]))
    if state == .critical { stopAtCritical(device) }
    return true
  }

  /// A run goes on at the speed that heat and low-power mode leave.
  private mutating func updateSpeed(_ device: Int) {
    if devices.bodies[device].speed == 100, !devices.bodies[device].isLowPower,
      !devices.bodies[device].isThrottled
    {
      return
    }
    var speed: Int64 = 100
    if devices.bodies[device].isLowPower {
      speed = speed * Int64(battery(of: device).lowPowerSpeed) / 100
    }
    if devices.bodies[device].isThrottled,
      let throttled = cx.inputs.fleet[Int(devices[device].group)].thermal?.throttledSpeed
    {
      speed = speed * Int64(throttled) / 100
    }
    speed = max(1, speed)
    guard speed != devices.bodies[device].speed else { return }
    devices.bodies[device].speed = speed
    changeSpeed(device, to: speed)
    refreshLoad(device)
  }

  /// It is hot around the device, or no longer.
  mutating func setHot(_ device: Int, _ isHot: Bool) {
    guard hasBody(device), let thermal = thermal(of: device) else {
      return
    }
    devices.bodies[device].settle(at: cx.now)
    devices.bodies[device].isHot = isHot
    devices.bodies[device].chargingLoss = Int64(thermal.chargingLoss)
    devices.bodies[device].cooling = (isHot ? thermal.hotCooling : thermal.cooling).milliwatts
    // What is passed just now is looked at after this event, with the next threshold.
    if devices.bodies[device].check > cx.now {
      planCheck(device, devices.bodies[device].nextCrossing())
    }
  }

  // MARK: Empty

  private mutating func shutDown(_ device: Int) {
    if devices[device].session != nil { kill(device) } else { endProcess(device) }
    cx.note(device, .condition(.shutDown))
    devices.bodies[device].isOff = true
    devices.bodies[device].isLowPower = false
    devices.bodies[device].load = Load()
    changeLink(device) { $0.isOff = true }
  }

  /// Plugged in and at its boot level, a device that was empty comes back after its boot delay.
  private mutating func considerBoot(_ device: Int) {
    let settings = battery(of: device)
    let body = devices.bodies[device]
    let mayBoot = body.charger > 0 && body.energy >= body.threshold(settings.bootLevel)
    if !mayBoot {
      devices.bodies[device].bootsAt = .never
    } else if body.bootsAt == .never {
      devices.bodies[device].bootsAt = cx.now + settings.bootDelay
    } else if body.bootsAt <= cx.now {
      devices.bodies[device].bootsAt = .never
      devices.bodies[device].isOff = false
      devices.bodies[device].isUnseen = true
      devices.bodies[device].speed = 100
      refreshLoad(device)
      cx.note(device, .condition(.booted))
      lockKeychain(device)
      if !devices[device].isActive { devices[device].lockedSince = cx.now }
      changeLink(device) { $0.isOff = false }
      considerTask(device)
    }
  }
}
