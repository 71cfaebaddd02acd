import Learning

/// What local algorithms and adversaries keep on devices and at the server in addition to the
/// model; empty, and never looked at, where the algorithm asks for nothing and there is no
/// adversary.
struct ClientStates: Codable {
  /// Whether none of them holds a training that has become an update.
  var keepNoTrainings: Bool { last.isEmpty && first.isEmpty && lastSent.isEmpty }

  /// The model on each device's disk, where trainings overwrite it; nil: the one it came with.
  var own: [OwnModel?] = []
  /// The last update of each device, where transforms keep something of it; else empty.
  var lastSent: [SentUpdate?] = []
  /// The last training of each device, where the next one continues from it.
  var last: [OwnModel?] = []
  /// What travels with models, by version, in ascending order; none for a version: zeros.
  var versions: [Companions] = []
  /// How many epochs each device does in the last round that chose it, where there are stragglers;
  /// 0: all.
  var stragglers: [Int32] = []
  /// Who is an adversary, where any group has some.
  var adversaries: [Bool] = []
  /// The first update of each adversary that sends it again and again.
  var first: [Forgery.First?] = []

  /// What travels with one version.
  struct Companions: Codable {
    let version: Int32
    let buffers: [ParameterBuffer]
  }
}

extension ClientStates {
  /// Whether updates have to keep what their training started from.
  static func needsBases(_ cx: borrowing Context) -> Bool {
    if cx.features.falsifies { return true }
    return cx.inputs.server.needsBases
  }

  /// What a device's training of the version that it holds begins with, where it continues from the
  /// one before or takes more than the model.
  static func continued(
    _ device: Int, from version: ParameterBuffer, held: Int32, _ cx: borrowing Context
  ) -> DeferredTraining.Start {
    let earlier = cx.states.last.isEmpty ? nil : cx.states.last[device]?.training
    return .continued(
      version, receiving: companions(of: held, cx),
      keeping: cx.features.privateRanges, after: earlier.map { [$0] } ?? [])
  }

  /// A training has become an update: the device's next one continues from it, whatever happens to
  /// the update.
  static func keepLast(
    _ device: Int, _ training: DeferredTraining?, base: Int32, _ cx: inout Context
  ) {
    guard !cx.states.last.isEmpty, let training else { return }
    cx.states.last[device] = OwnModel.linked(
      training, base: base, after: cx.states.last[device], &cx)
  }

  /// The app is removed: what its trainings left is gone.
  static func loseLast(_ device: Int, _ cx: inout Context) {
    if !cx.states.last.isEmpty { cx.states.last[device] = nil }
    if !cx.states.first.isEmpty { cx.states.first[device] = nil }
  }

  // MARK: What travels with models

  /// What goes with a version; none: zeros.
  private static func companions(of version: Int32, _ cx: borrowing Context) -> [ParameterBuffer] {
    cx.states.versions.last { $0.version == version }?.buffers ?? []
  }

  /// A version was made of updates that came with these: what goes with it follows from them. What
  /// goes with versions that nobody holds or downloads any more is let go.
  ///
  /// Complexity: O(devices + updates · parameters).
  static func takeCompanions(
    _ sent: [[ParameterBuffer]], _ server: inout Server,
    _ cx: inout Context
  ) {
    guard cx.features.hasCompanions, !cx.inputs.omitsArithmetic else { return }
    let buffers = cx.inputs.task.algorithm.companions(
      after: companions(of: server.version - 1, cx), sent: sent, devices: cx.members.count,
      pool: cx.inputs.pool)
    cx.states.versions.append(.init(version: server.version, buffers: buffers))
    cx.audience.announce(.companionsMade)
  }

  /// Lets go of what goes with versions that nobody holds or downloads any more.
  ///
  /// Complexity: O(devices).
  static func letGoOfCompanions(_ devices: borrowing Devices, _ cx: inout Context) {
    guard let newest = cx.states.versions.last?.version else { return }
    var oldest = newest
    for device in devices.indices {
      if devices[device].heldVersion >= 0 { oldest = min(oldest, devices[device].heldVersion) }
      if case .model(let version) = cx.network[transferOf: device]?.response {
        oldest = min(oldest, version)
      }
    }
    cx.states.versions.removeAll { $0.version < oldest }
  }

  /// What goes with the current version, such as SCAFFOLD's server variate; none: zeros.
  static func companions(_ server: borrowing Server, _ cx: borrowing Context) -> [ParameterBuffer] {
    companions(of: server.version, cx)
  }
}
