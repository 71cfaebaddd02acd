import DataSets
import FedSim
import Learning
import Numerics
import Scenarios
import Schema

extension Scenario {
  /// The run of this scenario at its start; reads every file that the scenario names.
  ///
  /// Throws: every fault in those files and between them and the scenario.
  public func makeSimulation(
    _ options: RunOptions = RunOptions()
  ) throws(Faults) -> Simulation {
    Simulation(try inputs(options))
  }

  /// All that the run depends on; reads every file that the scenario names.
  ///
  /// Throws: every fault in those files and between them and the scenario.
  public func inputs(_ options: RunOptions = RunOptions()) throws(Faults) -> SimulationInputs {
    guard let kernels = options.kernels.map({ Kernels($0) }) ?? Kernels.best else {
      let body = options.kernels.map(\.rawValue) ?? ""
      throw Faults([Fault(at: .none, .contradiction("this processor cannot run \(body) kernels"))])
    }
    var faults: [Fault] = []
    var tables = TableReader(self)
    tables.readAll()
    faults += tables.faults
    var traces = TraceReader(self)
    traces.readAll()
    faults += traces.faults
    var task: LearningTask?
    do throws(Faults) { task = try learningTask(options) } catch { faults += error.faults }
    var server = settings.server
    do throws(Faults) { server = try serverSettings() } catch { faults += error.faults }
    if let task {
      faults += layoutFaults(task.network) + exchangeFaults(task.network)
      faults += algorithmFaults(task.network) + batchFaults(task.network)
      faults += adversaryFaults(task.train.classCount)
    }
    guard let task, faults.isEmpty else { throw Faults(faults) }
    var inputs = SimulationInputs(task: task)
    inputs.seeds = seeds
    inputs.civilStart = settings.start.secondsSince1970
    inputs.fleet = settings.fleet
    inputs.server = server
    inputs.injections = settings.inject
    inputs.stop = settings.stop
    inputs.program = try flowerProgram()
    inputs.stopsWhenStuck = settings.stop.playsOut != true && inputs.program == nil
    inputs.record = settings.record
    inputs.omitsArithmetic = settings.task.learning == .some(.none)
    inputs.tables = tables.tables
    inputs.traces = traces.traces
    inputs.capacities = traces.capacities
    inputs.shakeTies = options.shakeTies
    inputs.kernels = kernels
    let threads = max(1, options.threads, settings.task.python?.workers ?? 1)
    inputs.pool = WorkerPool(threads: threads, ranks: options.ranks)
    inputs.compute = options.compute
    return inputs
  }

  /// The largest model: 1 GiB of parameters, of which a run holds several copies.
  private static let mostParameters = 1 << 28

  /// Data, partition, model and plan.
  private func learningTask(_ options: RunOptions) throws(Faults) -> LearningTask {
    let folders = DataFolders(
      [path(of: ".")] + options.dataFolders, includesInstalled: options.searchesInstalledData)
    if let flower = settings.task.flower { return flowerTask(flower) }
    if let python = settings.task.python { return try trainerTask(python, options, folders) }
    let data: TrainAndTest
    do throws(DataFault) {
      let source = settings.task.data.source
      if let cache = options.dataCache {
        data = try cache.load(source, folders: folders, seed: seeds.data)
      } else {
        data = try source.value.load(folders: folders, seed: seeds.data)
      }
    } catch {
      throw Faults([fault(error, at: ["task", "data", "source"])])
    }
    let partition = try makePartition(data, folders)
    let file = try modelFile(settings.task.model, at: ["task", "model"])
    let network = try network(
      settings.task.model, file, for: data.train, training: settings.task.training,
      at: ["task", "model"])
    try checkTokens(of: data, for: network)
    let (models, files) = try centralModels(for: data)
    var task = LearningTask(
      network: network, initial: try initialParameters(of: network, file),
      train: try noisy(data.train, partition),
      test: data.test, partition: partition, plan: settings.task.training.plan,
      algorithm: settings.task.training.algorithm.value,
      orders: try batchOrders(of: partition),
      clientTests: settings.task.data.partition.value.clientTests(of: data),
      isInitialGiven: settings.task.initialWeights != nil || file != nil, models: models)
    let digests = ([file] + files).map { $0?.digest ?? "" }
    if digests.contains(where: { !$0.isEmpty }) { task.modelDigests = digests }
    return task
  }

