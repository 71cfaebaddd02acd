/// Heartbeats, counted in closed form.
enum Heartbeat {
  /// After an event: what decides about the heartbeats of the devices that it touched.
  static func refreshIdentities(
    after event: Event, actor: Int32, _ devices: inout Devices, _ cx: inout Context
  ) {
    if actor > 0 { return refreshBeats(Int(actor) - 1, &devices, &cx) }
    // The server's end touches all of them.
    if case .server = event {
      for device in devices.indices { refreshBeats(device, &devices, &cx) }
    }
  }

  /// Counts the heartbeats until now if what decides about them has changed.
  static func refreshBeats(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let settings = cx.inputs.fleet[Int(devices[device].group)].heartbeats else { return }
    let old = devices.identities.devices[device].beats.conditions
    let new = beatConditions(device, settings, &devices, &cx)
    let isWaiting = devices.identities.devices[device].beats.isWaiting
    let isOwed = devices.identities.devices[device].beats.isOwed
    guard new != old || isWaiting || isOwed else { return }
    settleBeats(device, isCut: new.link != old.link, &devices, &cx)
    devices.identities.devices[device].beats.conditions = new
    if new.period != old.period {
      restartBeats(device, settings, old: old, new: new, &devices, &cx)
    }
    if isWaiting { endWait(device, &devices, &cx) }
    if isOwed { pay(device, &devices, &cx) }
    planBeat(device, &devices, &cx)
  }

  /// The app begins to run, stops, or moves between hand and background.
  private static func restartBeats(
    _ device: Int, _ settings: HeartbeatSettings, old: BeatConditions, new: BeatConditions,
    _ devices: inout Devices, _ cx: inout Context
  ) {
    var beats = devices.identities.devices[device].beats
    beats.isRefused = false
    if new.period == 0 {
      beats.next = .never
      if beats.isWaiting { giveUpBeat(&beats, &cx) }
    } else if !beats.isWaiting {
      beats.isCleared = false
      // In a person's hand the app sleeps first; in the background it sends as soon as it may.
      let begin =
        isAppInUse(device, devices) ? cx.now : beats.last ?? SimTime(microseconds: .min / 2)
      beats.next = max(cx.now, begin + SimDuration(microseconds: new.period))
    }
    devices.identities.devices[device].beats = beats
  }

  /// One that was due is not sent.
  private static func giveUpBeat(
    _ beats: inout BeatRegion, _ cx: inout Context
  ) {
    cx.books.identities.heartbeats.due += 1
    cx.books.identities.heartbeats.withheld += 1
    beats.isWaiting = false
    beats.last = cx.now
  }

  /// The app has only begun to run in the background and cannot send a thing: the heartbeat that it
  /// would begin with is not sent either.
  static func dropFirstBeat(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let settings = cx.inputs.fleet[Int(devices[device].group)].heartbeats,
      devices.identities.devices[device].beats.conditions.period == 0, !isAppInUse(device, devices)
    else { return }
    var beats = devices.identities.devices[device].beats
    if !beats.isOwed, let last = beats.last, last + settings.background > cx.now { return }
    beats.isOwed = false
    giveUpBeat(&beats, &cx)
    devices.identities.devices[device].beats = beats
  }

  /// A heartbeat waits for a step: the step is done, has failed, or continues.
  private static func endWait(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard devices.identities.devices[device].beats.isWaiting else { return }
    let period = devices.identities.devices[device].beats.conditions.period
    if case .ready = Identity.standing(device, devices, cx) {
      devices.identities.devices[device].beats.isWaiting = false
      devices.identities.devices[device].beats.isCleared = true
      devices.identities.devices[device].beats.next = cx.now
    } else if devices[device].session == nil {
      var beats = devices.identities.devices[device].beats
      giveUpBeat(&beats, &cx)
      beats.next = cx.now + SimDuration(microseconds: period)
      devices.identities.devices[device].beats = beats
    }
  }

  /// Whether a person has the app open.
  static func isAppInUse(_ device: Int, _ devices: borrowing Devices) -> Bool {
    if devices.identities.devices[device].beats.isOpen { return true }
    return devices[device].session?.kind.isInUse == true
  }

