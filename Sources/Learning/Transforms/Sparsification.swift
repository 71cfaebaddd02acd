import Numerics
import Schema

/// What can be set of both sparsifications, and what they share: some parameters are sent, and what
/// is left out stays on the device for the next update.
public struct Sparsification: PartSettings {
  /// The share of parameters that is sent.
  public var share = 0.01
  /// Whether what is left out is added to the next update.
  public var feedback = true
  public init() {}
  public static var shorthand: String? { "share" }
  public static var fields: [Field<Sparsification>] {
    [
      Field("share", \.share, .fraction, "Share of parameters to send, k/d; at least 1 parameter"),
      Field(
        "feedback", \.feedback, .flag,
        "Add the omitted parameters to the device's next update (error feedback); else `random-k`"
          + " divides the sent parameters by the share"),
    ]
  }

  /// How many of `count` parameters are sent.
  func kept(of count: Int) -> Int {
    count == 0 ? 0 : min(count, max(1, Int((share * Double(count) - 1e-9).rounded(.up))))
  }

  /// This many numbers are sent. What was left of others before has no few levels: with it they are
  /// floats again.
  func shape(_ form: inout UpdateForm) {
    form.numbers = min(form.numbers, kept(of: form.count))
    if feedback { (form.bitsPerNumber, form.scaleBytes) = (nil, 0) }
  }

  /// Sends the chosen ones of these values, times a factor, and keeps the others.
  func send(
    _ values: [Float], where isChosen: [Bool], times factor: Double, _ update: inout OutgoingUpdate
  ) {
    let sent = values.indices.map { isChosen[$0] ? Double(values[$0]) * factor : 0 }
    update.send(sent, of: values, keepsRest: feedback)
  }
}

/// Sends the largest parameters of an update, and keeps what is left for the next one.
///
/// Source: Stich, Cordonnier, Jaggi, "Sparsified SGD with memory" (2018), algorithm 1: of v = Δ + m
/// the k entries of largest magnitude are sent, and m ← v less these.
public struct TopK: UpdateTransform {
  public static let name = "top-k"
  /// What it does, in one sentence.
  public static let summary =
    "Sends the largest parameters of an update; the rest is kept for later"

  public typealias Settings = Sparsification
  private let rule: Sparsification
  public init(_ settings: Sparsification) { rule = settings }

  /// It does, with feedback.
  public var keepsResidual: Bool { rule.feedback }

  /// A number and its place in 32 bits, for each that is sent.
  public func shape(_ form: inout UpdateForm) {
    rule.shape(&form)
    form.bitsPerPlace = 32
  }

  /// Draws: none. Of equal magnitudes the first ones are sent. Complexity: O(parameters).
  public func apply(_ update: inout OutgoingUpdate) {
    guard update.parameters.isFinite else { return }
    let values = update.values(withRest: rule.feedback)
    let chosen = Self.largest(rule.kept(of: values.count), of: values)
    rule.send(values, where: chosen, times: 1, &update)
  }

  /// Which values are among the `count` of largest magnitude.
  ///
  /// Bits of magnitudes are in the order of these: a histogram of their upper halves, then of the
  /// lower halves where the last one falls, finds the least that is chosen.
  static func largest(_ count: Int, of values: [Float]) -> [Bool] {
    guard count > 0 else { return values.map { _ in false } }
    let bits = values.map { $0.magnitude.bitPattern }
    func limit(_ left: Int, among halves: (UInt32) -> Int?) -> (half: Int, left: Int) {
      var counts = [Int](repeating: 0, count: 1 << 16)
      for value in bits { if let half = halves(value) { counts[half] += 1 } }
      var (half, left) = ((1 << 16) - 1, left)
      while left > counts[half] {
        left -= counts[half]
        half -= 1
      }
      return (half, left)
    }
    let high = limit(count) { Int($0 >> 16) }
    let low = limit(high.left) { Int($0 >> 16) == high.half ? Int($0 & 0xffff) : nil }
    let least = UInt32(high.half) << 16 | UInt32(low.half)
    var equals = low.left
    return bits.map { value in
      if value != least { return value > least }
      equals -= 1
      return equals >= 0
    }
  }
}

/// Sends random parameters of an update, and keeps what is left for the next one.
///
/// Source: Stich, Cordonnier, Jaggi (2018), definition 2.1; without feedback Konečný et al.,
/// "Federated learning: strategies for improving communication efficiency" (2016), §2: what is sent
/// is divided by the share, so that its mean is right.
public struct RandomK: UpdateTransform {
  public static let name = "random-k"
  /// What it does, in one sentence.
  public static let summary = "Sends random parameters of an update; the rest is kept for later"

  public typealias Settings = Sparsification
  private let rule: Sparsification
  public init(_ settings: Sparsification) { rule = settings }

  /// It does, with feedback.
  public var keepsResidual: Bool { rule.feedback }

  /// The numbers, and a seed of 8 bytes that says which they are.
  public func shape(_ form: inout UpdateForm) {
    rule.shape(&form)
    form.seedBytes = 8
  }

  /// Draws: a `sample` of the parameters that travel.
  public func apply(_ update: inout OutgoingUpdate) {
    guard update.parameters.isFinite else { return }
    let values = update.values(withRest: rule.feedback)
    let count = rule.kept(of: values.count)
    var chosen = values.map { _ in false }
    for place in update.stream.sample(count, below: values.count) { chosen[Int(place)] = true }
    let factor = rule.feedback ? 1 : Double(values.count) / Double(max(1, count))
    rule.send(values, where: chosen, times: factor, &update)
  }
}
