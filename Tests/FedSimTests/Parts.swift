import FedSim
import Learning
import Schema

/// A part, with settings that are changed.
func make<P: Part>(_ type: P.Type, _ change: (inout P.Settings) -> Void = { _ in }) -> P {
  var settings = P.Settings()
  change(&settings)
  return P(settings)
}

/// A transform that is chosen, with settings that are changed.
func choice<P: UpdateTransform>(
  _ type: P.Type, _ change: (inout P.Settings) -> Void = { _ in }
) -> Choice<any UpdateTransform> {
  var settings = P.Settings()
  change(&settings)
  return Choice(type, settings) { $0 }
}
