import Numerics

/// A change of a device's own condition.
public enum Condition: String, Sendable, CaseIterable {
  case full, lowPowerOn, lowPowerOff, shutDown, booted, nominal, fair, serious, critical
  case joined, left
}

extension Simulation {
  /// Gives a battery and heat to the devices whose groups have them.
  mutating func makeBodies() {
    guard inputs.fleet.contains(where: { $0.battery != nil }) else { return }
    batteryFigures = inputs.fleet.map { $0.battery ?? BatterySettings() }
    let usual = inputs.fleet.map { group in
      group.battery.map { Body($0, group.thermal) } ?? Body()
    }
    bodies.reserveCapacity(devices.count)
    for place in devices.indices {
      let group = Int(devices[place].group)
      guard usual[group].isThere, let made = hardware(of: place) else {
        bodies.append(usual[group])
        continue
      }
      var battery = batteryFigures[group]
      battery.capacity = made.hardware.battery
      bodies.append(Body(battery, inputs.fleet[group].thermal))
    }
  }

  /// Whether a device has a battery to look at.
  @inline(__always)
  func hasBody(_ device: Int) -> Bool { !bodies.isEmpty && bodies[device].isThere }

  private mutating func battery(of device: Int) -> BatterySettings {
    batteryFigures[Int(devices[device].group)]
  }

  private mutating func thermal(of device: Int) -> ThermalSettings? {
    inputs.fleet[Int(devices[device].group)].thermal
  }

  /// Whether the device is empty and everything on it stands still.
  mutating func isOff(_ device: Int) -> Bool {
    isAway(device) || (bodies.isEmpty ? false : bodies[device].isOff)
  }

  /// Whether the system starts no background task for want of energy, or for heat.
  mutating func isSparing(_ device: Int) -> Bool {
    guard hasBody(device) else { return false }
    return isSparing(device, bodies[device].sparingFacts)
  }

  private mutating func isSparing(_ device: Int, _ facts: Body.SparingFacts) -> Bool {
    if facts.thermal.rawValue >= ThermalState.serious.rawValue { return true }
    return isSavingEnergy(device, facts)
  }

  /// Whether the system starts no refresh task for want of energy.
  mutating func isSavingEnergy(_ device: Int) -> Bool {
    guard hasBody(device) else { return false }
    return isSavingEnergy(device, bodies[device].sparingFacts)
  }

  private mutating func isSavingEnergy(_ device: Int, _ facts: Body.SparingFacts) -> Bool {
    if facts.isOff || facts.isLowPower { return true }
    if facts.thermal == .critical,
      inputs.fleet[Int(devices[device].group)].thermal?.criticalStops == true
    {
      return true
    }
    if devices[device].isPlugged { return false }
    let essential = batteryFigures[Int(devices[device].group)].essentialBelow
    return bodies[device].energy(at: now) < bodies[device].threshold(essential)
  }

  /// The speed of training, in percent.
  mutating func speed(of device: Int) -> Int64 {
    bodies.isEmpty ? 100 : bodies[device].speed
  }

  /// After an event: what flows in the devices that it touched.
  mutating func refreshBodies(after event: Event, actor: Int32) {
    if actor > 0 { return refreshBody(Int(actor) - 1) }
    // The server's end breaks the connections of many.
    if case .server = event { for device in devices.indices { refreshBody(device) } }
  }

  /// Brings a device's battery and heat up to date, with all that follows from it.
  mutating func refreshBody(_ device: Int) {
    guard bodies[device].isThere else { return }
    let use = use(of: device)
    guard now >= bodies[device].check || use != bodies[device].use else { return }
    if bodies[device].changesOnlyLoad(use, at: now) {
      let load = load(of: device, use)
      return planCheck(device, bodies[device].change(use, load, at: now))
    }
    bodies[device].settle(at: now)
    setFlows(device, use)
    let before = bodies[device].sparingFacts
    updateConditions(device)
    setFlows(device, self.use(of: device))
    planCheck(device, bodies[device].nextCrossing())
    let after = bodies[device].sparingFacts
    guard before != after, isSparing(device, before) else { return }
    if !isSparing(device, after) { considerTask(device) }
  }

  /// What a device does that takes or brings energy.
  private mutating func use(of device: Int) -> BodyUse {
    if isAway(device) { return BodyUse.nothing }
    var use: BodyUse = devices[device].isPlugged ? .plugged : []
    if bodies[device].isOff { return use.union(.off) }
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
    guard use != bodies[device].use else { return }
    let group = Int(devices[device].group)
    let load = load(of: device, use)
    bodies[device].flow(
      use, load, charger: use.contains(.plugged) ? batteryFigures[group].charger.milliwatts : 0)
  }

  /// From now on training draws what it does at the present speed.
  private mutating func refreshLoad(_ device: Int) {
    let load = load(of: device, bodies[device].use)
    bodies[device].load = load
  }

  /// What is drawn for what a device does, at its present speed.
  private mutating func load(of device: Int, _ use: BodyUse) -> Load {
    if use.contains(.off) { return Load() }
    let group = Int(devices[device].group)
    var load = Load(idle: batteryFigures[group].idle.milliwatts)
    if use.contains(.screen) { load.screen = batteryFigures[group].screen.milliwatts }
    if use.contains(.training) {
      let power = hardware(of: device)?.power ?? batteryFigures[group].training.milliwatts
      load.training = power * bodies[device].speed / 100
    }
    if use.contains(.wifi) { load.radio = batteryFigures[group].wifi.milliwatts }
    if use.contains(.cellular) { load.radio = batteryFigures[group].cellular.milliwatts }
    return load
  }

