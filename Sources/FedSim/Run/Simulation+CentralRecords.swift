import Learning
import Schema

extension Simulation {
  /// Whether any device collects for central training.
  public var isCentral: Bool { cx.collection.isOn }
  /// The models that are trained centrally.
  public var centralModels: [CentralModel] { cx.collection.models.map(\.task) }
  /// The latest parameters of one of them; the initial ones before its first version, and always
  /// where users have personal models.
  public func centralParameters(_ model: Int) -> ParameterBuffer {
    cx.collection.models[model].parameters
  }
  /// The latest parameters of the model that a device's user has alone; nil: there is none.
  public func ownParameters(_ model: Int, of device: Int) -> ParameterBuffer? {
    guard cx.collection.isOn else { return nil }
    let collector = cx.collection.collectors[device]
    return collector.own.last { $0.model == model && $0.user == collector.user }?.parameters
  }
  /// Whether each user has a personal version of it.
  public func isOwn(_ model: Int) -> Bool { cx.collection.models[model].scope == .user }
  /// Their versions, in the order in which they were published.
  public var centralVersions: [CentralVersion] { cx.collection.versions }
  /// The ledger of files.
  public var fileLedger: Ledger<FileOutcome> { cx.collection.ledger }
  /// How many samples were in files with each outcome, in the order of the outcomes.
  public var fileSamples: [Int] { cx.collection.samples }
  /// What happened around the store, counted; nil where nobody collects.
  public var centralTallies: CentralTallies? { cx.collection.isOn ? cx.collection.tallies : nil }

  /// A device that collects; nil: it does not.
  public func collectorRecord(_ device: Int) -> CollectorRecord? {
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
      waiting: collector.taken.reduce(0) { $0 + max(0, arrived - Int($1)) }, inUse: inUse)
  }
}
