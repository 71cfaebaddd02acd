import Learning
import Numerics

/// What happened between devices and server beyond the usual, counted.
public struct ExchangeTallies: Sendable, Codable {
  /// Requests that were rejected with a timeout.
  public internal(set) var rejectedWithTimeout = 0
  /// Requests that were rejected without one.
  public internal(set) var rejectedForGood = 0
  /// Rejections that a device could not read.
  public internal(set) var undecodedTimeouts = 0
  /// Requests for a model with the key of a cycle that is over.
  public internal(set) var invalidKeys = 0
  /// Updates to a finished cycle, which the server acknowledged as if they counted.
  public internal(set) var lateReports = 0
  /// Answers of no samples.
  public internal(set) var emptyUpdates = 0
  /// Streams that broke before the result was there.
  public internal(set) var brokenStreams = 0
  /// Devices that were asked to disconnect and come back.
  public internal(set) var reconnects = 0
  /// Models that a device could not read whole.
  public internal(set) var layoutMismatches = 0
  /// Sessions that had no server to turn to.
  public internal(set) var unconnectedSessions = 0
  /// Erasures that reached the server.
  public internal(set) var erasures = 0
}

/// What happened where the server asks for more than trainings, counted.
public struct InstructionTallies: Sendable, Equatable, Codable {
  /// Workers that were enrolled: a device is a new one for each request for work.
  public internal(set) var workers = 0
  /// Speed tests that ended.
  public internal(set) var speedTests = 0
  /// Plans that were sent.
  public internal(set) var plans = 0
  /// Trainings by hyper-parameters of the server.
  public internal(set) var configuredTrainings = 0
  /// Devices that were asked for the initial model.
  public internal(set) var modelsAsked = 0
  /// Answers to questions for properties.
  public internal(set) var propertiesAnswered = 0
  /// Answers that the app knows of none.
  public internal(set) var propertiesNotImplemented = 0
  /// Results of evaluations that came when their evaluation was over.
  public internal(set) var lateEvaluations = 0
  /// Streams that ended, by the reason that the device gives, in the order of `DisconnectReason`.
  public internal(set) var disconnects = [Int](repeating: 0, count: 4)
}

extension ExchangeTallies {
  package var named: [(name: String, count: Int, text: String)] {
    [
      ("rejectedWithTimeout", rejectedWithTimeout, "requests rejected with a timeout"),
      ("rejectedForGood", rejectedForGood, "requests rejected without a timeout"),
      (
        "undecodedTimeouts", undecodedTimeouts, "rejections whose timeout a device could not decode"
      ),
      ("invalidKeys", invalidKeys, "model requests with the key of a finished cycle"),
      ("lateReports", lateReports, "updates sent to a finished cycle"),
      ("emptyUpdates", emptyUpdates, "replies with zero samples"),
      ("brokenStreams", brokenStreams, "streams that broke before the result arrived"),
      ("reconnects", reconnects, "instructions to disconnect and reconnect later"),
      ("layoutMismatches", layoutMismatches, "models that a device could not decode completely"),
      ("unconnectedSessions", unconnectedSessions, "sessions without a server address"),
      ("erasures", erasures, "erasure requests that reached the server"),
    ]
  }
}

extension InstructionTallies {
  package var named: [(name: String, count: Int, text: String)] {
    [
      ("workers", workers, "workers enrolled; each request for work enrols a new one"),
      ("speedTests", speedTests, "speed tests, each in both directions"),
      ("plans", plans, "plans sent by the server"),
      ("configuredTrainings", configuredTrainings, "trainings with the server's hyper-parameters"),
      ("modelsAsked", modelsAsked, "requests to devices for the initial model"),
      ("propertiesAnswered", propertiesAnswered, "answers to property requests"),
      (
        "propertiesNotImplemented", propertiesNotImplemented,
        "answers that the app has no properties (code 1)"
      ),
      (
        "lateEvaluations", lateEvaluations,
        "evaluation results that arrived after the evaluation had ended"
      ),
      ("disconnectsUnknown", disconnects[0], "streams that ended without a stated reason"),
      (
        "disconnectsReconnect", disconnects[1],
        "streams that ended because the server asked the device to reconnect"
      ),
      ("disconnectsPower", disconnects[2], "streams that ended because external power was missing"),
      ("disconnectsWifi", disconnects[3], "streams that ended because Wi-Fi was missing"),
    ]
  }
}
