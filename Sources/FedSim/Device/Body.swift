import Numerics

/// Energy by what brought or took it, in nanojoules: what was charged minus all the rest is the
/// change of the battery, exactly.
public struct EnergyLedger: Sendable, Equatable, Codable {
  /// From the charger, into the battery or past it.
  public internal(set) var charged: Int64 = 0
  /// Drawn whatever the device did.
  public internal(set) var idle: Int64 = 0
  /// Drawn by the screen.
  public internal(set) var screen: Int64 = 0
  /// Drawn by training.
  public internal(set) var training: Int64 = 0
  /// Drawn by sending and receiving.
  public internal(set) var radio: Int64 = 0

  /// The sum of all contributors.
  public var change: Int64 { charged - idle - screen - training - radio }
}

/// What is drawn now, in milliwatts.
struct Load: Equatable, Codable {
  private struct Parts: Equatable, Codable {
    var idle: Int32 = 0
    var screen: Int32 = 0
    var training: Int32 = 0
    var radio: Int32 = 0
  }

  private var parts = Parts()

  init(idle: Int64 = 0) { self.idle = idle }

  var idle: Int64 {
    get { Int64(parts.idle) }
    set { parts.idle = Int32(newValue) }
  }
  var screen: Int64 {
    get { Int64(parts.screen) }
    set { parts.screen = Int32(newValue) }
  }
  var training: Int64 {
    get { Int64(parts.training) }
    set { parts.training = Int32(newValue) }
  }
  var radio: Int64 {
    get { Int64(parts.radio) }
    set { parts.radio = Int32(newValue) }
  }

  var total: Int64 { idle + screen + training + radio }
}

/// What a device does that takes or brings energy: as long as it is the same, so is what flows.
struct BodyUse: OptionSet, Codable {
  let rawValue: UInt8
  static let plugged = BodyUse(rawValue: 1)
  static let screen = BodyUse(rawValue: 2)
  static let training = BodyUse(rawValue: 4)
  static let wifi = BodyUse(rawValue: 8)
  static let cellular = BodyUse(rawValue: 16)
  static let off = BodyUse(rawValue: 32)
  /// Not in the fleet: neither drawn nor charged.
  static let nothing = BodyUse(rawValue: 96)
  /// Before the first look.
  static let unknown = BodyUse(rawValue: 128)
}

/// How warm a device is.
public enum ThermalState: UInt8, Sendable, CaseIterable, Codable {
  case nominal, fair, serious, critical
}

/// The battery and the heat of a device: between two changes of what flows, both are linear in
/// time.
///
/// Units: nanojoules, milliwatts, microseconds: a milliwatt in a microsecond is a nanojoule, so
/// nothing is ever rounded. A level counts as reached in the first microsecond at whose end it is.
struct Body: Codable {
  /// What decides, besides energy and charger, whether tasks may start.
  struct SparingFacts: Equatable {
    let isOff: Bool
    let isLowPower: Bool
    let thermal: ThermalState
  }

  /// What the system makes of energy and heat.
  struct State: Codable {
    var isOff = false
    /// Whether it was switched on, and its conditions were not looked at since.
    var isUnseen = false
    var isFull = false
    var isLowPower = false
    /// 0 above 20 %, 1 below, 2 below 10 %: a step up is a prompt.
    var promptBand: UInt8 = 0
    var thermal = ThermalState.nominal
    var isThrottled = false
    var isHot = false
  }

  private struct Flows: Codable {
    var charger: Int32 = 0
    var cooling: Int32 = 0
    var chargingLoss: UInt8 = 0
  }

  /// What never changes, in memory that the devices of a kind share and `Devices` owns.
  @Rebuilt private(set) var figures: UnsafePointer<BodyFigures>
  var energy: Int64
  var heat: Int64 = 0
  var since = SimTime.start
  /// What the charger could deliver now; 0 while unplugged.
  var charger: Int64 {
    get { Int64(flows.charger) }
    set { flows.charger = Int32(newValue) }
  }
  /// What leaves the device as heat, and the percentage of the charged power that stays as such.
  var cooling: Int64 {
    get { Int64(flows.cooling) }
    set { flows.cooling = Int32(newValue) }
  }
  var chargingLoss: Int64 {
    get { Int64(flows.chargingLoss) }
    set { flows.chargingLoss = UInt8(newValue) }
  }
  var ledger = EnergyLedger()

  /// When the next threshold is looked at, and the event that does it.
  var check = SimTime.never
  /// When a device that was empty has booted; `never` unless it boots.
  var bootsAt = SimTime.never
  var checkGeneration: UInt32 = 0
  /// The speed of training, in percent.
  var speed: Int64 {
    get { Int64(percent) }
    set { percent = UInt8(newValue) }
  }
  // What is small comes last, such that a body is two lines of a processor's cache.
  var load = Load()
  private var flows = Flows()
  var use = BodyUse.unknown
  private var percent: UInt8 = 100
  var state = State()