  /// What the file of a model holds; nil: the model has none.
  func modelFile(
    _ model: Choice<any ModelSource>, at keys: [String]
  ) throws(Faults) -> CoreMLNetwork? {
    guard let file = model.value.file else { return nil }
    do throws(DataFault) {
      return try CoreMLNetwork(contentsOf: path(of: file.path))
    } catch {
      let path = (keys + [model.name, "file"]).dotted
      throw Faults([fault(error, at: file.place, path: path)])
    }
  }

  /// A network for the samples; a fault of a layer is reported where the layer is written.
  func network(
    _ model: Choice<any ModelSource>, _ file: CoreMLNetwork?, for data: Dataset,
    training: TrainingSettings, at keys: [String]
  ) throws(Faults) -> Network {
    guard let loss = training.loss.loss(for: data.kind) else {
      throw Faults([
        Fault(
          at: place(of: keys), path: keys.dotted,
          .contradiction("`\(training.loss.rawValue)` is no loss for these samples' targets"))
      ])
    }
    let network: Network
    do throws(LayerFault) {
      let (shape, outputs) = (data.sampleShape, data.outputCount)
      if let file {
        network = try file.network(sampleShape: shape, classCount: outputs, loss: loss)
      } else {
        network = try model.value.network(sampleShape: shape, classCount: outputs, loss: loss)
      }
      if let objection = network.objection(to: data) {
        throw LayerFault(
          layer: network.layers.count, kind: network.layers[network.layers.count - 1].kind,
          message: objection)
      }
    } catch {
      let layer = keys + [model.name, "[\(error.layer - 1)]"]
      throw Faults([
        Fault(
          at: place(of: model.name == LayersModel.name ? layer : keys),
          path: keys.dotted, .contradiction(error.description))
      ])
    }
    let parameters = network.layout.count
    guard parameters <= Self.mostParameters else {
      let message = "\(parameters) parameters, expected at most \(Self.mostParameters)"
      throw Faults([Fault(at: place(of: keys), path: keys.dotted, .contradiction(message))])
    }
    return network
  }

  /// The training samples with the noise of the clients that hold them, where there is any.
  private func noisy(_ data: Dataset, _ partition: Partition) throws(Faults) -> Dataset {
    guard let noise = settings.task.data.featureNoise else { return data }
    do throws(PartitionFault) {
      return try noise.applied(to: data, partition, seed: seeds.data)
    } catch {
      let keys = ["task", "data", "featureNoise"]
      throw Faults([Fault(error, at: place(of: keys), path: keys.dotted)])
    }
  }

  func makePartition(
    _ data: TrainAndTest, _ folders: DataFolders
  ) throws(Faults) -> Partition {
    let keys = ["task", "data", "partition"]
    let partition: Partition
    do {
      partition = try settings.task.data.partition.value.partitioner(
        for: data, folders: folders
      ).partition(
        labels: data.train.labels, classCount: data.train.classCount,
        streams: PartitionStreams(seed: seeds.data),
        validationFraction: settings.task.data.validationFraction)
    } catch let error as DataFault {
      throw Faults([fault(error, at: keys)])
    } catch let error as PartitionFault {
      throw Faults([Fault(error, at: place(of: keys), path: keys.joined(separator: "."))])
    } catch {
      preconditionFailure("a partition throws only faults of files and of partitions")
    }
    for (index, group) in settings.fleet.enumerated() {
      guard let first = group.firstClient, first >= partition.clientCount else { continue }
      throw Faults([
        Fault(
          at: place(of: ["fleet", "[\(index)]", "firstClient"]),
          path: "fleet[\(index)].firstClient",
          .contradiction(
            "there is no client \(first): the partition has "
              + "\(Words.count(partition.clientCount, "client")), numbered from 0"))
      ])
    }
    return partition
  }
}
