/// An event of a device in seven bytes, without the device: it is the actor in whose list it is.
///
/// What needs more, and what another schedules, is kept elsewhere, and its place is here.
struct EventCode: Equatable {
  private enum Kind: UInt8 {
    case world, linkRestored, softExpiry, hardExpiry, transferEnd, trainingEnd, deviceTimer
    case taskStart
    /// The event is kept elsewhere.
    case kept
  }

  /// The generation, or the place.
  private let number: UInt32
  private let kind: Kind
  /// The series or the timer.
  private let what: UInt8
  private let state: UInt8

  /// nil: the event is no device's own, or needs more.
  @inline(__always)
  init?(_ event: Event, of actor: Int32) {
    let owner: Int32
    switch event {
    case .world(let series, let device, let state):
      self.init(.world, 0, series.rawValue, state)
      owner = device
    case .linkRestored(let device, let generation):
      self.init(.linkRestored, generation)
      owner = device
    case .softExpiry(let device, let generation):
      self.init(.softExpiry, generation)
      owner = device
    case .hardExpiry(let device, let generation):
      self.init(.hardExpiry, generation)
      owner = device
    case .transferEnd(let device, let generation):
      self.init(.transferEnd, generation)
      owner = device
    case .trainingEnd(let device, let generation):
      self.init(.trainingEnd, generation)
      owner = device
    case .deviceTimer(let timer, let device, let generation):
      self.init(.deviceTimer, generation, timer.rawValue)
      owner = device
    case .taskStart(let device, let generation):
      self.init(.taskStart, generation)
      owner = device
    case .server, .injection, .serverTimer, .arrival, .response, .end: return nil
    }
    guard owner == actor - 1 else { return nil }
  }

  /// An event that is kept at a place.
  init(keptAt place: Int32) { self.init(.kept, UInt32(place)) }

  private init(_ kind: Kind, _ number: UInt32, _ what: UInt8 = 0, _ state: UInt8 = 0) {
    self.number = number
    self.kind = kind
    self.what = what
    self.state = state
  }

  /// Where the event is kept; nil: it is here.
  @inline(__always)
  var place: Int32? { kind == .kept ? Int32(number) : nil }

  /// The event, where it is here.
  @inline(__always)
  func event(of actor: Int32) -> Event {
    let device = actor - 1
    switch kind {
    case .world: return .world(Series(rawValue: what)!, device: device, state: state)
    case .linkRestored: return .linkRestored(device: device, generation: number)
    case .softExpiry: return .softExpiry(device: device, generation: number)
    case .hardExpiry: return .hardExpiry(device: device, generation: number)
    case .transferEnd: return .transferEnd(device: device, generation: number)
    case .trainingEnd: return .trainingEnd(device: device, generation: number)
    case .deviceTimer:
      return .deviceTimer(DeviceTimer(rawValue: what)!, device: device, generation: number)
    case .taskStart: return .taskStart(device: device, generation: number)
    case .kept: preconditionFailure("an event that is kept elsewhere")
    }
  }
}
