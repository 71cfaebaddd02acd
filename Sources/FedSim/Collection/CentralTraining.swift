import Learning
import Numerics

/// A central training under way.
struct CentralTraining: Codable {
  let startedAt: SimTime
  let files: Int
  let samples: Int
  let newSamples: Int
  let users: Int
  let processed: Int
  /// Whose models they are; empty: one for all.
  let owners: [Owner]
  /// What is computed, in the same order; empty where arithmetic is left out.
  let trainings: [DeferredTraining]

  /// A user: a device, and which of the device's users.
  struct Owner: Codable {
    let device: Int32
    let user: Int32
  }
}

extension CentralTraining {
  /// Schedules the first trainings by time.
  static func planCentralTraining(_ cx: inout Context) {
    guard let every = cx.inputs.server.central?.every else { return }
    cx.schedule(.serverTimer(.central(-1)), .serverTimer, at: cx.now + every, by: nil)
  }

  /// A timer of central training rings: all models are due, or a training is done.
  static func centralRang(
    _ number: Int32, _ server: inout Server, _ cx: inout Context
  ) {
    guard number < 0 else { return endCentralTraining(Int(number), &server, &cx) }
    for model in cx.collection.models.indices {
      beginCentralTraining(model, isDue: true, &cx)
    }
    planCentralTraining(&cx)
  }

  /// Begins to train a model on what the store has now, unless a training is under way.
  static func beginCentralTraining(
    _ model: Int, isDue: Bool, _ cx: inout Context
  ) {
    guard cx.collection.models[model].running == nil else {
      if isDue { cx.collection.tallies.overruns += 1 }
      return
    }
    let files = filesToRead(model, &cx)
    guard !files.isEmpty else { return cx.collection.tallies.emptyTrainings += 1 }
    let bit: UInt64 = 1 << UInt64(model)
    var (samples, fresh) = (0, 0)
    for file in files {
      samples += Int(cx.collection.files[file].count)
      if cx.collection.files[file].inStore.readBy & bit == 0 {
        fresh += Int(cx.collection.files[file].count)
      }
      cx.collection.files[file].inStore.readBy |= bit
      SampleFiles.resolve(file: file, .trained, &cx)
    }
    cx.collection.models[model].newSamples = 0
    let lists = sampleLists(files, cx.collection.models[model].scope, cx)
    let trained = cx.collection.models[model]
    var processed = 0
    var trainings: [DeferredTraining] = []
    for list in lists.shards {
      let plan = trained.task.plan
      processed += plan.samples(
        inBatches: 0..<plan.batchCount(shardCount: list.samples.count),
        shardCount: list.samples.count)
      guard !cx.inputs.omitsArithmetic else { continue }
      let training = centralTraining(model, of: list.owner, list.samples, cx)
      cx.computations.prefetch(training)
      trainings.append(training)
    }
    let longest = lists.shards.map(\.samples.count).max() ?? 0
    cx.collection.models[model].nextEpoch += UInt64(trained.task.plan.epochs(shardCount: longest))
    cx.collection.models[model].running = CentralTraining(
      startedAt: cx.now, files: files.count, samples: samples, newSamples: fresh,
      users: lists.users, processed: processed,
      owners: lists.shards.compactMap(\.owner), trainings: trainings)
    cx.note(-1, .central(.trainingBegan(model: model, samples: samples)))
    let settings = cx.inputs.server.central!
    cx.schedule(
      .serverTimer(.central(Int32(model))), .serverTimer,
      at: cx.now + settings.overhead
        + SimDuration(roundingUp: Double(processed) / settings.samplesPerSecond), by: nil)
  }

