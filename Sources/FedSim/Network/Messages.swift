import Numerics

/// A request that travels to the server.
public enum Request: Equatable, Sendable, Codable {
  /// Is there a newer version, and may I train? `participation` is −1 for a poll that wants no
  /// work.
  case check(heldVersion: Int32, participation: Int32)
  /// Send the latest version.
  case latest
  /// Take this update.
  case submit(update: Int32)
  /// The device no longer waits for a cohort.
  case leave
  /// Give me a number, or tokens.
  case identity(IdentityRequest)
  /// Send the model of the round that this device has a key for.
  case fetch(round: Int32)
  /// The device's stream is broken.
  case disconnect(participation: Int32, DisconnectReason)
  /// The device's user had something erased.
  case erase
  /// Enrol me as a worker.
  case enrol
  /// Bytes of a speed test: they come with the request, or with its answer.
  case probe(isUpload: Bool)
  /// Send the plan of the round that this device has a key for.
  case plan(round: Int32)
  /// The model that the app came with, as it was asked for.
  case sendModel(participation: Int32)
  /// The device's properties, or that it does not know them.
  case properties(isImplemented: Bool)
  /// What an evaluation found, of samples or of none.
  case evaluated(participation: Int32, hasSamples: Bool)
  /// Something for the store of a central training.
  case central(CentralRequest)
}

/// An answer that travels to a device.
public enum Response: Equatable, Sendable, Codable {
  /// The latest version, the server's own idea of its connection, and whether to train.
  case check(latest: Int32, isOnline: Bool, admission: CheckAnswer, round: Int32)
  /// A version's parameters follow.
  case model(version: Int32)
  /// There is a model, and the server believes itself offline.
  case modelUnavailable
  /// The outcome of an update.
  case receipt(Receipt)
  /// The number or the tokens that were asked for.
  case granted(IdentityRequest)
  /// The request is not served.
  case refused(Refusal)
  /// No work; when to ask again, if ever.
  case rejected(RetryAfter?)
  /// The key is one of a round that is over.
  case keyInvalid
  /// The server has failed over the request.
  case failed
  /// A worker is enrolled, and perhaps has to measure its link first.
  case enrolled(needsSpeedTest: Bool)
  /// Bytes of a speed test came, or follow.
  case probed
  /// A plan follows.
  case plan
  /// What was asked for has come.
  case noted
  /// What the store of a central training answers.
  case central(CentralResponse)
}

/// The part of a check's answer that concerns work.
public enum CheckAnswer: UInt8, Equatable, Sendable, Codable {
  case accepted, rejected, pollOnly
  /// Something else than a training: send the initial model, or properties; evaluate the version.
  case sendModel, sendProperties, evaluate
}

/// The server's answer to an update.
public struct Receipt: Equatable, Sendable, Codable {
  /// Aggregated, waiting, kept or refused while the server is offline, or rejected.
  public enum Status: String, Sendable, CaseIterable, Codable {
    case aggregated, pending, offline, rejected
  }
  /// What the server did with the update.
  public let status: Status
  /// The version that is current now.
  public let newVersion: Int32
  /// Updates that wait now.
  public let pendingCount: Int32
}

extension Request {
  /// Words that tell it from every other, for the run's digest.
  func combine(into digest: inout Fingerprint, from device: Int32) {
    switch self {
    case .check(let held, let participation):
      digest.combine(pack(.check, device, participation < 0 ? 0 : 1))
      digest.combine(UInt64(UInt32(bitPattern: held)))
    case .latest: digest.combine(pack(.latest, device))
    case .submit(let update):
      digest.combine(pack(.submit, device))
      digest.combine(UInt64(UInt32(bitPattern: update)))
    case .leave: digest.combine(pack(.leave, device))
    case .identity(let kind): digest.combine(pack(.identity, device, UInt64(kind.rawValue)))
    case .fetch(let round): digest.combine(pack(.fetch, device, UInt64(round)))
    case .disconnect(_, let reason):
      digest.combine(pack(.disconnect, device, UInt64(reason.rawValue)))
    case .erase: digest.combine(pack(.erase, device))
    case .enrol: digest.combine(pack(.enrol, device))
    case .probe(let isUpload): digest.combine(pack(.probe, device, isUpload ? 1 : 0))
    case .plan(let round): digest.combine(pack(.plan, device, UInt64(round)))
    case .sendModel: digest.combine(pack(.sendModel, device))
    case .properties(let isImplemented):
      digest.combine(pack(.properties, device, isImplemented ? 1 : 0))
    case .evaluated(_, let hasSamples): digest.combine(pack(.evaluated, device, hasSamples ? 1 : 0))
    case .central(let request): for word in request.words(device) { digest.combine(word) }
    }
  }
}

extension Response {
  /// Words that tell it from every other, for the run's digest.
  func combine(into digest: inout Fingerprint, to device: Int32) {
    switch self {
    case .check(let latest, let isOnline, let admission, let round):
      let rest = UInt64(admission.rawValue) << 1 | (isOnline ? 1 : 0)
      digest.combine(pack(.checkAnswer, device, rest))
      digest.combine(
        UInt64(UInt32(bitPattern: latest)) << 32 | UInt64(UInt32(bitPattern: round)))
    case .model(let version):
      digest.combine(pack(.model, device))
      digest.combine(UInt64(UInt32(bitPattern: version)))
    case .modelUnavailable: digest.combine(pack(.modelUnavailable, device))
    case .granted(let kind): digest.combine(pack(.granted, device, UInt64(kind.rawValue)))
    case .refused(let refusal): digest.combine(pack(.refused, device, UInt64(refusal.rawValue)))
    case .receipt(let receipt):
      let status = Receipt.Status.allCases.firstIndex(of: receipt.status)!
      digest.combine(pack(.receipt, device, UInt64(status)))
      digest.combine(
        UInt64(UInt32(bitPattern: receipt.newVersion)) << 32
          | UInt64(UInt32(bitPattern: receipt.pendingCount)))
    case .rejected(let retry):
      digest.combine(pack(.rejected, device, retry == nil ? 0 : 1))
      digest.combine((retry?.duration ?? .zero).microseconds)
    case .keyInvalid: digest.combine(pack(.keyInvalid, device))
    case .failed: digest.combine(pack(.failed, device))
    case .enrolled(let needsSpeedTest):
      digest.combine(pack(.enrolled, device, needsSpeedTest ? 1 : 0))
    case .probed: digest.combine(pack(.probed, device))
    case .plan: digest.combine(pack(.planAnswer, device))
    case .noted: digest.combine(pack(.noted, device))
    case .central(let response): for word in response.words(device) { digest.combine(word) }
    }
  }
}

/// A request by which a device gets or shows its identity.
public enum IdentityRequest: UInt8, Sendable, CaseIterable, Codable {
  case register, bootstrap, refresh
}

/// Why the server refuses a request.
public enum Refusal: Int, Sendable, CaseIterable, Codable {
  /// There is no token, or none that is good.
  case unauthorised = 401
  /// The token is good, but not for this organisation or purpose.
  case forbidden = 403
  /// The service that issues tokens is down.
  case unavailable = 503
}
