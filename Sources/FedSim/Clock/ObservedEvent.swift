/// Something that happened, for observers: the story of a device or of the server.
public struct ObservedEvent: Sendable, Equatable {
  /// When it happened, in simulated time.
  public let time: SimTime
  /// The device's number in the fleet; −1 for the server.
  public let device: Int
  /// What.
  public let kind: Kind

  /// What can happen.
  public enum Kind: Sendable, Equatable {
    case sessionBegan(SessionKind)
    case sessionEnded(SessionEnd)
    case accepted(round: Int)
    case downloaded(version: Int)
    case trainingBegan(base: Int, firstBatch: Int, batches: Int)
    case trainingCut(batches: Int, of: Int)
    case checkpointed(batches: Int, of: Int)
    case attemptEnded(AttemptOutcome, batches: Int)
    case updateCreated(update: Int, base: Int, batches: Int, samples: Int)
    case uploadBegan(update: Int)
    case uploadFailed(update: Int, TransmissionOutcome)
    case arrived(update: Int)
    case receipt(update: Int, Receipt)
    case killed
    case condition(DeviceChange)
    case submitted(task: String, SubmitError?)
    case identity(IdentityStep)
    case connectivity(Bool)
    case cohortFormed(round: Int, members: Int)
    case published(version: Int, updates: Int)
    case roundSkipped(round: Int)
    case rejected(RetryAfter?)
    case disconnected(DisconnectReason)
    case erased(Erasure)
    /// A session's soft expiry came.
    case softExpiry
    /// The server holds a device's request until a cohort is formed.
    case waited(round: Int)
    /// A request without an update failed, or was given up.
    case requestFailed(RequestKind, TransmissionOutcome)
    /// A session that repeats has nothing to do for now.
    case rested(SessionEnd)
    /// The server reported to a device that it believes itself offline.
    case serverOffline
    /// An update ended.
    case updateEnded(update: Int, UpdateOutcome)
    /// The app was swiped away.
    case forceQuit
    /// The app used the processor for too long.
    case processorExceeded
    /// A step between device and server that is no training.
    case exchange(ExchangeStep)
    /// The server's process stopped for a restart, or is there again.
    case serverProcess(isRunning: Bool)
    /// A step on the way of a file that was collected, or of a model that is trained centrally.
    case central(CentralStep)
  }
}

/// A request that carries no update.
public enum RequestKind: String, Sendable, CaseIterable { case check, download }
