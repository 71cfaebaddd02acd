import Numerics
import Schema

/// Something that happened to a device's identity.
public enum IdentityStep: Sendable, Equatable {
  case registered(id: Int)
  case bootstrapped
  case refreshed
  /// A request failed: its way through, or by an answer.
  case failed(IdentityRequest, TransmissionOutcome)
  /// The refresh token is good no more.
  case revoked
  /// A request was refused for lack of a good token.
  case refused(Refusal)
  case keychainLocked
  case keychainUnlocked
  case reinstalled
  /// A request was not sent: there is no token, no registration, or no way to read them.
  case withheld(SessionEnd)
}

/// What a device holds of its tokens.
struct TokenRegion: Codable {
  /// Whether there is an access token, and a refresh token.
  var hasTokens = false
  /// When the access token expires, by the server's clock.
  var expires = SimTime.start
  /// The refresh token, by its number.
  var refresh: UInt32 = 0
  /// Whether the server has said that the refresh token is good no more.
  var isRevoked = false
  /// Whether the server has refused the access token.
  var mustRefresh = false
  /// The time at which a token was found good enough for the request that comes next.
  var clearedAt = SimTime(microseconds: -1)
  /// Whether that was because it was just issued.
  var isFresh = false
  /// Before this a device without tokens does not ask for them.
  var nextBootstrap = SimTime.start
  var failures = 0
  /// Requests that began with a token that the device knew to be expired: there are none.
  var misuses = 0
}

/// What a device knows of itself beyond its app's work.
struct Identity: Codable {
  /// How far the clock is ahead at the start, in microseconds, and how much faster it goes, in
  /// billionths.
  var skew: Int64 = 0
  var drift: Int64 = 0
  var tokens = TokenRegion()
  var isKeychainLocked = false
  /// Whether the app knows the number that the server gave it.
  var isRegistered = false
  var installations = 1
  var hasLostData = false
  var beats = BeatRegion()
}

/// The identities of all devices; empty where no group has anything of the kind.
struct Identities: Codable {
  var devices = RecordArray<Identity>()
  @Rebuilt var presence = PresenceSettings()
  /// Whether there are none: kept apart from `devices`, because it is read at every event.
  var isEmpty = true
}

extension IdentityStep {
  /// All that `name` can be.
  static let names =
    [
      "registered", "bootstrapped", "refreshed", "revoked", "keychainLocked", "keychainUnlocked",
      "reinstalled", "withheld",
    ] + IdentityRequest.allCases.map { "\($0)Failed" } + Refusal.allCases.map { "\($0)" }

  /// A word for it.
  public var name: String {
    switch self {
    case .registered: "registered"
    case .bootstrapped: "bootstrapped"
    case .refreshed: "refreshed"
    case .failed(let request, _): "\(request)Failed"
    case .revoked: "revoked"
    case .refused(let refusal): "\(refusal)"
    case .keychainLocked: "keychainLocked"
    case .keychainUnlocked: "keychainUnlocked"
    case .reinstalled: "reinstalled"
    case .withheld: "withheld"
    }
  }

  /// What happened, as the rest of a sentence about the device.
  public var clause: String {
    switch self {
    case .registered(let id): "it was registered as number \(id)"
    case .bootstrapped: "it got its first tokens"
    case .refreshed: "it got fresh tokens"
    case .failed(let request, let outcome): "its \(request) request failed (\(outcome))"
    case .revoked: "the server revoked its tokens, because its refresh token was not the latest"
    case .refused(let refusal):
      "the server refused its request with \(refusal.rawValue)"
        + (refusal == .unauthorised
          ? ": its token had expired" : ": its token is not valid for that")
    case .keychainLocked: "it had rebooted, and its tokens cannot be read until it is unlocked"
    case .keychainUnlocked: "it was unlocked, and its tokens can be read again"
    case .reinstalled: "its app was removed and reinstalled; all its data are lost"
    case .withheld(.unregistered):
      "it sent nothing, because its app has lost its registration and may not renew it now"
    case .withheld(.keychainLocked): "it sent nothing, because its tokens cannot be read yet"
    case .withheld: "it sent nothing, because it has no valid token"
    }
  }
}
