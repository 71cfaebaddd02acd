/// What must hold at once for a device to begin to train.
public struct StartConditions: OptionSet, Hashable, Sendable {
  /// A bit for each.
  public let rawValue: UInt16

  /// The conditions of some bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Locked for long enough.
  public static let idle = StartConditions(rawValue: 1)
  /// Plugged in.
  public static let charging = StartConditions(rawValue: 1 << 1)
  /// On any link.
  public static let online = StartConditions(rawValue: 1 << 2)
  /// On Wi-Fi.
  public static let wifi = StartConditions(rawValue: 1 << 3)
  /// On a link that costs nothing.
  public static let unmetered = StartConditions(rawValue: 1 << 4)
  /// In a background window, at its beginning.
  public static let window = StartConditions(rawValue: 1 << 5)
  /// Background refresh is switched on.
  public static let refreshOn = StartConditions(rawValue: 1 << 6)
  /// Not empty and off.
  public static let on = StartConditions(rawValue: 1 << 7)
  /// Neither in low-power mode nor low.
  public static let energy = StartConditions(rawValue: 1 << 8)
  /// Not seriously warm.
  public static let cool = StartConditions(rawValue: 1 << 9)
  /// Its app was used within the system's limit.
  public static let used = StartConditions(rawValue: 1 << 10)
  /// Its app was not swiped away.
  public static let notSwiped = StartConditions(rawValue: 1 << 11)
  /// Run time of the day is left.
  public static let runTime = StartConditions(rawValue: 1 << 12)
  /// A request for a task is pending.
  public static let request = StartConditions(rawValue: 1 << 13)
  /// The pending request is due.
  public static let due = StartConditions(rawValue: 1 << 14)

  /// The conditions one by one, in the order of their bits.
  public var elements: [StartConditions] {
    (0..<16).map { StartConditions(rawValue: 1 << $0) }.filter(contains)
  }

  /// What a device of a group needs as far as the world decides it.
  package init(of group: FleetGroupSettings) {
    let (background, participation) = (group.background, group.participation)
    self = []
    if let processing = background.processing {
      insert(.idle)
      if processing.requiresExternalPower { insert(.charging) }
      if processing.requiresNetworkConnectivity { insert(.online) }
      if processing.requiresUnmetered == true { insert(.unmetered) }
      if background.system != nil { insert(.refreshOn) }
    } else {
      insert(.window)
    }
    if participation.externalPower { insert(.charging) }
    if participation.network == .wifi { insert(.wifi) }
    if participation.network == .unmetered { insert(.unmetered) }
    if participation.idle, background.processing == nil { insert(.idle) }
  }

  /// The fewest of these conditions that never held at once, the first in order of the bits; empty
  /// if all of them once did. `held` lists what held at each moment.
  package func missing(in held: [StartConditions]) -> StartConditions {
    var held = held
    held.sort { $0.rawValue < $1.rawValue }
    held = held.enumerated().filter { $0.offset == 0 || held[$0.offset - 1] != $0.element }
      .map(\.element)
    let all = elements
    var best: StartConditions?
    for choice in 1..<(1 << all.count) {
      let size = choice.nonzeroBitCount
      if let best, size >= best.elements.count { continue }
      var subset: StartConditions = []
      for (place, element) in all.enumerated() where choice >> place & 1 == 1 {
        subset.insert(element)
      }
      if !held.contains(where: { $0.isSuperset(of: subset) }) { best = subset }
    }
    return best ?? []
  }
}
