extension Event {
  /// What it is, in a few words, without its device.
  public var words: String {
    switch self {
    case .world(let series, _, let state): "\(series) becomes \(series.word(of: state))"
    case .linkRestored: "a dropped link returns"
    case .server(let series, let state):
      "server \(series) becomes \(Self.word(state, of: .server))"
    case .injection(let number): "scripted event \(number)"
    case .softExpiry: "soft expiry"
    case .hardExpiry: "hard expiry"
    case .transferEnd: "end of a transfer"
    case .trainingEnd: "end of training"
    case .serverTimer(let timer): "timer of the server: \(Self.plain(timer))"
    case .arrival(_, _, let request): "request arrives: \(Self.plain(request))"
    case .response(_, _, let response): "answer arrives: \(Self.plain(response))"
    case .deviceTimer(let timer, _, _): "timer of the device: \(timer)"
    case .taskStart: "the system starts a task"
    case .end: "end of the run"
    }
  }

  /// A value as Swift writes it, without the names of modules.
  private static func plain(_ value: some Sendable) -> String {
    "\(value)".replacing("FedSim.", with: "")
  }

  fileprivate static func word(_ state: UInt8, of space: StateSpace) -> String {
    Int(state) < space.states.count ? space.states[Int(state)] : "state \(state)"
  }
}

extension Series {
  /// The name of one of its states.
  fileprivate func word(of state: UInt8) -> String {
    let space: StateSpace? =
      switch self {
      case .power: .power
      case .link: .link
      case .usage: .usage
      case .window: .window
      case .ambient: .ambient
      case .setting: .setting
      case .share: .share
      case .presence: nil
      }
    return space.map { Event.word(state, of: $0) } ?? "state \(state)"
  }
}
