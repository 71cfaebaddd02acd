extension SimulationInputs {
  /// One exogenous series of a device, made again from its key; nil: its group has none.
  public func timeline(_ series: Series, group: Int, ordinal: Int) -> (any Timeline)? {
    World.timeline(series, of: fleet[group], ordinal: ordinal, self)
  }
}

extension Series {
  /// The states that it can be in.
  public var space: StateSpace {
    switch self {
    case .power: .power
    case .link: .link
    case .usage: .usage
    case .window: .window
    case .ambient: .ambient
    case .setting: .setting
    case .share: .share
    case .presence: .presence
    }
  }
}
