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
    for place in devices.indices {
      let group = inputs.fleet[Int(devices[place].group)]
      guard var battery = group.battery else {
        bodies.append(nil)
        continue
      }
      if let made = hardware(of: place) { battery.capacity = made.hardware.battery }
      bodies.append(Body(battery, group.thermal))
    }
  }

  private func battery(of device: Int) -> BatterySettings {
    batteryFigures[Int(devices[device].group)]
  }

  private mutating func thermal(of device: Int) -> ThermalSettings? {
    inputs.fleet[Int(devices[device].group)].thermal
  }

  /// Whether the device is empty and everything on it stands still.
  mutating func isOff(_ device: Int) -> Bool {
    isAway(device) || (bodies.isEmpty ? false : bodies[device]?.isOff ?? false)
  }

  /// Whether the system starts no background task for want of energy, or for heat.
  mutating func isSparing(_ device: Int) -> Bool {
    guard !bodies.isEmpty, bodies[device] != nil else { return false }
    return bodies[device]!.isSerious || isSavingEnergy(device)
  }

  /// Whether the system starts no refresh task for want of energy.
  mutating func isSavingEnergy(_ device: Int) -> Bool {
    guard !bodies.isEmpty, bodies[device] != nil else { return false }
    if bodies[device]!.isOff || bodies[device]!.isLowPower { return true }
    if bodies[device]!.thermal == .critical, thermal(of: device)?.criticalStops == true {
      return true
    }
    return !devices[device].isPlugged
      && bodies[device]!.energy(at: now)
        < bodies[device]!.threshold(battery(of: device).essentialBelow)
  }

  /// The speed of training, in percent.
  mutating func speed(of device: Int) -> Int64 {
    bodies.isEmpty ? 100 : bodies[device]?.speed ?? 100
  }

  /// After an event: what flows in the devices that it touched.
  mutating func refreshBodies(after event: Event, actor: Int32) {
    if actor > 0 { return refreshBody(Int(actor) - 1) }
    // The server's end breaks the connections of many.
    if case .server = event { for device in devices.indices { refreshBody(device) } }
  }

  /// Brings a device's battery and heat up to date, with all that follows from it.
  mutating func refreshBody(_ device: Int) {
    guard bodies[device] != nil else { return }
    let load = load(of: device)
    let charger =
      devices[device].isPlugged && !isAway(device)
      ? batteryFigures[Int(devices[device].group)].charger.milliwatts : 0
    let isChecked = now >= bodies[device]!.check
    guard isChecked || load != bodies[device]!.load || charger != bodies[device]!.charger else {
      return
    }
    bodies[device]!.settle(at: now)
    bodies[device]!.load = load
    bodies[device]!.charger = charger
    let wasSparing = isSparing(device)
    updateConditions(device)
    bodies[device]!.load = self.load(of: device)
    planCheck(device)
    if wasSparing, !isSparing(device) { considerTask(device) }
  }

  private mutating func load(of device: Int) -> Load {
    if bodies[device]!.isOff || isAway(device) { return Load() }
    let group = Int(devices[device].group)
    var load = Load(idle: batteryFigures[group].idle.milliwatts)
    if devices[device].isActive { load.screen = batteryFigures[group].screen.milliwatts }
    guard devices[device].session != nil else { return load }
    if devices[device].run != nil {
      let power = hardware(of: device)?.power ?? batteryFigures[group].training.milliwatts
      load.training = power * bodies[device]!.speed / 100
    }
    if let phase = devices[device].transfer?.phase, phase != .awaiting {
      load.radio =
        (devices[device].link == 1
        ? batteryFigures[group].cellular : batteryFigures[group].wifi).milliwatts
    }
    return load
  }

  /// Schedules the moment at which the next threshold is passed, unless one is looked at before.
  private mutating func planCheck(_ device: Int) {
    let next = min(bodies[device]!.nextCrossing(), bodies[device]!.bootsAt)
    guard next < bodies[device]!.check || bodies[device]!.check <= now else { return }
    bodies[device]!.check = next
    bodies[device]!.checkGeneration += 1
    guard next != .never else { return }
    schedule(
      .deviceTimer(
        .body, device: Int32(device), generation: bodies[device]!.checkGeneration), .world,
      at: next, by: device)
  }

  /// The states that follow from energy and heat.
  private mutating func updateConditions(_ device: Int) {
    if bodies[device]!.isOff { return considerBoot(device) }
    let (energy, charger) = (bodies[device]!.energy, bodies[device]!.charger)
    if energy == 0, bodies[device]!.rate < 0 || charger == 0 { return shutDown(device) }
    let isFull = charger > 0 && energy >= bodies[device]!.capacity
    var changed = isFull != bodies[device]!.isFull
    if changed {
      bodies[device]!.isFull = isFull
      if isFull { note(device, .condition(.full)) }
    }
    let band = bodies[device]!.band
    if band > bodies[device]!.promptBand, charger == 0, !bodies[device]!.isLowPower {
      changed = promptLowPower(device) || changed
    }
    bodies[device]!.promptBand = band
    if bodies[device]!.isLowPower, charger > 0,
      energy >= bodies[device]!.threshold(battery(of: device).lowPowerEnds)
    {
      bodies[device]!.isLowPower = false
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
    bodies[device]!.isLowPower = true
    note(device, .condition(.lowPowerOn))
    return true
  }

  private mutating func updateHeat(_ device: Int) -> Bool {
    let state = ThermalState(rawValue: UInt8(bodies[device]!.heatLimitsPassed))!
    guard state != bodies[device]!.thermal else { return false }
    bodies[device]!.thermal = state
    if state == .nominal { bodies[device]!.isThrottled = false }
    if bodies[device]!.isSerious { bodies[device]!.isThrottled = true }
    let names: [Condition] = [.nominal, .fair, .serious, .critical]
    note(device, .condition(names[Int(state.rawValue)]))
    if state == .critical { stopAtCritical(device) }
    return true
  }

  /// A run goes on at the speed that heat and low-power mode leave.
  private mutating func updateSpeed(_ device: Int) {
    var speed: Int64 = 100
    if bodies[device]!.isLowPower {
      speed = speed * Int64(battery(of: device).lowPowerSpeed) / 100
    }
    if bodies[device]!.isThrottled,
      let throttled = inputs.fleet[Int(devices[device].group)].thermal?.throttledSpeed
    {
      speed = speed * Int64(throttled) / 100
    }
    speed = max(1, speed)
    guard speed != bodies[device]!.speed else { return }
    bodies[device]!.speed = speed
    changeSpeed(device, to: speed)
    bodies[device]!.load = load(of: device)
  }

  /// It is hot around the device, or no longer.
  mutating func setHot(_ device: Int, _ isHot: Bool) {
    guard !bodies.isEmpty, bodies[device] != nil, let thermal = thermal(of: device) else {
      return
    }
    bodies[device]!.settle(at: now)
    bodies[device]!.isHot = isHot
    bodies[device]!.chargingLoss = Int64(thermal.chargingLoss)
    bodies[device]!.cooling = (isHot ? thermal.hotCooling : thermal.cooling).milliwatts
    planCheck(device)
  }

  // MARK: Empty

  private mutating func shutDown(_ device: Int) {
    if devices[device].session != nil { kill(device) } else { endProcess(device) }
    note(device, .condition(.shutDown))
    bodies[device]!.isOff = true
    bodies[device]!.isLowPower = false
    bodies[device]!.load = Load()
    changeLink(device) { $0.isOff = true }
  }

  /// Plugged in and at its boot level, a device that was empty comes back after its boot delay.
  private mutating func considerBoot(_ device: Int) {
    let settings = battery(of: device)
    let body = bodies[device]!
    let mayBoot = body.charger > 0 && body.energy >= body.threshold(settings.bootLevel)
    if !mayBoot {
      bodies[device]!.bootsAt = .never
    } else if body.bootsAt == .never {
      bodies[device]!.bootsAt = now + settings.bootDelay
    } else if body.bootsAt <= now {
      bodies[device]!.bootsAt = .never
      bodies[device]!.isOff = false
      bodies[device]!.speed = 100
      bodies[device]!.load = load(of: device)
      note(device, .condition(.booted))
      lockKeychain(device)
      if !devices[device].isActive { devices[device].lockedSince = now }
      changeLink(device) { $0.isOff = false }
      considerTask(device)
    }
  }
}
