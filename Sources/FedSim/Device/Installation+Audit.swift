import Numerics

extension Installation {
  /// What the identity of a device cannot be.
  static func identityImpossibilities(_ device: Int, _ devices: Devices, _ cx: Context) -> [String]
  {
    let identity = devices.identities.devices[device]
    let tokens = identity.tokens
    var found: [String] = []
    func never(_ isSo: Bool, _ what: String) {
      if isSo { found.append("\(Roster.path(of: device, cx)) \(what)") }
    }
    never(tokens.misuses > 0, "uses a token that it knows to be expired")
    never(
      tokens.hasTokens && tokens.refresh > cx.network.accounts[device].current,
      "has a token that was never issued")
    never(
      identity.isRegistered && cx.network.accounts[device].number == 0,
      "is registered, but unknown to the server")
    never(
      identity.isKeychainLocked && devices[device].isActive, "is in use, and its keys are locked")
    never(identity.beats.isOpen && !devices[device].isActive, "is locked, and its app is open")
    never(
      identity.beats.isWaiting && identity.beats.conditions.period == 0,
      "waits for a heartbeat of an app that does not run")
    let belief = identity.beats.belief
    never(
      belief.times.reduce(0, +) != belief.until.microseconds
        || belief.linkTimes.reduce(0, +) != belief.until.microseconds,
      "is believed in for a different time")
    guard device == 0 else { return found }
    let beats = cx.books.identities.heartbeats
    let told = beats.withheld + beats.unsent + beats.sent
    never(
      beats.due != told, "and others: \(beats.due) heartbeats were due, \(told) are accounted for")
    never(
      beats.accepted + beats.unauthorised + beats.forbidden > beats.sent,
      "and others: more heartbeats arrived than were sent")
    return found
  }
}