  private static func beatConditions(
    _ device: Int, _ settings: HeartbeatSettings, _ devices: inout Devices, _ cx: inout Context
  ) -> BeatConditions {
    var new = BeatConditions()
    new.link = cx.network[device].link
    let isInUse = isAppInUse(device, devices)
    if isInUse || devices[device].session != nil {
      new.period = (isInUse ? settings.foreground : settings.background).microseconds
    }
    new.truth = new.link == 0 ? .offline : new.period > 0 ? .online : .idle
    let rates = cx.network[device].rates
    (new.up, new.down) = (rates.up.bitsPerSecond, rates.down.bitsPerSecond)
    new.oneWay = rates.oneWay.microseconds
    new.isReachable = cx.network.server.isReachable
    new.isWithheld =
      Identity.isUnreadable(device, devices, cx) || !Identity.mayRegister(device, devices, cx)
      || Identity.isLeftWithoutToken(device, devices, cx)
    new.reported = settings.reportedLink == .wifi ? 2 : new.link
    let group = Int(devices[device].group)
    if let own = cx.inputs.fleet[group].authentication {
      let tokens = devices.identities.devices[device].tokens
      new.expires = tokens.hasTokens ? tokens.expires : .start
      new.isForbidden = Tokens.isForbidden(device, .heartbeat, cx)
      new.needsStep = !tokens.hasTokens || tokens.mustRefresh
      let wanted = tokens.isRevoked ? tokens.expires : tokens.expires - own.leeway
      new.refreshesAt = DeviceClock.trueTime(device, showing: wanted, &devices)
      if own.refreshes == false {
        new.refreshesAt =
          isInUse ? DeviceClock.trueTime(device, showing: tokens.expires, &devices) : .never
      }
    }
    if cx.inputs.fleet[group].registration != nil, !devices.identities.devices[device].isRegistered
    {
      new.needsStep = true
    }
    return new
  }

  // MARK: Steps

  /// Schedules the first heartbeat that is more than a number: it needs a token or a registration.
  private static func planBeat(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    devices.identities.devices[device].beats.generation += 1
    let beats = devices.identities.devices[device].beats
    let held = beats.conditions
    guard held.period > 0, held.link != 0, !held.isWithheld, !beats.isWaiting, !beats.isRefused
    else { return }
    var first = beats.next
    if beats.isCleared { first = first + SimDuration(microseconds: held.period) }
    var needed = held.needsStep ? SimTime.start : held.refreshesAt
    if noticesRefusals(device, &devices, &cx), held.isReachable, held.expires != .never {
      needed = min(needed, held.expires - beatSpans(held, cx).arrives)
    }
    guard needed != .never, first != .never else { return }
    if needed > first {
      let gap = (needed - first).microseconds
      let periods = (gap + held.period - 1) / held.period
      first = first + SimDuration(microseconds: periods * held.period)
    }
    cx.schedule(
      .deviceTimer(.heartbeat, device: Int32(device), generation: beats.generation), .deviceTimer,
      at: first, by: device)
  }

