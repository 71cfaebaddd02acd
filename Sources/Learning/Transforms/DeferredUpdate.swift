import Numerics
import Synchronization

/// What the transforms of a run's updates share.
public struct TransformChain: Sendable {
  /// The transforms, in their order.
  public let transforms: [any UpdateTransform]
  /// Where the tensors that travel are.
  public let tensors: [Range<Int>]
  /// What never travels: an update has its base's values there.
  public let kept: [Range<Int>]
  /// What adversaries do to their updates before, by their group; nil: it has none.
  public let attacks: [(any Attack)?]

  /// A chain.
  public init(
    transforms: [any UpdateTransform], tensors: [Range<Int>], kept: [Range<Int>] = [],
    attacks: [(any Attack)?] = []
  ) {
    self.transforms = transforms
    self.tensors = tensors
    self.kept = kept
    self.attacks = attacks
  }

  /// Whether any of them leaves something on the device.
  public var keepsResiduals: Bool { transforms.contains { $0.keepsResidual } }
  /// Whether adversaries of any group make up their updates together.
  public var hasCollusion: Bool { attacks.contains { $0?.colludes == true } }
}

/// An update as its device sends it, forged or through transforms, that is described now and
/// computed when somebody needs it, once.
///
/// Where transforms keep something on the device it begins with what the device's update before
/// left, and holds that one until it is computed.
public final class DeferredUpdate: Sendable {
  /// What a computed update is.
  public struct Value: Sendable, Codable {
    /// The parameters as they are sent.
    public let parameters: ParameterBuffer
    /// What each transform leaves on the device.
    public let residuals: [ParameterBuffer?]
    /// What each transform reports besides the update.
    public let reports: [Double?]
  }

  /// What an update that is described consists of.
  struct Description: Codable {
    let training: DeferredTraining
    let base: ParameterBuffer
    let streamKeys: [StreamKey]
    let slot: UInt64
    let told: [Double?]
    let previous: DeferredUpdate?
    let forgery: Forgery?
  }

  enum State {
    case described(Description)
    case computed(Value)
  }

  private let chain: TransformChain
  private let state: Mutex<State>

  /// Describes an update: what a training made of `base`, what the server sent (`told`) to each
  /// transform with it, `forgery` what an adversary makes of it before.
  ///
  /// Draws: each transform's, and the forgery's, from the stream of its key at `slot`.
  public convenience init(
    _ training: DeferredTraining, from base: ParameterBuffer, through chain: TransformChain,
    keys: [StreamKey], slot: UInt64, told: [Double?], after previous: DeferredUpdate?,
    forgery: Forgery? = nil
  ) {
    precondition(
      keys.count == chain.transforms.count && told.count == keys.count, "one per transform")
    self.init(
      chain,
      .described(
        Description(
          training: training, base: base, streamKeys: keys, slot: slot, told: told,
          previous: previous, forgery: forgery)))
  }

  init(_ chain: TransformChain, _ state: State) {
    self.chain = chain
    self.state = Mutex(state)
  }

  /// Where it is; if another thread is at it, after that.
  var stateNow: State { state.withLock { $0 } }

  /// Whether the value is there.
  public var isComputed: Bool {
    state.withLock { if case .computed = $0 { true } else { false } }
  }

  /// The attack of an update that is made up together with others, by its place in the chain;
  /// nil: it is not, or it is computed.
  public var collusion: Int? {
    guard case .described(let description) = stateNow, let place = description.forgery?.attack,
      chain.attacks[place]?.colludes == true
    else { return nil }
    return place
  }

  /// The value, computed on this thread unless it is there or another thread is at it; `agreed` is
  /// the difference that colluders send.
  public func value(_ scratch: Scratch, agreed: [Double]? = nil) -> Value {
    state.withLock { state in
      switch state {
      case .computed(let value):
        return value
      case .described(let description):
        let value = compute(description, agreed, scratch)
        state = .computed(value)
        return value
      }
    }
  }

  private func compute(
    _ description: Description, _ agreed: [Double]?, _ scratch: Scratch
  ) -> Value {
    let before = description.previous?.value(scratch).residuals
    var parameters = sent(description, agreed, scratch)
      .replacing(chain.kept, from: description.base)
    var residuals: [ParameterBuffer?] = []
    var reports: [Double?] = []
    for (place, transform) in chain.transforms.enumerated() {
      var update = OutgoingUpdate(
        parameters: parameters, base: description.base, tensors: chain.tensors,
        stream: description.streamKeys[place].stream(slot: description.slot),
        residual: before?[place], told: description.told[place])
      transform.apply(&update)
      parameters = update.parameters
      residuals.append(transform.keepsResidual ? update.residual : nil)
      reports.append(update.report)
    }
    return Value(parameters: parameters, residuals: residuals, reports: reports)
  }

  /// What was trained, or what an adversary makes of it.
  private func sent(
    _ description: Description, _ agreed: [Double]?, _ scratch: Scratch
  ) -> ParameterBuffer {
    let trained = description.training.value(scratch).parameters
    guard let forgery = description.forgery, let attack = chain.attacks[forgery.attack] else {
      return trained
    }
    var stream = forgery.key.stream(slot: description.slot)
    return attack.forge(
      AttackedUpdate(
        parameters: trained, base: description.base,
        first: forgery.first.map { ($0.training.value(scratch).parameters, $0.base) },
        agreed: agreed), &stream)
  }
}
