import Numerics

/// What the server knows of the apps of all devices; empty where no group has an identity.
struct Accounts: Codable {
  var devices: [Account] = []
  /// When the service that issues tokens works.
  @Rebuilt var service: (any Timeline)? = nil

  /// Whether no device has one.
  var isEmpty: Bool { devices.isEmpty }

  subscript(device: Int) -> Account {
    _read { yield devices[device] }
    _modify { yield &devices[device] }
  }
}

/// What the server knows of a device's app, and what is on its way between the two.
struct Account: Codable {
  /// Requests under way to the server.
  var credentials: [Credential] = []
  /// Tokens on their way to the device, by the request that they answer.
  var issued: [IssuedTokens] = []
  /// The number of this installation; 0: it has none.
  var number: Int32 = 0
  /// When it was installed.
  var installedAt = SimTime.start
  /// The refresh token that is valid, the one before, and since when.
  var current: UInt32 = 0
  var previous: UInt32 = 0
  var rotatedAt = SimTime.start
  /// Whether an old refresh token was used: then none is valid.
  var isClosed = false
}

/// What a request carries on its way to the server.
struct Credential: Codable {
  /// The request.
  let id: UInt32
  /// When the access token expires; nil: there is none.
  let expires: SimTime?
  /// The refresh token.
  let refresh: UInt32
}

/// Tokens on their way to a device.
struct IssuedTokens: Codable {
  /// The request that they answer.
  let id: UInt32
  let refresh: UInt32
  let expires: SimTime
}