  /// Schedules the moment at which the next threshold is passed.
  private mutating func planCheck(_ device: Int, _ crossing: SimTime) {
    let next = min(crossing, bodies[device].bootsAt)
    guard next != bodies[device].check else { return }
    if bodies[device].check > now, bodies[device].check != .never {
      queue.cancel(
        .deviceTimer(.body, device: Int32(device), generation: bodies[device].checkGeneration),
        at: bodies[device].check, of: Int32(device + 1))
    }
    let generation = bodies[device].plan(next)
    guard next != .never else { return }
    schedule(
      .deviceTimer(.body, device: Int32(device), generation: generation), .world, at: next,
      by: device)
  }

  /// The states that follow from energy and heat.
  private mutating func updateConditions(_ device: Int) {
    if bodies[device].isOff { return considerBoot(device) }
    if bodies[device].isUnseen { bodies[device].isUnseen = false }
    let (energy, charger) = (bodies[device].energy, bodies[device].charger)
    if energy == 0, bodies[device].rate < 0 || charger == 0 { return shutDown(device) }
    let isFull = charger > 0 && energy >= bodies[device].capacity
    var changed = isFull != bodies[device].isFull
    if changed {
      bodies[device].isFull = isFull
      if isFull { note(device, .condition(.full)) }
    }
    let band = bodies[device].band
    if band > bodies[device].promptBand, charger == 0, !bodies[device].isLowPower {
      changed = promptLowPower(device) || changed
    }
    if band != bodies[device].promptBand { bodies[device].promptBand = band }
    if bodies[device].isLowPower, charger > 0,
      energy >= bodies[device].threshold(battery(of: device).lowPowerEnds)
    {
      bodies[device].isLowPower = false
      changed = true
      note(device, .condition(.lowPowerOff))
    }
    changed = updateHeat(device) || changed
    updateSpeed(device)
    if changed { conditionsChanged(device) }
  }

  /// The person is asked whether to turn low-power mode on.
  ///
  /// Draws: one `uniform` at slot = the quarter of an hour (purpose `low-power`).
  private mutating func promptLowPower(_ device: Int) -> Bool {
    var stream = schedulerKey(device, "low-power").stream(slot: quarter(now))
    guard stream.uniform() < battery(of: device).lowPowerAcceptance else { return false }
    bodies[device].isLowPower = true
    note(device, .condition(.lowPowerOn))
    return true
  }

  private mutating func updateHeat(_ device: Int) -> Bool {
    let state = ThermalState(rawValue: UInt8(bodies[device].heatLimitsPassed))!
    guard state != bodies[device].thermal else { return false }
    bodies[device].thermal = state
    if state == .nominal { bodies[device].isThrottled = false }
    if bodies[device].isSerious { bodies[device].isThrottled = true }
    let names: [Condition] = [.nominal, .fair, .serious, .critical]
    note(device, .condition(names[Int(state.rawValue)]))
    if state == .critical { stopAtCritical(device) }
    return true
  }

  /// A run goes on at the speed that heat and low-power mode leave.
  private mutating func updateSpeed(_ device: Int) {
    if bodies[device].speed == 100, !bodies[device].isLowPower, !bodies[device].isThrottled {
      return
    }
    var speed: Int64 = 100
    if bodies[device].isLowPower {
      speed = speed * Int64(battery(of: device).lowPowerSpeed) / 100
    }
    if bodies[device].isThrottled,
      let throttled = inputs.fleet[Int(devices[device].group)].thermal?.throttledSpeed
    {
      speed = speed * Int64(throttled) / 100
    }
    speed = max(1, speed)
    guard speed != bodies[device].speed else { return }
    bodies[device].speed = speed
    changeSpeed(device, to: speed)
    refreshLoad(device)
  }

  /// It is hot around the device, or no longer.
  mutating func setHot(_ device: Int, _ isHot: Bool) {
    guard hasBody(device), let thermal = thermal(of: device) else {
      return
    }
    bodies[device].settle(at: now)
    bodies[device].isHot = isHot
    bodies[device].chargingLoss = Int64(thermal.chargingLoss)
    bodies[device].cooling = (isHot ? thermal.hotCooling : thermal.cooling).milliwatts
    // What is passed just now is looked at after this event, with the next threshold.
    if bodies[device].check > now { planCheck(device, bodies[device].nextCrossing()) }
  }

  // MARK: Empty

  private mutating func shutDown(_ device: Int) {
    if devices[device].session != nil { kill(device) } else { endProcess(device) }
    note(device, .condition(.shutDown))
    bodies[device].isOff = true
    bodies[device].isLowPower = false
    bodies[device].load = Load()
    changeLink(device) { $0.isOff = true }
  }

  /// Plugged in and at its boot level, a device that was empty comes back after its boot delay.
  private mutating func considerBoot(_ device: Int) {
    let settings = battery(of: device)
    let body = bodies[device]
    let mayBoot = body.charger > 0 && body.energy >= body.threshold(settings.bootLevel)
    if !mayBoot {
      bodies[device].bootsAt = .never
    } else if body.bootsAt == .never {
      bodies[device].bootsAt = now + settings.bootDelay
    } else if body.bootsAt <= now {
      bodies[device].bootsAt = .never
      bodies[device].isOff = false
      bodies[device].isUnseen = true
      bodies[device].speed = 100
      refreshLoad(device)
      note(device, .condition(.booted))
      lockKeychain(device)
      if !devices[device].isActive { devices[device].lockedSince = now }
      changeLink(device) { $0.isOff = false }
      considerTask(device)
    }
  }
}
