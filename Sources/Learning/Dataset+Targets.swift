extension Dataset {
  /// What a sample is learned by.
  public enum TargetKind: String, CaseIterable, Sendable {
    /// One class.
    case classes
    /// Numbers.
    case values
    /// A class at each position.
    case tokens
  }

  /// What samples are learned by, with its content where that is no class.
  public enum Targets: Sendable {
    /// One class, which `labels` has.
    case classes
    /// Numbers.
    case values(Values)
    /// A class at each position.
    case tokens(Tokens)

    /// Of what kind they are.
    public var kind: TargetKind {
      switch self {
      case .classes: .classes
      case .values: .values
      case .tokens: .tokens
      }
    }

    /// How many of them a sample has.
    public var width: Int {
      switch self {
      case .classes: 1
      case .values(let values): values.width
      case .tokens(let tokens): tokens.positions
      }
    }

    func fit(samples: Int) -> Bool {
      switch self {
      case .classes: true
      case .values(let values): values.numbers.count == samples * values.width
      case .tokens(let tokens): tokens.labels.count == samples * tokens.positions
      }
    }
  }

  /// Numbers as targets. Shapes: numbers [sample][width].
  public struct Values: Sendable {
    /// The numbers.
    public let numbers: [Float]
    /// How many a sample has.
    public let width: Int

    /// Targets; all are finite.
    public init(_ numbers: [Float], width: Int) {
      precondition(width > 0 && numbers.allSatisfy(\.isFinite), "finite numbers")
      self.numbers = numbers
      self.width = width
    }
  }

  /// A label at each position, −1 where nothing is learned. Shapes: labels [sample][positions].
  public struct Tokens: Sendable {
    /// The labels.
    public let labels: [Int32]
    /// How many positions a sample has.
    public let positions: Int
    /// How many tokens there are.
    public let count: Int
    /// The token that is learned and not scored: out of vocabulary.
    public let unscored: Int32?
    /// How many labels are scored.
    public let answers: Int

    /// Labels below `count`.
    public init(_ labels: [Int32], positions: Int, count: Int, unscored: Int32? = nil) {
      precondition(positions > 0 && count > 0, "extents are positive")
      precondition(labels.allSatisfy { $0 >= -1 && $0 < count }, "labels are tokens")
      self.labels = labels
      self.positions = positions
      self.count = count
      self.unscored = unscored
      answers = labels.count { $0 >= 0 && $0 != unscored }
    }
  }

  /// What samples are learned by.
  public var kind: TargetKind { targets.kind }

  /// How many outputs a network needs, at each position where there are some.
  public var outputCount: Int {
    switch targets {
    case .classes: classCount
    case .values(let values): values.width
    case .tokens(let tokens): tokens.count
    }
  }

  /// What an accuracy over all samples is a share of.
  public var answerCount: Int {
    switch targets {
    case .classes: count
    case .values: 0
    case .tokens(let tokens): tokens.answers
    }
  }
}

extension Network {
  /// Whether its outputs and its loss are those that the samples' targets need.
  func learns(_ dataset: Dataset) -> Bool { objection(to: dataset) == nil }

  /// Why it cannot learn by the samples' targets; nil: it can.
  public func objection(to dataset: Dataset) -> String? {
    guard loss.targets == dataset.kind else { return "the loss is not one of such targets" }
    switch dataset.targets {
    case .classes:
      return classCount >= dataset.classCount
        ? nil : "gives \(classCount) outputs for \(dataset.classCount) classes"
    case .values(let values):
      return classCount == values.width
        ? nil : "gives \(classCount) outputs for \(values.width) numbers a sample"
    case .tokens(let tokens):
      return classCount >= tokens.count && positions == tokens.positions
        ? nil
        : "gives [\(positions), \(classCount)], expected [\(tokens.positions), \(tokens.count)]: "
          + "positions and tokens"
    }
  }
}

extension Dataset {
  /// The same labels or targets with other features. Shapes: as those of this data set.
  func with(features: [Float]) -> Dataset {
    targets.kind == .classes
      ? Dataset(
        features: .floats(features), sampleShape: sampleShape, labels: labels,
        classCount: classCount)
      : Dataset(features: .floats(features), sampleShape: sampleShape, targets: targets)
  }
}
