import DataSets
import FedSim
import Learning
import PythonParts
import Schema

/// The parts that a scenario may name, by seam.
///
/// A registry is a value: another package serves its own parts with `Registry.standard.adding(…)`.
public struct Registry: Sendable {
  /// The parts.
  public private(set) var catalog: Catalog

  /// A registry of these parts.
  public init(catalog: Catalog = Catalog()) { self.catalog = catalog }

  /// The parts that come with the simulator; a new one is one line here.
  public static let standard: Registry = {
    var parts = Catalog()
    parts.add(FashionMNIST.self, to: .dataSource) { $0 }
    parts.add(IDXFiles.self, to: .dataSource) { $0 }
    parts.add(CIFAR10.self, to: .dataSource) { $0 }
    parts.add(CIFAR100.self, to: .dataSource) { $0 }
    parts.add(CSVFiles.self, to: .dataSource) { $0 }
    parts.add(NPZFiles.self, to: .dataSource) { $0 }
    parts.add(NPYFiles.self, to: .dataSource) { $0 }
    parts.add(LEAFFiles.self, to: .dataSource) { $0 }
    parts.add(TFFFiles.self, to: .dataSource) { $0 }
    parts.add(Blobs.self, to: .dataSource) { $0 }
    parts.add(NoData.self, to: .dataSource) { $0 }
    parts.add(TrainerData.self, to: .dataSource) { $0 }
    parts.add(SyntheticUsers.self, to: .dataSource) { $0 }
    parts.add(Sensors.self, to: .dataSource) { $0 }
    parts.add(MadeUpWords.self, to: .dataSource) { $0 }

    parts.add(PartitionIID.self, to: .partition) { $0 }
    parts.add(PartitionDirichlet.self, to: .partition) { $0 }
    parts.add(PartitionShards.self, to: .partition) { $0 }
    parts.add(PartitionDirichletPrior.self, to: .partition) { $0 }
    parts.add(PartitionDirichletReplacement.self, to: .partition) { $0 }
    parts.add(PartitionDirichletByClass.self, to: .partition) { $0 }
    parts.add(PartitionDirichletByClassBalanced.self, to: .partition) { $0 }
    parts.add(PartitionDirichletMultinomial.self, to: .partition) { $0 }
    parts.add(PartitionInnerDirichlet.self, to: .partition) { $0 }
    parts.add(PartitionLabelsPerClient.self, to: .partition) { $0 }
    parts.add(PartitionConsecutiveLabels.self, to: .partition) { $0 }
    parts.add(PartitionQuantityDirichlet.self, to: .partition) { $0 }
    parts.add(PartitionQuantityPower.self, to: .partition) { $0 }
    parts.add(PartitionQuantityLogNormal.self, to: .partition) { $0 }
    parts.add(PartitionQuantityByRank.self, to: .partition) { $0 }
    parts.add(PartitionReplacement.self, to: .partition) { $0 }
    parts.add(PartitionNatural.self, to: .partition) { $0 }
    parts.add(PartitionFile.self, to: .partition) { $0 }

    parts.add(SoftmaxModel.self, to: .model) { $0 }
    parts.add(MLPModel.self, to: .model) { $0 }
    parts.add(McMahanCNN.self, to: .model) { $0 }
    parts.add(LeNet5Model.self, to: .model) { $0 }
    parts.add(ResNet20Model.self, to: .model) { $0 }
    parts.add(ResNet18Model.self, to: .model) { $0 }
    parts.add(ResNet20BatchModel.self, to: .model) { $0 }
    parts.add(ResNet18BatchModel.self, to: .model) { $0 }
    parts.add(MobileNetV2Model.self, to: .model) { $0 }
    parts.add(LSTMModel.self, to: .model) { $0 }
    parts.add(TransformerLanguageModel.self, to: .model) { $0 }
    parts.add(CIFGLanguageModel.self, to: .model) { $0 }
    parts.add(CoreMLFileModel.self, to: .model) { $0 }
    parts.add(LayersModel.self, to: .model) { $0 }
    parts.add(TrainerModel.self, to: .model) { $0 }

    parts.add(DensePart.self, to: .layer) { $0 }
    parts.add(ConvolutionPart.self, to: .layer) { $0 }
    parts.add(SequenceConvolutionPart.self, to: .layer) { $0 }
    parts.add(MaxPoolingPart.self, to: .layer) { $0 }
    parts.add(AveragePoolingPart.self, to: .layer) { $0 }
    parts.add(GlobalAveragePoolingPart.self, to: .layer) { $0 }
    parts.add(FlattenPart.self, to: .layer) { $0 }
    parts.add(ReLUPart.self, to: .layer) { $0 }
    parts.add(ReLU6Part.self, to: .layer) { $0 }
    parts.add(LeakyReLUPart.self, to: .layer) { $0 }
    parts.add(TanhPart.self, to: .layer) { $0 }
    parts.add(SigmoidPart.self, to: .layer) { $0 }
    parts.add(GELUPart.self, to: .layer) { $0 }
    parts.add(SiLUPart.self, to: .layer) { $0 }
    parts.add(SoftmaxPart.self, to: .layer) { $0 }
    parts.add(DropoutPart.self, to: .layer) { $0 }
    parts.add(GroupNormalisationPart.self, to: .layer) { $0 }
    parts.add(LayerNormalisationPart.self, to: .layer) { $0 }
    parts.add(BatchNormalisationPart.self, to: .layer) { $0 }
    parts.add(EmbeddingPart.self, to: .layer) { $0 }
    parts.add(TiedEmbeddingPart.self, to: .layer) { $0 }
    parts.add(PositionsPart.self, to: .layer) { $0 }
    parts.add(AttentionPart.self, to: .layer) { $0 }
    parts.add(ResidualPart.self, to: .layer) { $0 }
    parts.add(LoRAPart.self, to: .layer) { $0 }
    parts.add(LSTMPart.self, to: .layer) { $0 }
    parts.add(GRUPart.self, to: .layer) { $0 }

    parts.add(LocalSGD.self, to: .localOptimizer) { $0 }
    parts.add(LocalAdam.self, to: .localOptimizer) { $0 }

    parts.add(ConstantRate.self, to: .learningRateRule) { $0 }
    parts.add(StepRate.self, to: .learningRateRule) { $0 }
    parts.add(ExponentialRate.self, to: .learningRateRule) { $0 }
    parts.add(CosineRate.self, to: .learningRateRule) { $0 }

    parts.add(FedAvgLocal.self, to: .localAlgorithm) { $0 }
    parts.add(FedProx.self, to: .localAlgorithm) { $0 }
    parts.add(Scaffold.self, to: .localAlgorithm) { $0 }
    parts.add(PersonalLayers.self, to: .localAlgorithm) { $0 }
    parts.add(FedBN.self, to: .localAlgorithm) { $0 }
    parts.add(FedDyn.self, to: .localAlgorithm) { $0 }
    parts.add(Ditto.self, to: .localAlgorithm) { $0 }

    parts.add(LabelFlip.self, to: .attack) { $0 }
    parts.add(SignFlip.self, to: .attack) { $0 }
    parts.add(ScaledUpdate.self, to: .attack) { $0 }
    parts.add(GaussianAttack.self, to: .attack) { $0 }
    parts.add(FreeRider.self, to: .attack) { $0 }
    parts.add(StaleReplay.self, to: .attack) { $0 }
    parts.add(LittleIsEnough.self, to: .attack) { $0 }
    parts.add(MinMaxAttack.self, to: .attack) { $0 }
    parts.add(MinSumAttack.self, to: .attack) { $0 }
    parts.add(KrumAttack.self, to: .attack) { $0 }

    parts.add(FixedSource.self, to: .timelineSource) { $0 }
    parts.add(WeeklySource.self, to: .timelineSource) { $0 }
    parts.add(DiurnalSource.self, to: .timelineSource) { $0 }
    parts.add(MarkovSource.self, to: .timelineSource) { $0 }
    parts.add(CSVSource.self, to: .timelineSource) { $0 }
    parts.add(StaySource.self, to: .timelineSource) { $0 }
    parts.add(FLASHSource.self, to: .timelineSource) { $0 }
    parts.add(FedScaleSource.self, to: .timelineSource) { $0 }

    parts.addHardware()

    parts.add(OpenSelector.self, to: .clientSelector) { $0.erased }
    parts.add(UniformSelector.self, to: .clientSelector) { $0.erased }
    parts.add(ScriptedSelector.self, to: .clientSelector) { $0.erased }
    parts.add(FractionSelector.self, to: .clientSelector) { $0.erased }
    parts.add(CycleSelector.self, to: .clientSelector) { $0.erased }
    parts.add(ConcurrentSelector.self, to: .clientSelector) { $0.erased }
    parts.add(WeightedSelector.self, to: .clientSelector) { $0.erased }
    parts.add(RoundRobinSelector.self, to: .clientSelector) { $0.erased }
    parts.add(MinimumIntervalSelector.self, to: .clientSelector) { $0.erased }
    parts.add(BelievedOnlineSelector.self, to: .clientSelector) { $0.erased }
    parts.add(PowerOfChoiceSelector.self, to: .clientSelector) { $0.erased }
    parts.add(OortSelector.self, to: .clientSelector) { $0.erased }
    parts.add(AvailabilitySelector.self, to: .clientSelector) { $0.erased }
    parts.add(ProgramSelector.self, to: .clientSelector) { $0.erased }
    parts.add(PythonSelector.self, to: .clientSelector) { $0.erased }

    parts.add(ThresholdTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(EveryTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(CohortCompleteTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(DeadlineTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(CohortAnsweredTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(CycleEndTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(EveryArrivalTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(BufferTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(FirstTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(QuorumTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(AllTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(ProgramTrigger.self, to: .aggregationTrigger) { $0 }
    parts.add(PythonTrigger.self, to: .aggregationTrigger) { $0 }

    parts.add(ClipNorm.self, to: .updateTransform) { $0 }
    parts.add(AdaptiveClip.self, to: .updateTransform) { $0 }
    parts.add(GaussianNoise.self, to: .updateTransform) { $0 }
    parts.add(LaplaceNoise.self, to: .updateTransform) { $0 }
    parts.add(ByteQuantisation.self, to: .updateTransform) { $0 }
    parts.add(StochasticQuantisation.self, to: .updateTransform) { $0 }
    parts.add(TopK.self, to: .updateTransform) { $0 }
    parts.add(RandomK.self, to: .updateTransform) { $0 }
    parts.add(SignCompression.self, to: .updateTransform) { $0 }

    parts.add(SampleWeightedMean.self, to: .aggregator) { $0 }
    parts.add(UniformMean.self, to: .aggregator) { $0 }
    parts.add(CoordinateMedian.self, to: .aggregator) { $0 }
    parts.add(CoordinateTrimmedMean.self, to: .aggregator) { $0 }
    parts.add(Krum.self, to: .aggregator) { $0 }
    parts.add(MultiKrum.self, to: .aggregator) { $0 }
    parts.add(Bulyan.self, to: .aggregator) { $0 }
    parts.add(GeometricMedian.self, to: .aggregator) { $0 }
    parts.add(NormBoundedMean.self, to: .aggregator) { $0 }
    parts.add(FairAggregator.self, to: .aggregator) { $0 }
    parts.add(AgnosticAggregator.self, to: .aggregator) { $0 }
    parts.add(NormalisedMean.self, to: .aggregator) { $0 }
    parts.add(LateAwareMean.self, to: .aggregator) { $0 }
    parts.add(PythonAggregator.self, to: .aggregator) { $0 }

    parts.add(ConstantStaleness.self, to: .stalenessWeight) { $0 }
    parts.add(PolynomialStaleness.self, to: .stalenessWeight) { $0 }
    parts.add(HingeStaleness.self, to: .stalenessWeight) { $0 }
    parts.add(ExponentialStaleness.self, to: .stalenessWeight) { $0 }

    parts.add(ServerSGD.self, to: .serverOptimizer) { $0 }
    parts.add(Mixing.self, to: .serverOptimizer) { $0 }
    parts.add(ServerMomentum.self, to: .serverOptimizer) { $0 }
    parts.add(ServerAdagrad.self, to: .serverOptimizer) { $0 }
    parts.add(ServerAdam.self, to: .serverOptimizer) { $0 }
    parts.add(ServerYogi.self, to: .serverOptimizer) { $0 }
    parts.add(ServerDynamics.self, to: .serverOptimizer) { $0 }
    parts.add(PythonOptimizer.self, to: .serverOptimizer) { $0 }
    return Registry(catalog: parts)
  }()

  /// This registry with one more part; a part of the same name in the seam is replaced.
  public func adding<Value, P: Part>(
    _ type: P.Type, to seam: Seam<Value>, as value: @escaping @Sendable (P) -> Value
  ) -> Registry {
    var registry = self
    registry.catalog.add(type, to: seam, as: value)
    return registry
  }

  /// This registry with one more aggregator.
  public func adding<P: Aggregator>(_ type: P.Type) -> Registry {
    adding(type, to: .aggregator) { $0 }
  }

  /// This registry with one more aggregation trigger.
  public func adding<P: AggregationTrigger>(_ type: P.Type) -> Registry {
    adding(type, to: .aggregationTrigger) { $0 }
  }

  /// This registry with one more client selector.
  public func adding<P: ClientSelector>(_ type: P.Type) -> Registry {
    adding(type, to: .clientSelector) { $0.erased }
  }

  /// This registry with one more staleness weight.
  public func adding<P: StalenessWeight>(_ type: P.Type) -> Registry {
    adding(type, to: .stalenessWeight) { $0 }
  }

  /// This registry with one more server optimizer.
  public func adding<P: ServerOptimizer>(_ type: P.Type) -> Registry {
    adding(type, to: .serverOptimizer) { $0 }
  }

  /// This registry with one more update transform.
  public func adding<P: UpdateTransform>(_ type: P.Type) -> Registry {
    adding(type, to: .updateTransform) { $0 }
  }

  /// This registry with one more local algorithm.
  public func adding<P: LocalAlgorithm>(_ type: P.Type) -> Registry {
    adding(type, to: .localAlgorithm) { $0 }
  }

  /// This registry with one more attack.
  public func adding<P: Attack>(_ type: P.Type) -> Registry {
    adding(type, to: .attack) { $0 }
  }

  /// This registry with one more timeline source.
  public func adding<P: TimelineSource>(_ type: P.Type) -> Registry {
    adding(type, to: .timelineSource) { $0 }
  }

  /// This registry with one more data source.
  public func adding<P: DataSource & Part>(_ type: P.Type) -> Registry {
    adding(type, to: .dataSource) { $0 }
  }

  /// This registry with one more partition.
  public func adding<P: PartitionSource & Part>(_ type: P.Type) -> Registry {
    adding(type, to: .partition) { $0 }
  }

  /// This registry with one more model.
  public func adding<P: ModelSource>(_ type: P.Type) -> Registry {
    adding(type, to: .model) { $0 }
  }
}