  /// The files that a training of a model reads.
  ///
  /// Order: by the time at which they came into the store, then by device, then by their making.
  private static func filesToRead(_ model: Int, _ cx: inout Context)
    -> [Int32]
  {
    cx.collection.store = cx.collection.store.filter {
      cx.collection.files.contains($0) && cx.collection.files[$0].inStore.isThere
    }
    let settings = cx.inputs.server.central!
    var found: [Int32] = []
    for file in cx.collection.store where SampleStore.models(of: file, cx).contains(model) {
      if settings.data == .new, cx.collection.files[file].inStore.readBy >> UInt64(model) & 1 == 1 {
        continue
      }
      if settings.requiresMetadata, !SampleStore.hasItem(file, cx) {
        cx.collection.tallies.withoutMetadata += 1
        continue
      }
      found.append(file)
    }
    // Two may come at one time, in an order that shaking ties changes.
    found.sort { a, b in
      let (first, second) = (cx.collection.files[a], cx.collection.files[b])
      return (first.inStore.since, first.device, a) < (second.inStore.since, second.device, b)
    }
    return found
  }

  /// The samples of files: in one list, or in one for each user, by device.
  ///
  /// Order: in a list file by file, in a file as the samples reached the device.
  private static func sampleLists(
    _ files: [Int32], _ scope: CentralSettings.Model.Scope, _ cx: borrowing Context
  ) -> (shards: [(owner: CentralTraining.Owner?, samples: [Int32])], users: Int) {
    var byUser: [(owner: CentralTraining.Owner, samples: [Int32])] = []
    var all: [Int32] = []
    var places = [[Int]](repeating: [], count: cx.members.count)
    for file in files {
      let record = cx.collection.files[file]
      let device = Int(record.device)
      let samples = SampleFiles.arrivals(
        device, Int(record.first)..<Int(record.first + record.count), cx)
      var place = places[device].first { byUser[$0].owner.user == record.user }
      if place == nil {
        place = byUser.count
        places[device].append(byUser.count)
        byUser.append((CentralTraining.Owner(device: record.device, user: record.user), []))
      }
      if scope == .user { byUser[place!].samples += samples } else { all += samples }
    }
    guard scope == .user else { return ([(nil, all)], byUser.count) }
    byUser.sort { ($0.owner.device, $0.owner.user) < ($1.owner.device, $1.owner.user) }
    return (byUser.map { ($0.owner, $0.samples) }, byUser.count)
  }

  /// A training of a model, for all or for one user.
  ///
  /// Draws: the batch order's, by seed `training`, purpose `central-batches-NAME`, and, for a user,
  /// the device's group and ordinal; slot = the epochs that the model's trainings had before.
  private static func centralTraining(
    _ model: Int, of owner: CentralTraining.Owner?, _ samples: [Int32],
    _ cx: borrowing Context
  ) -> DeferredTraining {
    let trained = cx.collection.models[model]
    var (group, ordinal) = ("", UInt32(0))
    if let device = owner.map({ Int($0.device) }) {
      group = cx.inputs.fleet[cx.members.group(of: device)].name
      ordinal = UInt32(cx.members.ordinal(of: device))
    }
    let key = StreamKey(
      seed: cx.inputs.seeds.training, purpose: Purpose("central-batches-\(trained.task.name)"),
      group: group, ordinal: ordinal)
    let local = LocalTraining(
      network: trained.task.network, dataset: cx.inputs.task.train, shard: samples,
      plan: trained.task.plan, order: .keyed(key, firstSlot: trained.nextEpoch),
      owner: .init(client: -1, device: owner.map { Int($0.device) } ?? -1))
    var start = trained.parameters
    if let owner {
      start =
        cx.collection.collectors[Int(owner.device)].own.last {
          $0.model == model && $0.user == owner.user
        }?.parameters ?? trained.task.initial
    }
    if cx.inputs.server.central?.from == .initial { start = trained.task.initial }
    return DeferredTraining(
      local, by: trained.task.algorithm, batches: 0..<local.batchCount, from: .parameters(start),
      validation: [], isLast: true, model: 1 + model, kernels: cx.inputs.kernels,
      executor: cx.inputs.executor)
  }

  // MARK: Publishing

