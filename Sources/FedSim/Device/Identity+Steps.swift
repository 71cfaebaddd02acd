import Numerics

/// What has to come before a request.
package enum IdentityStanding: Equatable {
  /// Nothing; whether the current token no longer counts as just issued.
  case ready(agesToken: Bool)
  case request(IdentityRequest)
  /// Nothing can be sent at present.
  case blocked(SessionEnd)
}

extension Identity {
  // MARK: Before a request

  /// What has to come before the request that comes next.
  static func standing(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> IdentityStanding
  {
    let group = Int(devices[device].group)
    let registration = cx.inputs.fleet[group].registration
    let identity = devices.identities.devices[device]
    let isCleared = identity.tokens.clearedAt == cx.now
    let ready = IdentityStanding.ready(agesToken: identity.tokens.isFresh && !isCleared)
    if isUnreadable(device, devices, cx) { return .blocked(.keychainLocked) }
    if !mayRegister(device, devices, cx) { return .blocked(.unregistered) }
    if !isCleared, let settings = cx.inputs.fleet[group].authentication {
      let own = DeviceClock.ownTime(device, at: cx.now, devices)
      let isExpired = own >= identity.tokens.expires
      if isLeftWithoutToken(device, devices, cx) { return .blocked(.unauthorised) }
      if settings.refreshes == false, identity.tokens.hasTokens {
        // A token is used as it is; a person who opens the app brings another one.
        if isExpired, Heartbeat.isAppInUse(device, devices),
          cx.now >= identity.tokens.nextBootstrap
        {
          return .request(.bootstrap)
        }
        return registration != nil && !identity.isRegistered ? .request(.register) : ready
      }
      if !identity.tokens.hasTokens || identity.tokens.isRevoked && isExpired {
        return cx.now < identity.tokens.nextBootstrap
          ? .blocked(.unauthorised) : .request(.bootstrap)
      }
      let isExpiring = own + settings.leeway >= identity.tokens.expires
      if !identity.tokens.isRevoked, identity.tokens.mustRefresh || isExpiring {
        return .request(.refresh)
      }
    }
    return registration != nil && !identity.isRegistered ? .request(.register) : ready
  }

  /// Whether a device has no token and will not be given one until its app is opened.
  static func isLeftWithoutToken(
    _ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context
  ) -> Bool {
    guard
      cx.inputs.fleet[Int(devices[device].group)].authentication?.bootstrapsInUse == true,
      !Heartbeat.isAppInUse(device, devices)
    else { return false }
    let tokens = devices.identities.devices[device].tokens
    if !tokens.hasTokens { return true }
    guard tokens.isRevoked else { return false }
    return DeviceClock.ownTime(device, at: cx.now, devices) >= tokens.expires
  }

  /// Whether the tokens cannot be read.
  static func isUnreadable(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  {
    guard devices.identities.devices[device].isKeychainLocked else { return false }
    return cx.inputs.fleet[Int(devices[device].group)].authentication != nil
  }

  /// Whether the app is registered, or may register itself now.
  static func mayRegister(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  {
    guard let settings = cx.inputs.fleet[Int(devices[device].group)].registration else {
      return true
    }
    if settings.inBackground { return true }
    if devices.identities.devices[device].isRegistered { return true }
    return Heartbeat.isAppInUse(device, devices)
  }

  /// Begins a request for an identity.
  static func startIdentity(
    _ device: Int, _ request: IdentityRequest, _ devices: inout Devices, _ cx: inout Context
  ) {
    var bytes = WireSize.bytes(of: .identityRequest, cx)
    if request == .register { bytes = registrationBytes(device, &devices, &cx) }
    Requesting.startRequest(
      device, .identity(request), .identity(request), bytes: bytes, &devices, &cx)
  }

  /// The session cannot send what comes next: it trains on if it was about to, else rests or ends.
  static func withhold(
    _ device: Int, _ reason: SessionEnd, _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.books.identities.withheld += 1
    cx.note(device, .identity(.withheld(reason)))
    Heartbeat.dropFirstBeat(device, &devices, &cx)
    guard let session = devices[device].session, !session.isPausing else { return }
    if session.isExpiring { return Session.endExpired(device, &devices, &cx) }
    if let first = Outbox.sendable(device, devices, cx) { Outbox.markWaiting(first, &cx) }
    if session.stage == .train {
      devices[device].session!.tries =
        cx.inputs.fleet[Int(devices[device].group)].outbox.attempts
      return Session.proceed(device, &devices, &cx)
    }
    if session.kind == .heartbeat { return Session.endSession(device, reason, &devices, &cx) }
    // An app that only looks for news swallows the error, and says that all went well.
    if session.kind.isPoll, reason == .unregistered {
      return Session.endSession(device, .completed, &devices, &cx)
    }
    Session.rest(device, reason, &devices, &cx)
  }

  /// A request begins: no device uses a token that its own clock says has expired.
  static func watchToken(
    _ device: Int, _ purpose: Transfer.Purpose, _ devices: inout Devices, _ cx: inout Context
  ) {
    if case .identity(let request) = purpose, request != .register { return }
    guard let settings = cx.inputs.fleet[Int(devices[device].group)].authentication,
      settings.refreshes != false
    else { return }
    let tokens = devices.identities.devices[device].tokens
    let isFresh = tokens.isFresh && tokens.clearedAt == cx.now
    if !tokens.hasTokens
      || !isFresh && DeviceClock.ownTime(device, at: cx.now, devices) >= tokens.expires
    {
      devices.identities.devices[device].tokens.misuses += 1
    }
  }

  /// All bytes of a request are sent: what it carries goes with it.
  static func stamp(
    _ device: Int, _ id: UInt32, _ devices: borrowing Devices, _ cx: inout Context
  ) {
    let tokens = devices.identities.devices[device].tokens
    cx.network.accounts[device].credentials.append(
      Credential(
        id: id, expires: tokens.hasTokens ? tokens.expires : nil, refresh: tokens.refresh))
  }

  // MARK: Answers

  /// A request for an identity was granted.
  static func granted(
    _ device: Int, _ id: UInt32, _ request: IdentityRequest, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    if request == .register {
      devices.identities.devices[device].isRegistered = true
      let number = Int(cx.network.accounts[device].number)
      cx.note(device, .identity(.registered(id: number)))
      Heartbeat.owe(device, after: \.afterRegistration, &devices, cx)
      return Session.proceed(device, &devices, &cx)
    }
    let issued = cx.network.accounts[device].issued
    guard let issue = issued.first(where: { $0.id == id }) else {
      preconditionFailure("tokens arrive with the answer")
    }
    var tokens = devices.identities.devices[device].tokens
    (tokens.hasTokens, tokens.expires, tokens.refresh) = (true, issue.expires, issue.refresh)
    (tokens.isRevoked, tokens.mustRefresh, tokens.failures) = (false, false, 0)
    (tokens.clearedAt, tokens.isFresh) = (cx.now, true)
    devices.identities.devices[device].tokens = tokens
    cx.network.accounts[device].issued = []
    if request == .refresh {
      cx.books.identities.refreshes += 1
      cx.note(device, .identity(.refreshed))
    } else {
      cx.books.identities.bootstraps += 1
      cx.note(device, .identity(.bootstrapped))
    }
    Session.proceed(device, &devices, &cx)
  }

  /// A request for an identity failed, on its way or by an answer that says nothing of the tokens.
  static func identityFailed(
    _ device: Int, _ request: IdentityRequest, _ outcome: TransmissionOutcome,
    _ devices: inout Devices, _ cx: inout Context
  ) {
    cx.note(device, .identity(.failed(request, outcome)))
    if request == .refresh { cx.books.identities.failedRefreshes += 1 }
    // With the link gone the session waits for it.
    guard cx.network[device].isConnected else { return }
    let tokens = devices.identities.devices[device].tokens
    if request == .refresh, !tokens.mustRefresh,
      DeviceClock.ownTime(device, at: cx.now, devices) < tokens.expires
    {
      // The current token is valid until its hard expiry.
      devices.identities.devices[device].tokens.clearedAt = cx.now
      devices.identities.devices[device].tokens.isFresh = false
      return Session.proceed(device, &devices, &cx)
    }
    if request == .bootstrap { backOff(device, &devices, &cx) }
    withhold(device, request == .register ? .unregistered : .unauthorised, &devices, &cx)
  }

  /// The next bootstrap is not before a while.
  private static func backOff(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    guard let settings = cx.inputs.fleet[Int(devices[device].group)].authentication else { return }
    let failures = devices.identities.devices[device].tokens.failures
    devices.identities.devices[device].tokens.nextBootstrap =
      cx.now + settings.delay(afterFailures: failures)
    devices.identities.devices[device].tokens.failures += 1
  }

  /// A request was refused.
  static func refused(
    _ device: Int, _ purpose: Transfer.Purpose, _ refusal: Refusal, _ devices: inout Devices,
    _ cx: inout Context
  ) {
    if case .identity(let request) = purpose {
      if request == .refresh, refusal == .unauthorised { return revoked(device, &devices, &cx) }
      if request == .register, makeRetry(device, refusal, &devices, cx) == .sentAgain {
        return Session.proceed(device, &devices, &cx)
      }
      return identityFailed(device, request, .init(refusal), &devices, &cx)
    }
    if case .upload(let update) = purpose,
      BackgroundTransfers.isRefused(device, update, refusal, &devices, &cx)
    {
      return
    }
    if refusal == .unavailable, case .upload(let update) = purpose {
      cx.note(device, .uploadFailed(update: Int(update), .init(refusal)))
      return Outbox.uploadFailed(device, update, &devices, &cx)
    }
    cx.note(device, .identity(.refused(refusal)))
    if case .central(let request) = purpose {
      Collecting.centralFailed(device, request, .init(refusal), &cx)
    }
    if makeRetry(device, refusal, &devices, cx) == .sentAgain {
      return Session.proceed(device, &devices, &cx)
    }
    guard case .upload(let update) = purpose else {
      devices[device].session!.stage = .check
      return withhold(device, .unauthorised, &devices, &cx)
    }
    cx.note(device, .uploadFailed(update: Int(update), .init(refusal)))
    if refusal == .forbidden {
      // It would be refused again: nothing that the device can do makes it good.
      devices[device].takeOut(update)
      cx.leaveDevice(update, .forbidden)
      return Session.proceed(device, &devices, &cx)
    }
    withhold(device, .unauthorised, &devices, &cx)
  }

  /// What happens after a refused request.
  private enum Retry { case sentAgain, givenUp }

  /// Sees to it that a refused request is sent once more with a fresh token, where the app does so.
  private static func makeRetry(
    _ device: Int, _ refusal: Refusal, _ devices: inout Devices, _ cx: borrowing Context
  ) -> Retry {
    let settings = cx.inputs.fleet[Int(devices[device].group)].authentication
    let tokens = devices.identities.devices[device].tokens
    guard refusal == .unauthorised, settings?.onUnauthorised == .refresh, !tokens.isFresh,
      settings?.refreshes != false
    else { return .givenUp }
    if tokens.isRevoked { devices.identities.devices[device].tokens.hasTokens = false }
    devices.identities.devices[device].tokens.mustRefresh = true
    return .sentAgain
  }

  /// The server does not take the refresh token: what is left is the access token until it expires.
  private static func revoked(_ device: Int, _ devices: inout Devices, _ cx: inout Context) {
    cx.books.identities.revocations += 1
    cx.note(device, .identity(.revoked))
    backOff(device, &devices, &cx)
    devices.identities.devices[device].tokens.isRevoked = true
    if devices.identities.devices[device].tokens.mustRefresh {
      devices.identities.devices[device].tokens.hasTokens = false
    }
    Session.proceed(device, &devices, &cx)
  }
}
