/// Sees every step after it happened and can change nothing.
///
/// The result writer, the progress bar, invariant checkers and a policy author's test are
/// observers.
public protocol Observer: AnyObject {
  /// Whether `handled` and `happened` are wanted; they cost time on every event.
  var wantsEveryEvent: Bool { get }
  /// Whether `advanced` is wanted; unlike the former it leaves devices to be played on ahead.
  var wantsAdvance: Bool { get }
  /// The run begins.
  func began(_ simulation: borrowing Simulation)
  /// A run continues that was saved, or stopped between two turns.
  func resumed(_ simulation: borrowing Simulation)
  /// An event was handled.
  func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation)
  /// Something happened while an event was handled.
  func happened(_ event: ObservedEvent)
  /// The run continued for a while: for those who show its progress.
  func advanced(_ simulation: borrowing Simulation)
  /// A version was published.
  func published(_ record: VersionRecord, _ simulation: borrowing Simulation)
  /// A version of a model that is trained centrally was published.
  func publishedCentrally(_ version: CentralVersion, _ simulation: borrowing Simulation)
  /// A round was closed.
  func closed(_ record: RoundRecord, _ simulation: borrowing Simulation)
  /// The run is over.
  func ended(_ simulation: borrowing Simulation)
}

extension Observer {
  /// They are not wanted.
  public var wantsEveryEvent: Bool { false }
  /// It is not wanted.
  public var wantsAdvance: Bool { false }
  public func advanced(_ simulation: borrowing Simulation) {}
  public func began(_ simulation: borrowing Simulation) {}
  public func resumed(_ simulation: borrowing Simulation) {}
  public func handled(_ event: Event, at time: SimTime, _ simulation: borrowing Simulation) {}
  public func happened(_ event: ObservedEvent) {}
  public func published(_ record: VersionRecord, _ simulation: borrowing Simulation) {}
  public func publishedCentrally(
    _ version: CentralVersion, _ simulation: borrowing Simulation
  ) {}
  public func closed(_ record: RoundRecord, _ simulation: borrowing Simulation) {}
  public func ended(_ simulation: borrowing Simulation) {}
}
