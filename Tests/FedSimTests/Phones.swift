import FedSim
import Learning
import Schema

extension ProcessingSettings {
  /// A task of exactly 60 s, 5 s of them grace, that starts without delay once the phone has been
  /// locked for 100 s.
  static var exact: ProcessingSettings {
    var processing = ProcessingSettings()
    processing.idleDwell = .seconds(100)
    processing.startDelay = .zero
    processing.budgetMedian = .seconds(60)
    processing.budgetSpread = 0
    return processing
  }
}

/// One phone under the system's rules, with the processing task `exact`.
///
/// The task that starts at 100 s asks, downloads, and begins batch 1 at 104.340; with 4 batches of
/// 1 s it uploads from 108.340 on and has its receipt at 110.660 (see `Scene`).
struct Phone {
  var processing = ProcessingSettings.exact
  var system = SystemSettings()
  var refresh: RefreshSettings?
  var app: AppSettings?
  var group = FleetGroupSettings.group()
  var task = LearningTask.tiny()
  var stop = SimDuration.seconds(4000)

  init() {
    processing.budgetMinimum = .seconds(1)
    group.participation.retrain = .newVersions
  }

  /// A task of this many seconds, some of them grace.
  mutating func budget(_ seconds: Int64, grace: Int64) {
    processing.budgetMedian = .seconds(seconds)
    processing.grace = .seconds(grace)
  }

  /// A refresh task of 30 s that starts without delay and without chance; no processing task
  /// unless it is asked for.
  static func refreshing(_ change: (inout RefreshSettings) -> Void = { _ in }) -> RefreshSettings {
    var refresh = RefreshSettings()
    refresh.earliestBegin = .zero
    refresh.startDelay = .zero
    refresh.shortShare = 0
    refresh.likelihood = 1
    change(&refresh)
    return refresh
  }

  /// The scene of this phone.
  func scene(hasProcessing: Bool = true) -> Scene {
    var group = group
    group.background.processing = hasProcessing ? processing : nil
    group.background.system = system
    group.background.refresh = refresh
    group.app = app
    var scene = Scene(task, fleet: [group])
    scene.inputs.stop.after = stop
    return scene
  }

  /// The scene, changed by `make`.
  static func scene(_ make: (inout Phone) -> Void) -> Scene {
    var phone = Phone()
    make(&phone)
    return phone.scene()
  }
}

extension Scene {
  /// Scripts the submission of a request.
  mutating func submit(_ identifier: String, _ kind: TaskKind = .processing, at time: Int64) {
    inject(.submit, "phones/0", at: time)
    inputs.injections[inputs.injections.count - 1].task = kind
    inputs.injections[inputs.injections.count - 1].identifier = identifier
  }
}
