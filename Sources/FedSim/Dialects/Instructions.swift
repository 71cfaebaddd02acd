import Learning
import Numerics

/// What the server asks of devices besides trainings; empty, and never looked at, where nothing
/// asks for it.
struct Instructions: Codable {
  /// Whether version 0 has still to come from a device.
  var awaitsModel = false
  /// The participation whose device was asked for it; −1: none.
  var asked: Int32 = -1
  /// How many devices were asked for it: the slot of the next draw.
  var askings: UInt64 = 0
  /// Whether the draw of such a device is due at the present time.
  var isDrawDue = false
  /// The session of each device in which it was last asked for its properties.
  var connections: [UInt32] = []
  /// The evaluation under way.
  var evaluation: EvaluationRound?
  /// Those that are over.
  var evaluations = PagedArray<EvaluationRecord>()
  /// Whether the run ends with the evaluation under way.
  var endsWithEvaluation = false
  /// Of a program that runs the server; nil: none does.
  var program: ProgramState?
}

/// How far a device has come with enrolling as a worker.
enum Enrolment: UInt8, Codable { case authenticate, upload, download, ready }

/// What a device answers with when the server has asked for something else than a training.
enum Reply: UInt8, Codable { case model, properties, evaluation }

/// A step between device and server that is no training.
public enum ExchangeStep: String, CaseIterable, Sendable {
  /// A device was enrolled as a new worker.
  case enrolled
  /// Both probes of a speed test are through.
  case speedTested
  /// A plan was downloaded.
  case planDownloaded
  /// A device reads that it is to send its model, or its properties.
  case modelAsked, propertiesAsked
  /// A device reads that it is to evaluate a model; it has done so; the server knows all results.
  case evaluationAsked, evaluated, evaluationEnded
  /// A device without an answer of the server trains on the model that it holds.
  case trainsUnasked
}

extension ProtocolSettings {
  /// Whether it has any of what came with `Instructions`.
  var hasInstructions: Bool {
    worker != nil || ignoresConfig != nil || overwritesModel != nil || evaluation != nil
      || evaluationShare != nil || properties != nil
  }
}
