import Learning
import Numerics

/// The two links of a device; devices of a group whose links do not differ share them.
final class Links {
  let wifi: Link
  let cellular: Link

  init(_ settings: NetworkSettings, speed: Double) {
    wifi = Link(settings.wifi, speed: speed, isCellular: false)
    cellular = Link(settings.cellular, speed: speed, isCellular: true)
  }
}

/// Rates and delay of a link.
struct Link {
  let down: BitRate
  let up: BitRate
  let roundTrip: SimDuration
  let isMetered: Bool

  /// The link with a part of its rates, in whole bits a second.
  func scaled(percent: Int64) -> Link {
    func part(_ rate: BitRate) -> BitRate {
      let (high, low) = rate.bitsPerSecond.multipliedFullWidth(by: percent)
      return BitRate(bitsPerSecond: Int64(100).dividingFullWidth((high, low)).quotient)
    }
    return Link(down: part(down), up: part(up), roundTrip: roundTrip, isMetered: isMetered)
  }

  /// From the device to the server, or back: at least a microsecond.
  var oneWay: SimDuration {
    SimDuration(microseconds: max(1, roundTrip.microseconds / 2))
  }
}

extension Link {
  /// A link whose rates are `speed` times its settings, as far as a rate goes.
  init(_ settings: LinkSettings, speed: Double, isCellular: Bool) {
    func scaled(_ rate: BitRate) -> BitRate {
      let bits = Double(rate.bitsPerSecond) * speed
      return BitRate(bitsPerSecond: bits < 0x1p63 ? max(1, Int64(bits)) : .max)
    }
    self.init(
      down: scaled(settings.down), up: scaled(settings.up), roundTrip: settings.roundTrip,
      isMetered: settings.metered ?? isCellular)
  }
}
