import Learning

/// A request whose bytes have left their device, with what it carries.
public struct SentRequest: Sendable {
  /// Names it among the requests of its device, in arrivals and answers.
  public let id: UInt32
  /// What is asked for.
  public let request: Request
  /// The update that it carries; nil: none.
  public let update: PostedUpdate?
  /// The file of samples, or the file that its metadata are of; nil: none.
  public let file: PostedFile?
  /// What speed tests have found of the link, in bits a second; nil: there was none.
  public let speeds: (upload: BitRate, download: BitRate)?

  /// The same without the update, which holds on to parameters.
  public var withoutUpdate: SentRequest {
    SentRequest(id: id, request: request, update: nil, file: file, speeds: speeds)
  }
}

/// A file of samples on its way to the store.
public struct PostedFile: Equatable, Sendable {
  /// Its name on the device and in the store.
  public let name: String
  /// Its size.
  public let bytes: Int64
}

/// An update on its way to the server, and what is in it.
public struct PostedUpdate: Sendable {
  /// Its number in the run.
  public let number: Int
  /// The version that was trained.
  public let base: Int
  /// The round that was open as it was made.
  public let round: Int
  /// The samples that its device trained on.
  public let samples: Int
  /// The parameters of `base`, where they are known.
  public let baseParameters: ParameterBuffer?
  private let samplesProcessed: Int
  private let training: DeferredTraining?
  private let sent: DeferredUpdate?

  /// What a training gave.
  public struct Contents: Sendable {
    /// The parameters as they are sent: trained, forged or transformed.
    public let parameters: ParameterBuffer
    /// The mean loss over all samples that were processed.
    public let trainingLoss: Double
    /// The accuracy on the device's validation samples; nil: it has none, or targets are numbers.
    public let validationAccuracy: Double?
  }

  init(_ update: Int32, _ cx: borrowing Context) {
    number = Int(update)
    (base, round) = (Int(cx.updates[update].base), Int(cx.updates[update].round))
    (samples, samplesProcessed) = (
      cx.updates[update].samples, cx.updates[update].samplesProcessed
    )
    baseParameters = cx.updates[update].baseParameters
    training = cx.inputs.omitsArithmetic ? nil : cx.updates[update].training
    sent = cx.updates[update].sent
  }

  /// What is in it, computed unless it is there; nil where nothing is computed in this run, and of
  /// adversaries that agree on what they send only when it is aggregated.
  public func contents() -> Contents? {
    guard let training, sent?.collusion == nil else { return nil }
    let scratch = Scratch()
    let value = training.value(scratch)
    return Contents(
      parameters: sent?.value(scratch).parameters ?? value.parameters,
      trainingLoss: value.lossSum / Double(samplesProcessed),
      validationAccuracy: value.validation.flatMap { $0.answers > 0 ? $0.accuracy : nil })
  }
}
