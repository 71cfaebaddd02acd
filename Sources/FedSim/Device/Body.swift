/// Energy by what brought or took it, in nanojoules: what was charged minus all the rest is the
/// change of the battery, exactly.
public struct EnergyLedger: Sendable, Equatable {
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
struct Load: Equatable {
  var idle: Int64 = 0
  var screen: Int64 = 0
  var training: Int64 = 0
  var radio: Int64 = 0

  var total: Int64 { idle + screen + training + radio }
}

/// How warm a device is.
public enum ThermalState: UInt8, Sendable, CaseIterable { case nominal, fair, serious, critical }

/// The battery and the heat of a device: between two changes of what flows, both are linear in
/// time.
///
/// Units: nanojoules, milliwatts, microseconds: a milliwatt in a microsecond is a nanojoule, so
/// nothing is ever rounded. A level counts as reached in the first microsecond at whose end it is.
struct Body {
  let capacity: Int64
  /// The heat from which the state is fair, serious, critical; empty where heat is not looked at.
  let heatLimits: [Int64]
  /// The levels at which something changes, in percent, on and off.
  let levels: [Int]
  let bootLevel: Int
  let initial: Int64
  var energy: Int64
  var heat: Int64 = 0
  var since = SimTime.start
  var load = Load()
  /// What the charger could deliver now; 0 while unplugged.
  var charger: Int64 = 0
  /// What leaves the device as heat, and the percentage of the charged power that stays as such.
  var cooling: Int64 = 0
  var chargingLoss: Int64 = 0
  var ledger = EnergyLedger()

  /// When the next threshold is looked at, and the event that does it.
  var check = SimTime.never
  var checkGeneration: UInt32 = 0

  var isOff = false
  /// When a device that was empty has booted; `never` unless it boots.
  var bootsAt = SimTime.never
  var isFull = false
  var isLowPower = false
  /// 0 above 20 %, 1 below, 2 below 10 %: a step up is a prompt.
  var promptBand: UInt8 = 0
  var thermal = ThermalState.nominal
  var isThrottled = false
  var isHot = false
  /// The speed of training, in percent.
  var speed: Int64 = 100

  init(_ battery: BatterySettings, _ thermal: ThermalSettings?) {
    let (capacity, level) = (battery.capacity, battery.initialLevel)
    self.capacity = capacity.nanojoules
    heatLimits = thermal.map { [$0.fair, $0.serious, $0.critical].map(\.nanojoules) } ?? []
    levels = [10, 20, 80, 85, 90, 95, 100, battery.lowPowerEnds, battery.essentialBelow]
    bootLevel = battery.bootLevel
    initial = min(
      capacity.nanojoules, max(0, Int64((Double(capacity.nanojoules) * level).rounded())))
    energy = initial
  }

  /// Whether it is too warm for new tasks.
  var isSerious: Bool { thermal.rawValue >= ThermalState.serious.rawValue }

  /// The energy from which the level is so many percent.
  func threshold(_ percent: Int) -> Int64 { (Int64(percent) * capacity + 99) / 100 }

  /// What the battery takes at most at its present level: in full below 80 %, then 7/8, 5/8, 3/8,
  /// 1/8.
  private var acceptance: Int64 {
    if energy >= capacity { return 0 }
    for (place, percent) in [95, 90, 85, 80].enumerated() where energy >= threshold(percent) {
      return max(1, charger * Int64(2 * place + 1) / 8)
    }
    return charger
  }

  /// The battery's change a microsecond: the charger serves the load first.
  var rate: Int64 {
    let left = charger - load.total
    return left <= 0 ? left : min(left, acceptance)
  }

  /// What comes from the charger.
  private var drawn: Int64 { rate + load.total }

  /// The heat's change a microsecond, while there is any.
  private var heatRate: Int64 {
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
    let heated = heat + heatRate * span
    var charged = drawn * span
    var used = Load(
      idle: load.idle * span, screen: load.screen * span, training: load.training * span,
      radio: load.radio * span)
    let surplus = energy + charged - used.total - capacity
    if surplus > 0 { charged -= surplus }
    var missing = max(0, used.total - charged - energy)
    for part in [\Load.radio, \Load.training, \Load.screen, \Load.idle] where missing > 0 {
      let spared = min(missing, used[keyPath: part])
      used[keyPath: part] -= spared
      missing -= spared
    }
    energy += charged - used.total
    heat = max(0, heated)
    ledger.charged += charged
    ledger.idle += used.idle
    ledger.screen += used.screen
    ledger.training += used.training
    ledger.radio += used.radio
    since = now
  }

  /// The first time after the last settlement at which a level or a heat limit is passed.
  func nextCrossing() -> SimTime {
    var next = SimTime.never
    func consider(_ microseconds: Int64) {
      next = min(next, since + SimDuration(microseconds: max(1, microseconds)))
    }
    let rate = self.rate
    if rate > 0 {
      for percent in levels where threshold(percent) > energy {
        consider((threshold(percent) - energy + rate - 1) / rate)
      }
      if isOff, threshold(bootLevel) > energy {
        consider((threshold(bootLevel) - energy + rate - 1) / rate)
      }
    } else if rate < 0 {
      for percent in levels where percent > 0 && threshold(percent) <= energy {
        consider((energy - threshold(percent)) / -rate + 1)
      }
      if energy > 0 { consider((energy - rate - 1) / -rate) }
    }
    let heatRate = self.heatRate
    for limit in heatLimits {
      if heatRate > 0, limit > heat {
        consider((limit - heat + heatRate - 1) / heatRate)
      } else if heatRate < 0, limit <= heat {
        consider((heat - limit) / -heatRate + 1)
      }
    }
    return next
  }
}
