/// What never changes of a device's battery and heat: the devices of a group share it, and where
/// hardware is assigned, those with the same battery.
struct BodyFigures: Equatable {
  /// Amounts of heat, in nanojoules.
  struct HeatLimits: Equatable {
    let fair: Int64
    let serious: Int64
    let critical: Int64
  }

  /// Some energies, in place.
  struct Thresholds: Equatable {
    private var energies = InlineArray<9, Int64>(repeating: .max)

    init(_ some: [Int64]) {
      for (place, energy) in some.enumerated() { energies[place] = energy }
    }

    var indices: Range<Int> { energies.indices }
    subscript(place: Int) -> Int64 { @inline(__always) get { energies[place] } }

    static func == (a: Thresholds, b: Thresholds) -> Bool {
      a.indices.allSatisfy { a[$0] == b[$0] }
    }
  }

  /// Whether the device's group looks at energy at all.
  let isThere: Bool
  let bootLevel: UInt8
  /// In nanojoules, as all energies here.
  let capacity: Int64
  let initial: Int64
  /// The heat from which the state is fair, serious, critical; beyond reach where heat is not
  /// looked at.
  let heatLimits: HeatLimits
  /// The energies at which something changes, on and off, ascending; beyond reach behind the last.
  let thresholds: Thresholds

  /// Of a device whose energy nobody looks at.
  init() { self.init(BatterySettings(), nil, isThere: false) }

  init(_ battery: BatterySettings, _ thermal: ThermalSettings?, isThere: Bool = true) {
    self.isThere = isThere
    let (capacity, level) = (battery.capacity, battery.initialLevel)
    self.capacity = capacity.nanojoules
    heatLimits =
      thermal.map {
        HeatLimits(
          fair: $0.fair.nanojoules, serious: $0.serious.nanojoules,
          critical: $0.critical.nanojoules)
      } ?? HeatLimits(fair: .max, serious: .max, critical: .max)
    let percents = [10, 20, 80, 85, 90, 95, 100, battery.lowPowerEnds, battery.essentialBelow]
    thresholds = Thresholds(
      percents.filter { $0 > 0 }.sorted().map { Body.threshold($0, of: capacity.nanojoules) })
    bootLevel = UInt8(battery.bootLevel)
    initial = min(
      capacity.nanojoules, max(0, Int64((Double(capacity.nanojoules) * level).rounded())))
  }
}
