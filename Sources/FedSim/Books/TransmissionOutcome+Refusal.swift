extension TransmissionOutcome {
  /// How a transmission ends that the server refuses.
  init(_ refusal: Refusal) {
    self =
      switch refusal {
      case .unauthorised: .unauthorised
      case .forbidden: .forbidden
      case .unavailable: .unavailable
      }
  }

  /// How a transmission ends that is answered so.
  init(_ response: Response) {
    if case .refused(let refusal) = response { self.init(refusal) } else { self = .delivered }
  }
}