  /// A body at rest, with the energy that it begins with.
  init(_ figures: UnsafePointer<BodyFigures>) {
    self.figures = figures
    energy = figures.pointee.initial
  }

  /// Whether the device's group looks at energy at all.
  var isThere: Bool { @inline(__always) get { figures.pointee.isThere } }
  var capacity: Int64 { @inline(__always) get { figures.pointee.capacity } }
  /// The energy that it began with.
  var initial: Int64 { figures.pointee.initial }
  private var heatLimits: BodyFigures.HeatLimits {
    @inline(__always) get { figures.pointee.heatLimits }
  }

  /// Takes the figures of the body in whose place it comes.
  mutating func take(figuresOf made: borrowing Body) { figures = made.figures }

  var sparingFacts: SparingFacts {
    SparingFacts(isOff: state.isOff, isLowPower: state.isLowPower, thermal: state.thermal)
  }

  /// Whether it is too warm for new tasks.
  var isSerious: Bool { state.thermal.rawValue >= ThermalState.serious.rawValue }

  /// The energy from which the level is this many percent.
  @inline(__always)
  func threshold(_ percent: Int) -> Int64 { Self.threshold(percent, of: capacity) }

  @inline(__always)
  static func threshold(_ percent: Int, of capacity: Int64) -> Int64 {
    (Int64(percent) * capacity + 99) / 100
  }

  /// 0 above 20 %, 1 below, 2 below 10 %.
  var band: UInt8 { energy >= threshold(20) ? 0 : energy >= threshold(10) ? 1 : 2 }

  /// How many limits of heat are passed.
  var heatLimitsPassed: Int {
    (heat >= heatLimits.fair ? 1 : 0) + (heat >= heatLimits.serious ? 1 : 0)
      + (heat >= heatLimits.critical ? 1 : 0)
  }

  /// What a battery takes at most of a charger's power at a level: in full below 80 %, then 7/8,
  /// 5/8, 3/8, 1/8.
  private static func acceptance(
    of charger: Int64, at energy: Int64, of capacity: Int64
  ) -> Int64 {
    if energy >= capacity { return 0 }
    if energy < threshold(80, of: capacity) { return charger }
    var eighths: Int64 = 7
    if energy >= threshold(85, of: capacity) { eighths -= 2 }
    if energy >= threshold(90, of: capacity) { eighths -= 2 }
    if energy >= threshold(95, of: capacity) { eighths -= 2 }
    return max(1, charger * eighths / 8)
  }

  /// The battery's change a microsecond: the charger serves the load first.
  var rate: Int64 {
    @inline(__always) get {
      let left = charger - load.total
      return left <= 0
        ? left : min(left, Self.acceptance(of: charger, at: energy, of: capacity))
    }
  }

  /// The heat's change a microsecond, while there is any, at a rate of the battery's change.
  @inline(__always)
  private mutating func heatRate(_ rate: Int64) -> Int64 {
    load.total + max(0, rate) * chargingLoss / 100 - cooling
  }

  /// The energy at a time before which nothing changes.
  func energy(at time: SimTime) -> Int64 {
    min(capacity, max(0, energy + rate * (time - since).microseconds))
  }

  /// The level in percent, rounded down.
  func level(at time: SimTime) -> Int { Int(100 * energy(at: time) / capacity) }

  /// Counts what has flowed until now.
  ///
  /// Order: what the last microsecond would take beyond empty is not drawn by the radio, then not
  /// by training, the screen, and idling; what it would bring beyond full is not charged.
  mutating func settle(at now: SimTime) {
    let span = (now - since).microseconds
    guard span > 0 else { return }
    let (load, rate) = (self.load, self.rate)
    let total = load.total
    heat = max(0, heat + heatRate(rate) * span)
    let after = energy + rate * span
    if after < 0 || after > capacity { return settleAtLimit(load, rate, at: now) }
    energy = after
    ledger.charged += (rate + total) * span
    ledger.idle += load.idle * span
    if load.screen != 0 { ledger.screen += load.screen * span }
    if load.training != 0 { ledger.training += load.training * span }
    if load.radio != 0 { ledger.radio += load.radio * span }
    since = now
  }

