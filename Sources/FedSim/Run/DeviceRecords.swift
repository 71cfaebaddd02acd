import Learning
import Numerics
import Schema

/// The devices of a run as others may read them: the record of each, in the order of the fleet,
/// made as it is asked for, and sums over all.
///
/// It shares the state of the run as it was when it was asked for. Do not keep it while the run
/// continues: the run would copy what it changes.
public struct DeviceRecords: RandomAccessCollection {
  let devices: Devices
  let cx: Context

  /// 0.
  public var startIndex: Int { 0 }
  /// How many devices there are.
  public var endIndex: Int { devices.count }

  /// The record of a device by its number in the fleet.
  public subscript(device: Int) -> DeviceRecord {
    DeviceRecord(device, devices, cx)
  }

  /// Devices that are connected now. Complexity: O(devices).
  public var connectedCount: Int { devices.indices.count { cx.network[$0].isConnected } }
  /// Devices that train now. Complexity: O(devices).
  public var trainingCount: Int { devices.all.count { $0.run != nil } }
  /// The client of each device, whose data it has.
  public var clients: [Int32] { Array(cx.members.clients) }
  /// Whether a device is an adversary, before its attack begins as well.
  public func isAdversary(_ device: Int) -> Bool { Adversary.isAdversary(device, cx) }

  /// What a device's own clock shows at a time, in its own time zone (written as if it were UTC).
  public func localTime(of device: Int, at time: SimTime) -> CivilTime {
    CivilTime(secondsSince1970: DeviceClock.localSeconds(device, at: time, devices, cx))
  }

  /// The name that a device gives to a file of data at a time: user, local time, kind.
  ///
  /// Source: SwiftyForesight, `LibraData`: `<userID>_<yyyyMMddHHmmss>_data.csv`.
  public func fileName(of device: Int, at time: SimTime) -> String {
    Roster.path(of: device, cx).replacing("/", with: "-") + "_"
      + DeviceClock.digits(ofSecond: DeviceClock.localSeconds(device, at: time, devices, cx))
      + "_data.csv"
  }

  /// A device that collects; nil: it does not.
  public func collector(_ device: Int) -> CollectorRecord? {
    guard Collecting.collects(device, cx) else { return nil }
    let collector = cx.collection.collectors[device]
    let group = Int(devices[device].group)
    let arrived = SampleFiles.arrivedSamples(device, cx)
    var inUse = [Int](repeating: -2, count: cx.collection.models.count)
    for (place, model) in cx.collection.fetched[group].enumerated() {
      if Roster.group(of: device, devices, cx).collection?.fetch != nil {
        inUse[model] = Int(collector.models[place].inUse)
      }
    }
    return CollectorRecord(
      counts: collector.counts, keptFiles: collector.kept.count, keptBytes: collector.bytes,
      mostBytes: collector.mostBytes, logged: collector.log.count,
      waiting: collector.taken.reduce(0) { $0 + Swift.max(0, arrived - Int($1)) }, inUse: inUse)
  }
}

extension DeviceRecords {
  // MARK: Training

  /// Digest of the batch orders of a device's first `epochs` data epochs.
  public func orderDigest(of device: Int, epochs: Int) -> UInt64 {
    var digest = Digest()
    let order = Training.order(device, firstEpoch: 0, cx)
    for epoch in 0..<epochs {
      for position in order.positions(
        epoch: epoch, shardCount: Int(cx.members.sampleCounts[device]))
      {
        digest.combine(Int64(position))
      }
    }
    return digest.value
  }

  /// What a device's trainings have left for its next one, such as SCAFFOLD's own variate; none:
  /// nothing, or zeros.
  public func trainingState(of device: Int) -> [ParameterBuffer] {
    guard !cx.states.last.isEmpty, let last = cx.states.last[device]?.training
    else { return [] }
    return last.value(Scratch()).auxiliaryOutput.kept
  }

  /// The accuracy of each device's own model on the samples that a federated evaluation takes, or
  /// the RMSE where targets are numbers; NaN for a device without any; nil where no device has a
  /// model.
  public func ownAccuracies() -> [Double]? {
    guard !cx.states.own.isEmpty, !cx.inputs.omitsArithmetic else { return nil }
    let own = cx.states.own
    let clients = cx.members.clients.map { Int($0) }
    let task = cx.inputs.task
    let kernels = cx.inputs.kernels
    return cx.inputs.pool.map(own.count) { device, scratch in
      guard let training = own[device]?.training else { return .nan }
      let (samples, indices) = task.heldOut(by: clients[device])
      return Evaluation(
        of: task.network, parameters: training.value(scratch).parameters,
        dataset: samples == .test ? task.test : task.train, samples: indices, kernels: kernels,
        scratch: scratch
      ).score(task.train.kind)
    }
  }

  // MARK: Identities

  /// How often what happened to identities; nil where no device has one.
  public var identityCounts: IdentityCounts? {
    devices.identities.isEmpty ? nil : cx.books.identities
  }

  /// Device-time in microseconds by what the server believed and what was true, over the devices
  /// that send heartbeats. Shapes: [belief][truth].
  public var presence: [[Int64]] {
    sums(where: { $0.heartbeats != nil }, \.times)
  }

  /// The same by the link that the last heartbeat reported and the true one, over the devices whose
  /// group says what heartbeats tell; nil where none does. Shapes: [belief][truth].
  public var linkBelief: [[Int64]]? {
    guard cx.inputs.fleet.contains(where: { $0.heartbeats?.reportedLink != nil }) else {
      return nil
    }
    return sums(where: { $0.heartbeats?.reportedLink != nil }, \.linkTimes)
  }

  private func sums(
    where isCounted: (FleetGroupSettings) -> Bool, _ times: KeyPath<Belief, [Int64]>
  ) -> [[Int64]] {
    var sums = [[Int64]](repeating: [0, 0, 0], count: 3)
    for (device, identity) in zip(devices.all, devices.identities.devices)
    where isCounted(cx.inputs.fleet[Int(device.group)]) {
      for (place, time) in identity.beats.belief[keyPath: times].enumerated() {
        sums[place / 3][place % 3] += time
      }
    }
    return sums
  }
}