  /// Whether a refused heartbeat makes the app get another token.
  private static func noticesRefusals(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> Bool
  {
    let group = cx.inputs.fleet[Int(devices[device].group)]
    return group.heartbeats?.ignoresStatus == false
      && group.authentication?.onUnauthorised == .refresh
      && group.authentication?.refreshes != false
  }

  /// A heartbeat is due that is more than a number, or its refusal has come.
  static func beatRang(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    settleBeats(device, isCut: false, &devices, &cx)
    if devices.identities.devices[device].beats.isRefused {
      devices.identities.devices[device].beats.isRefused = false
      if devices.identities.devices[device].tokens.isRevoked {
        devices.identities.devices[device].tokens.hasTokens = false
      }
      devices.identities.devices[device].tokens.mustRefresh = true
    }
    let request: IdentityRequest
    switch Identity.standing(device, devices, cx) {
    case .blocked:
      var beats = devices.identities.devices[device].beats
      giveUpBeat(&beats, &cx)
      beats.next = cx.now + SimDuration(microseconds: beats.conditions.period)
      devices.identities.devices[device].beats = beats
      return planBeat(device, &devices, &cx)
    case .ready:
      // The device thinks its token good and the server will not: the answer tells.
      devices.identities.devices[device].beats.isRefused = true
      devices.identities.devices[device].beats.generation += 1
      let spans = beatSpans(devices.identities.devices[device].beats.conditions, cx)
      return cx.schedule(
        .deviceTimer(
          .heartbeat, device: Int32(device),
          generation: devices.identities.devices[device].beats.generation), .deviceTimer,
        at: cx.now + spans.ends, by: device)
    case .request(let wanted): request = wanted
    }
    devices.identities.devices[device].beats.isWaiting = true
    if devices[device].session == nil {
      Session.beginSession(device, .heartbeat, soft: .never, hard: .never, &devices, &cx)
    } else if cx.network[transferOf: device] == nil, devices[device].run == nil,
      devices[device].session?.isStuck == false, devices[device].session?.isExpiring == false
    {
      Identity.startIdentity(device, request, &devices, &cx)
    }
  }

  // MARK: Numbers

  /// How long after its begin a heartbeat is sent, at the server, answered in full.
  static func beatSpans(
    _ held: BeatConditions, _ cx: borrowing Context
  ) -> (sent: SimDuration, arrives: SimDuration, ends: SimDuration) {
    let way = SimDuration(microseconds: held.oneWay)
    let sent = BitRate(bitsPerSecond: max(1, held.up))
      .duration(bytes: WireSize.bytes(of: .heartbeat, cx), less: 0)
    let answer = BitRate(bitsPerSecond: max(1, held.down))
      .duration(bytes: WireSize.bytes(of: .heartbeatAnswer, cx), less: 0)
    return (sent, sent + way, sent + way + way + answer)
  }

  /// Counts the heartbeats that were due before now under the conditions that held until now.
  ///
  /// Each is counted as if it alone were on the link. `isCut`: what was under way is lost.
  /// Complexity: O(1) but for heartbeats that are still under way.
  static func settleBeats(
    _ device: Int, isCut: Bool, isEnd: Bool = false, _ devices: inout Devices, _ cx: inout Context
  ) {
    keepReports(device, &devices, cx)
    let settings = devices.identities.presence
    let held = devices.identities.devices[device].beats.conditions
    let first = devices.identities.devices[device].beats.next
    if held.period > 0, !devices.identities.devices[device].beats.isWaiting, first < cx.now {
      let count = Int(((cx.now - first).microseconds - 1) / held.period) + 1
      func due(_ number: Int) -> SimTime {
        first + SimDuration(microseconds: Int64(number) * held.period)
      }
      devices.identities.devices[device].beats.next = due(count)
      devices.identities.devices[device].beats.last = due(count - 1)
      devices.identities.devices[device].beats.isCleared = false
      cx.books.identities.heartbeats.due += count
      if held.isWithheld {
        cx.books.identities.heartbeats.withheld += count
      } else if held.link == 0 {
        cx.books.identities.heartbeats.unsent += count
      } else {
        var whole = count
        if isCut || isEnd {
          // One whose answer ends now is lost, as everything that ends as the link goes.
          let room = (cx.now - first).microseconds - beatSpans(held, cx).ends.microseconds
          let fits = isEnd ? room + 1 : room
          whole = fits <= 0 ? 0 : min(count, Int((fits - 1) / held.period) + 1)
        }
        send(device, held, whole, from: first, &devices, &cx)
        for number in whole..<count {
          cutBeat(device, held, due(number), isEnd: isEnd, &devices, &cx)
        }
      }
    }
    devices.identities.devices[device].beats.belief.advance(to: cx.now, held, settings)
  }

  /// This many heartbeats go their way undisturbed.
  private static func send(
    _ device: Int, _ held: BeatConditions, _ count: Int, from first: SimTime,
    _ devices: inout Devices, _ cx: inout Context
  ) {
    guard count > 0 else { return }
    let spans = beatSpans(held, cx)
    let sent = Int64(count) * WireSize.bytes(of: .heartbeat, cx)
    guard held.isReachable else {
      countBeatBytes(device, held, .timedOut, up: sent, &cx)
      cx.books.identities.heartbeats.failed += count
      return cx.books.ledgers.transmissions.record(count, .timedOut)
    }
    let good = goodBeats(held, count, from: first + spans.arrives)
    let bad = count - good
    if held.isForbidden {
      cx.books.identities.heartbeats.forbidden += bad
    } else {
      cx.books.identities.heartbeats.unauthorised += bad
    }
    cx.books.identities.heartbeats.accepted += good
    let ignores = cx.inputs.fleet[Int(devices[device].group)].heartbeats?.ignoresStatus == true
    cx.books.identities.heartbeats.succeeded += ignores ? count : good
    cx.books.identities.heartbeats.failed += ignores ? 0 : bad
    countBeats(device, held, ignores ? count : good, .delivered, &cx)
    if !ignores {
      countBeats(device, held, bad, held.isForbidden ? .forbidden : .unauthorised, &cx)
    }
    devices.identities.devices[device].beats.belief.arrive(
      good, from: first + spans.arrives, every: held.period, before: cx.now, held,
      devices.identities.presence)
  }

  /// How many of some heartbeats reach the server while their token is good.
  static func goodBeats(_ held: BeatConditions, _ count: Int, from first: SimTime) -> Int {
    if held.isForbidden { return 0 }
    if held.expires == .never { return count }
    if first >= held.expires { return 0 }
    return min(count, Int(((held.expires - first).microseconds - 1) / held.period) + 1)
  }

  /// The link goes, or the run ends, while a heartbeat is under way.
  private static func cutBeat(
    _ device: Int, _ held: BeatConditions, _ due: SimTime, isEnd: Bool, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    let spans = beatSpans(held, cx)
    let (bytes, back) = (
      WireSize.bytes(of: .heartbeat, cx), WireSize.bytes(of: .heartbeatAnswer, cx)
    )
    var outcome = TransmissionOutcome.linkLost
    var (up, down) = (bytes, Int64(0))
    if due + spans.sent >= cx.now {
      let rate = BitRate(bitsPerSecond: max(1, held.up))
      up = min(bytes, rate.bytes(in: cx.now - due, after: 0).bytes)
    } else {
      let answered = due + spans.arrives + SimDuration(microseconds: held.oneWay)
      outcome = !held.isReachable || answered >= cx.now ? .unacknowledged : .linkLost
      if held.isReachable, answered < cx.now {
        let rate = BitRate(bitsPerSecond: max(1, held.down))
        down = min(back, rate.bytes(in: cx.now - answered, after: 0).bytes)
      }
      let arrival = due + spans.arrives
      if held.isReachable, !isEnd || arrival <= cx.now {
        if goodBeats(held, 1, from: arrival) == 1 {
          cx.books.identities.heartbeats.accepted += 1
          devices.identities.devices[device].beats.belief.arrive(
            1, from: arrival, every: held.period, before: cx.now, held, devices.identities.presence)
        } else if held.isForbidden {
          cx.books.identities.heartbeats.forbidden += 1
        } else {
          cx.books.identities.heartbeats.unauthorised += 1
        }
      }
    }
    countBeatBytes(
      device, held, isEnd ? .unfinishedAtEnd : outcome, up: up, down: down, &cx)
    if isEnd {
      cx.books.identities.heartbeats.unfinished += 1
      return cx.books.ledgers.transmissions.record(1, .unfinishedAtEnd)
    }
    cx.books.identities.heartbeats.failed += 1
    cx.books.ledgers.transmissions.record(1, outcome)
  }

  /// This many heartbeats were answered so.
  private static func countBeats(
    _ device: Int, _ held: BeatConditions, _ count: Int, _ outcome: TransmissionOutcome,
    _ cx: inout Context
  ) {
    cx.books.ledgers.transmissions.record(count, outcome)
    countBeatBytes(
      device, held, outcome, up: Int64(count) * WireSize.bytes(of: .heartbeat, cx),
      down: Int64(count) * WireSize.bytes(of: .heartbeatAnswer, cx), &cx)
  }

  private static func countBeatBytes(
    _ device: Int, _ held: BeatConditions, _ outcome: TransmissionOutcome, up: Int64,
    down: Int64 = 0, _ cx: inout Context
  ) {
    var carried = CarriedBytes()
    carried.add(link: held.link, up: up, down: down)
    cx.books.traffic.book(carried, outcome)
    CellularDays.count(device, link: held.link, up + down, &cx)
    Accounting.countBytes(device, up: up, down: down, &cx)
  }

  /// The run is over: what was under way stays so.
  static func finishBeats(_ devices: inout Devices, _ cx: inout Context) {
    for device in devices.identities.devices.indices
    where cx.inputs.fleet[Int(devices[device].group)].heartbeats != nil {
      if devices.identities.devices[device].beats.isWaiting {
        var beats = devices.identities.devices[device].beats
        giveUpBeat(&beats, &cx)
        // None was due while this one waited.
        beats.next = .never
        devices.identities.devices[device].beats = beats
      }
      settleBeats(device, isCut: false, isEnd: true, &devices, &cx)
    }
  }
}