  /// The same where the last microsecond would empty the battery or fill it.
  @inline(never)
  private mutating func settleAtLimit(_ load: Load, _ rate: Int64, at now: SimTime) {
    let span = (now - since).microseconds
    var charged = (rate + load.total) * span
    var used = (
      idle: load.idle * span, screen: load.screen * span, training: load.training * span,
      radio: load.radio * span
    )
    var total: Int64 { used.idle + used.screen + used.training + used.radio }
    let surplus = energy + charged - total - capacity
    if surplus > 0 { charged -= surplus }
    var missing = max(0, total - charged - energy)
    if missing > 0 {
      func spare(_ part: inout Int64) {
        let spared = min(missing, part)
        part -= spared
        missing -= spared
      }
      spare(&used.radio)
      spare(&used.training)
      spare(&used.screen)
      spare(&used.idle)
    }
    energy += charged - total
    ledger.charged += charged
    ledger.idle += used.idle
    ledger.screen += used.screen
    ledger.training += used.training
    ledger.radio += used.radio
    since = now
  }

  // The functions below change nothing; they are `mutating` so that they read the body in place,
  // without a copy.

  /// The first time after the last settlement at which a level or a heat limit is passed.
  mutating func nextCrossing() -> SimTime {
    let rate = self.rate
    var wait = rate == 0 ? Int64.max : rate > 0 ? rising(rate) : falling(-rate)
    if heatLimits.fair != .max { wait = min(wait, untilHeatLimit(heatRate(rate))) }
    return wait == .max ? .never : since + SimDuration(microseconds: max(1, wait))
  }

  /// How long the battery takes to the lowest level above, in microseconds.
  private mutating func rising(_ rate: Int64) -> Int64 {
    var target = Int64.max
    let boot = threshold(Int(figures.pointee.bootLevel))
    if state.isOff, boot > energy { target = boot }
    for place in figures.pointee.thresholds.indices
    where figures.pointee.thresholds[place] > energy {
      target = min(target, figures.pointee.thresholds[place])
      break
    }
    return target == .max ? .max : (target - energy + rate - 1) / rate
  }

  /// How long it takes until the battery is below the highest level that it has reached, or empty.
  private mutating func falling(_ rate: Int64) -> Int64 {
    for place in figures.pointee.thresholds.indices.reversed()
    where figures.pointee.thresholds[place] <= energy {
      return (energy - figures.pointee.thresholds[place]) / rate + 1
    }
    return energy > 0 ? (energy + rate - 1) / rate : .max
  }

  /// How long it takes to the next limit of heat, in microseconds.
  private mutating func untilHeatLimit(_ rate: Int64) -> Int64 {
    if rate > 0 {
      let limit =
        heat < heatLimits.fair
        ? heatLimits.fair : heat < heatLimits.serious ? heatLimits.serious : heatLimits.critical
      if limit > heat { return (limit - heat + rate - 1) / rate }
    } else if rate < 0 {
      let limit =
        heat >= heatLimits.critical
        ? heatLimits.critical : heat >= heatLimits.serious ? heatLimits.serious : heatLimits.fair
      if limit <= heat { return (heat - limit) / -rate + 1 }
    }
    return .max
  }

  /// What is to be looked at after an event.
  enum Look { case nothing, load, all }

  /// What is to be looked at where this is what the device does now. Nothing but the load is
  /// another where no threshold has been passed since conditions were looked at, and none depends
  /// on the load of a device that is on.
  mutating func look(_ use: BodyUse, at now: SimTime) -> Look {
    if now < check {
      if use == self.use { return .nothing }
      if !state.isOff, !state.isUnseen, energy > 0,
        use.symmetricDifference(self.use).isDisjoint(with: [.plugged, .off, .nothing, .unknown])
      {
        return .load
      }
    }
    return .all
  }

  /// From now on another load is drawn; when the next level or limit is passed with it.
  mutating func change(_ use: BodyUse, _ load: Load, at now: SimTime) -> SimTime {
    settle(at: now)
    (self.use, self.load) = (use, load)
    return nextCrossing()
  }

  /// From now on so much flows.
  mutating func flow(_ use: BodyUse, _ load: Load, charger: Int64) {
    self.use = use
    self.load = load
    self.charger = charger
  }

  /// The events by which the next threshold is looked at: their numbers and times.
  struct Checks {
    /// The one that is to come and is not wanted any more, if there is one.
    var last: (generation: UInt32, at: SimTime)?
    /// The one that is wanted instead, if any is.
    var next: (generation: UInt32, at: SimTime)?
  }

  /// From now on the next threshold is looked at when it is passed, or when the device has booted;
  /// nil: that is when it is looked at anyway.
  mutating func plan(_ crossing: SimTime, at now: SimTime) -> Checks? {
    let next = min(crossing, bootsAt)
    guard next != check else { return nil }
    let last = check > now && check != .never ? (checkGeneration, check) : nil
    check = next
    checkGeneration += 1
    return Checks(last: last, next: next == .never ? nil : (checkGeneration, next))
  }
}
