import Schema

/// The states of one phone as FLASH's messages change them.
private struct FLASHPhone {
  var isPlugged = false
  /// The network: 0 none known, 1 Wi-Fi, 2 to 5 by generation.
  var network = 0
  /// The last network that was known.
  var known = 0
  /// nil: not known yet.
  var isLocked: Bool?
  var isScreenOn: Bool?
  var isOff = false

  mutating func take(_ event: FLASHEvent) {
    switch event {
    case .chargedOn: isPlugged = true
    case .chargedOff: isPlugged = false
    case .batteryOkay, .batteryLow: break
    case .wifi: connect(1)
    case .secondGeneration: connect(2)
    case .thirdGeneration: connect(3)
    case .fourthGeneration: connect(4)
    case .fifthGeneration: connect(5)
    case .unknown: network = 0
    case .screenOn: isScreenOn = true
    case .screenOff: isScreenOn = false
    case .screenLock: isLocked = true
    case .screenUnlock: isLocked = false
    case .phoneOn: isOff = false
    case .phoneOff:
      isOff = true
      (isScreenOn, isLocked) = (false, true)
    }
  }

  private mutating func connect(_ network: Int) { (self.network, known) = (network, network) }

  /// The network that counts: the last one known in a gap, if that is the policy.
  private func network(_ settings: FLASHSource.Settings) -> Int {
    if isOff { return 0 }
    return network == 0 && settings.gapPolicy == .keep ? known : network
  }

  func state(of space: StateSpace, _ settings: FLASHSource.Settings) -> UInt8 {
    let network = network(settings)
    let isFree: Bool
    let isActive: Bool
    switch settings.inUse {
    case .unlocked: (isActive, isFree) = (isLocked == false, isLocked == true)
    case .screenOn: (isActive, isFree) = (isScreenOn == true, isScreenOn == false)
    }
    if space == .power { return isPlugged ? 1 : 0 }
    if space == .link { return network == 0 ? 0 : network == 1 ? 2 : 1 }
    if space == .usage { return isActive ? 1 : 0 }
    if space == .window { return isPlugged && isFree && network == 1 ? space.usual : 0 }
    let shares = settings.shares ?? FLASHSource.CellularShares()
    return UInt8([100, 100, shares.g2, shares.g3, shares.g4, shares.g5][network])
  }
}

extension FLASHSource {
  /// One message of a trace.
  public struct Message: Sendable {
    /// When, in seconds since 1970 by the clock on the phone's wall.
    public let second: Int64
    /// What; nil: a level of the battery, which no series has.
    public let event: FLASHEvent?

    /// A message.
    public init(second: Int64, event: FLASHEvent?) {
      self.second = second
      self.event = event
    }
  }

  /// How long a trace is after which it begins again; nil: it does not, or is no time long.
  public func period(of messages: [Message]) -> SimDuration? {
    guard settings.replay.cycle, let first = messages.first, let last = messages.last else {
      return nil
    }
    if let period = settings.period { return period }
    return last.second > first.second ? .seconds(last.second - first.second) : nil
  }

  /// One series of a trace; its messages are in order of time, and none is beyond the period.
  public func series(_ messages: [Message], _ space: StateSpace) -> TraceSeries {
    let period = period(of: messages)
    var phone = FLASHPhone()
    let initial = phone.state(of: space, settings)
    if period != nil {
      // The end of one turn is the beginning of the next: what is known then is known at once.
      for message in messages { message.event.map { phone.take($0) } }
    }
    let first = messages.first?.second ?? 0
    var changes: [(at: Int64, state: UInt8)] = []
    if period != nil { changes.append((0, phone.state(of: space, settings))) }
    for message in messages {
      guard let event = message.event else { continue }
      phone.take(event)
      let state = phone.state(of: space, settings)
      if changes.last?.state != state {
        changes.append(((message.second - first) * 1_000_000, state))
      }
    }
    return TraceSeries(changes, initial: initial, period: period, first: first)
  }
}
