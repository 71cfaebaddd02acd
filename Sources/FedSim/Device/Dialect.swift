import Learning

/// What a group's client library does in addition to the plain path: a hook for each moment.
///
/// Most groups have none. A dialect keeps no state: what it remembers of a device is in `Devices`.
protocol Dialect: Sendable {
  /// A session begins; the reason to end it at once, or nil.
  func beforeSession(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> SessionEnd?

  /// A device is about to ask for work.
  func beforeCheck(_ device: Int, _ devices: inout Devices, _ cx: inout Context) -> BeforeCheck

  /// A device has read an answer that the plain path does not know, and the session continues.
  func onAnswer(
    _ device: Int, _ answer: Response, _ devices: inout Devices, _ cx: inout Context)

  /// A version has reached a device; nil: the server has none to give.
  func onModel(
    _ device: Int, _ model: (version: Int32, parameters: ParameterBuffer)?,
    _ devices: inout Devices, _ cx: inout Context
  ) -> ModelReading

  /// A device evaluates a model, or answers something else than an update.
  func onStep(
    _ device: Int, _ step: DialectStep, _ devices: inout Devices, _ cx: inout Context)

  /// An update was made; whether the device keeps it.
  func onUpdateMade(
    _ device: Int, _ update: Int32, _ devices: inout Devices, _ cx: inout Context
  ) -> UpdateCheck

  /// A device has a link, or has none any more.
  func onLink(
    _ device: Int, isConnected: Bool, _ devices: inout Devices, _ cx: inout Context)

  /// A participation is over on a device.
  func onParticipationEnd(
    _ device: Int, _ participation: Int32, _ devices: inout Devices, _ cx: inout Context)
}

/// What a dialect did before a request for work.
enum BeforeCheck {
  /// Nothing that delays the request: it is sent.
  case check
  /// It has begun another request, which comes first.
  case begun
}

/// What a dialect does with a model.
enum ModelReading {
  /// The device holds it, or continues with the model that it held.
  case read
  /// As `read`, and the device must still request the model's plan.
  case readWithoutPlan
  /// The device does not use it; the dialect has already continued the session.
  case unread
}

/// What a dialect finds in an update.
enum UpdateCheck { case sound, unsound }

/// A step that dialects take in place of the plain path's.
enum DialectStep {
  /// The model is evaluated, has been, or the answer is sent.
  case evaluate, evaluated, reply
}
