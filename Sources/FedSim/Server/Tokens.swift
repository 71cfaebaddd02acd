/// Tokens and registration at the server.
enum Tokens {
  /// What the token check decides about a request.
  enum Judgement {
    /// It is handled.
    case passed
    /// It goes no further: it is refused, or was one for a token or a registration.
    case answered
  }

  /// Judges a request that reaches the server by the token that came with it.
  static func judge(
    _ device: Int, _ id: UInt32, _ request: Request, _ cx: inout Context
  ) -> Judgement {
    let credentials = cx.network.accounts[device].credentials
    guard let place = credentials.firstIndex(where: { $0.id == id }) else { return .passed }
    let credential = credentials[place]
    cx.network.accounts[device].credentials.remove(at: place)
    guard cx.network.server.isReachable else { return .passed }
    let scope: Scope
    switch request {
    case .check, .enrol, .probe, .properties: scope = .check
    case .latest, .fetch, .plan, .central(.model): scope = .download
    case .submit, .sendModel, .evaluated, .central: scope = .submit
    case .leave, .disconnect, .erase: return .passed
    case .identity(let request):
      serve(device, credential, request, &cx)
      return .answered
    }
    guard let refusal = refusal(device, credential, scope, cx) else { return .passed }
    if case .submit(let update) = request { cx.copyCame(update, isOpen: false) }
    if case .central(let request) = request { Collecting.centralCame(request, &cx) }
    refuse(device, id, refusal, &cx)
    return .answered
  }

  private static func refuse(
    _ device: Int, _ id: UInt32, _ refusal: Refusal, _ cx: inout Context
  ) {
    if refusal == .unauthorised { cx.books.identities.unauthorised += 1 }
    if refusal == .forbidden { cx.books.identities.forbidden += 1 }
    Requests.answer(device, id, .refused(refusal), &cx)
  }

  /// Why a request is refused; nil: it is not.
  private static func refusal(
    _ device: Int, _ credential: Credential, _ scope: Scope, _ cx: borrowing Context
  ) -> Refusal? {
    guard cx.inputs.fleet[cx.members.group(of: device)].authentication != nil else { return nil }
    guard let expires = credential.expires, cx.now < expires else { return .unauthorised }
    return isForbidden(device, scope, cx) ? .forbidden : nil
  }

  /// Whether a good token of a device is no good for this server and purpose.
  static func isForbidden(
    _ device: Int, _ scope: Scope, _ cx: borrowing Context
  ) -> Bool {
    guard let own = cx.inputs.fleet[cx.members.group(of: device)].authentication else {
      return false
    }
    if let served = cx.inputs.server.tokens.organisations, !served.contains(own.organisation) {
      return true
    }
    return !own.scopes.contains(scope)
  }

  private static func serve(
    _ device: Int, _ credential: Credential, _ request: IdentityRequest, _ cx: inout Context
  ) {
    let id = credential.id
    if request == .register { return register(device, credential, &cx) }
    guard cx.network.accounts.service?.state(at: cx.now) != 0 else {
      return refuse(device, id, .unavailable, &cx)
    }
    let settings = cx.inputs.server.tokens
    var tokens = cx.network.accounts[device]
    if request == .refresh {
      let isCurrent = credential.refresh == tokens.current
      let isSpared =
        credential.refresh == tokens.previous
        && cx.now <= tokens.rotatedAt + settings.rotationGrace
      let isOutdated = settings.refreshLife.map { cx.now > tokens.rotatedAt + $0 } ?? false
      guard !tokens.isClosed, isCurrent || isSpared, !isOutdated else {
        // An old refresh token may be a stolen one: the whole family is good no more.
        cx.network.accounts[device].isClosed = true
        return Requests.answer(device, id, .refused(.unauthorised), &cx)
      }
      if settings.rotates, isCurrent { rotate(&tokens, cx) }
    } else {
      tokens.isClosed = false
      rotate(&tokens, cx)
    }
    tokens.issued.append(
      IssuedTokens(
        id: id, refresh: tokens.current, expires: cx.now + settings.tokenLife))
    cx.network.accounts[device] = tokens
    Requests.answer(device, id, .granted(request), &cx)
  }

  private static func rotate(_ tokens: inout Account, _ cx: borrowing Context) {
    tokens.previous = tokens.current
    tokens.current += 1
    tokens.rotatedAt = cx.now
  }

  /// A device asks for a number; an installation that asks again gets the same one.
  private static func register(
    _ device: Int, _ credential: Credential, _ cx: inout Context
  ) {
    if let refusal = refusal(device, credential, .register, cx) {
      return refuse(device, credential.id, refusal, &cx)
    }
    cx.books.identities.registrations += 1
    if cx.network.accounts[device].number == 0 {
      cx.books.identities.registered += 1
      cx.network.accounts[device].number = Int32(cx.books.identities.registered)
    }
    Requests.answer(device, credential.id, .granted(.register), &cx)
  }
}
