/// A program that runs the server in place of a policy: it sends messages to devices, waits, and
/// goes its way when answers are there (docs/flower.md).
///
/// No virtual time passes while it computes. It is no part of a saved run.
public protocol ServerProgram: AnyObject, Sendable {
  /// The run begins; which client's data each device has, in fleet order.
  func begin(clients: [Int32])
  /// What the program wants, up to the next moment at which it waits.
  func proceed(_ moment: ProgramMoment) -> [ProgramCommand]
}

/// What a program learns when it is called.
public struct ProgramMoment: Sendable, Equatable {
  /// The virtual time.
  public let now: SimTime
  /// The devices whose streams the server believes open, in fleet order.
  public let online: [Int]
  /// How messages have ended since the last call, in that order.
  public let ended: [End]

  /// The end of a message.
  public struct End: Sendable, Equatable, Codable {
    /// Its number.
    public let message: Int
    /// Whether a reply came; otherwise the device's stream broke.
    public let isReply: Bool
  }
}

/// What a program wants.
public enum ProgramCommand: Sendable, Equatable {
  /// What a device is asked for.
  public enum Work: String, Sendable, Codable {
    /// A training, an evaluation, a few words, or its own model.
    case train, evaluate, query, model
  }

  /// From now on the arrays of an instruction, and of a training's reply, have this many bytes.
  case sizes(instruction: Int64, reply: Int64)
  /// A message to a device, which receives it when it is connected and has nothing else to do, but
  /// not after it has expired.
  case send(message: Int, device: Int, Work, expires: SimTime)
  /// The round's updates make a version; without any the round is skipped.
  case closeRound
  /// No more answers are expected to the evaluation under way; what the program makes of it.
  case closeEvaluation(examples: Int, loss: Double, accuracy: Double)
  /// It waits until these messages have ended, or until a time; nil: for ever.
  case wait(messages: [Int], until: SimTime?)
  /// It looks again at whole multiples of a period from now, once another device is online.
  case poll(SimDuration)
  /// The program is over, and so is the run.
  case end
}