  /// A training is done: its version is published, and the next may be due.
  private static func endCentralTraining(
    _ model: Int, _ server: inout Server, _ cx: inout Context
  ) {
    guard let running = cx.collection.models[model].running else { return }
    cx.collection.models[model].running = nil
    cx.collection.models[model].version += 1
    let values = cx.computations.values(of: running.trainings)
    var lossSum = 0.0
    for value in values { lossSum += value.lossSum }
    if running.owners.isEmpty, let value = values.first {
      cx.collection.models[model].parameters = value.parameters
    }
    var accuracies: [Double] = []
    for (place, owner) in running.owners.enumerated() {
      accuracies += keepOwn(
        model, owner, values.isEmpty ? nil : values[place].parameters, &cx)
    }
    let version = Int(cx.collection.models[model].version)
    let held = versionsInUse(of: model, cx)
    cx.collection.models[model].places.append(cx.collection.versions.count)
    cx.collection.versions.append(
      CentralVersion(
        model: model, version: version, startedAt: running.startedAt, publishedAt: cx.now,
        files: running.files, samples: running.samples, newSamples: running.newSamples,
        users: running.users, samplesProcessed: running.processed,
        trainingLoss: values.isEmpty ? .nan : lossSum / Double(running.processed),
        evaluation: evaluateCentral(model, server, cx),
        userAccuracy: accuracies.isEmpty
          ? .nan : accuracies.reduce(0, +) / Double(accuracies.count),
        meanLag: held.lag, heldAccuracy: held.accuracy))
    cx.note(-1, .central(.published(model: model, version: version)))
    let record = cx.collection.versions[cx.collection.versions.count - 1]
    cx.audience.announce(.publishedCentrally(record))
    if let wanted = cx.inputs.server.central?.samples,
      cx.collection.models[model].newSamples >= wanted
    {
      beginCentralTraining(model, isDue: false, &cx)
    }
  }

  /// Keeps a user's own model; its accuracy on the user's held-out samples, where there are any.
  private static func keepOwn(
    _ model: Int, _ owner: CentralTraining.Owner, _ parameters: ParameterBuffer?,
    _ cx: inout Context
  ) -> [Double] {
    let device = Int(owner.device)
    let trained = cx.collection.models[model]
    cx.collection.collectors[device].own.removeAll { $0.model == model && $0.user == owner.user }
    cx.collection.collectors[device].own.append(
      Collector.Own(
        model: model, user: owner.user, version: trained.version,
        parameters: parameters ?? trained.task.initial))
    let task = cx.inputs.task
    let (source, indices) = task.heldOut(by: Int(cx.members.clients[device]))
    guard let parameters, !indices.isEmpty else { return [] }
    let found = Evaluation(
      of: trained.task.network, parameters: parameters,
      dataset: source == .test ? task.test : task.train, indices: indices,
      kernels: cx.inputs.kernels, pool: cx.inputs.pool)
    return [found.score(task.train.kind)]
  }

  /// How far the devices that fetch a model are behind its version, and how good what they have is.
  ///
  /// Order: by device.
  private static func versionsInUse(
    of model: Int, _ cx: borrowing Context
  ) -> (lag: Double, accuracy: Double) {
    let version = Int(cx.collection.models[model].version)
    var (users, lag, held, accuracy) = (0, 0, 0, 0.0)
    for device in cx.members.indices where Collecting.collects(device, cx) {
      let group = cx.members.group(of: device)
      guard cx.inputs.fleet[group].collection?.fetch != nil,
        let place = cx.collection.fetched[group].firstIndex(of: model)
      else { continue }
      let inUse = Int(cx.collection.collectors[device].models[place].inUse)
      users += 1
      lag += version - max(0, inUse)
      guard inUse > 0 else { continue }
      held += 1
      let row = cx.collection.versions[cx.collection.models[model].places[inUse - 1]]
      accuracy += row.evaluation?.score(cx.inputs.task.test.kind) ?? .nan
    }
    return (Double(lag) / Double(users), accuracy / Double(held))
  }

  /// The latest version of a model for all, on the test samples.
  private static func evaluateCentral(
    _ model: Int, _ server: borrowing Server, _ cx: borrowing Context
  ) -> Evaluation? {
    let trained = cx.collection.models[model]
    guard trained.scope == .all, !cx.inputs.omitsArithmetic else { return nil }
    return Evaluation(
      of: trained.task.network, parameters: trained.parameters, dataset: cx.inputs.task.test,
      indices: server.quality.test, kernels: cx.inputs.kernels, pool: cx.inputs.pool)
  }
}
