import Learning
import Numerics

/// What the settings ask for beyond the plain path, found out once: nothing of it changes.
struct Features {
  /// The selector that lets devices into cycles, if it is one.
  var admission: (any CycleAdmission)?
  /// Whether accepted devices have keys that are good for one cycle.
  var givesKeys = false
  /// Where the layer that changes is, and from which version on.
  var change: (version: Int32, ranges: [Range<Int>])?
  /// What updates go through on their devices; nil: nothing.
  var chain: TransformChain?
  /// The parameters that are trained and never leave a device.
  var privateRanges: [Range<Int>] = []
  /// Plans by what the server sends, in the order of `clientConfig`.
  var plans: [TrainingPlan] = []
  /// Whether anything travels with models and updates.
  var hasCompanions = false
  /// Whether trainings depend on one another, or on more than the model.
  var isStateful = false
  /// Whether an attack looks at what trainings began with.
  var falsifies = false
  /// Whether the server asks for more than trainings: then its counts are part of the result.
  var hasInstructions = false
  /// Whether any of a protocol is asked for: cycles, streams, erasures, another layout.
  var isOn = false
  /// Whether any device may train on a model that it holds before the server answers.
  var keepsModels = false
  /// Whether any group limits its bytes over cellular networks.
  var limitsCellularBytes = false
  /// Whether the selector looks at what the server believes of devices, and of their batteries.
  var readsBeliefs = false
  var readsBatteries = false
  /// What the devices' libraries do beyond the plain path, by group; empty where none does a thing.
  var dialects: [(any Dialect)?] = []
  /// What the server does beyond the plain path.
  var serverDialect: (any ServerDialect)?
}
