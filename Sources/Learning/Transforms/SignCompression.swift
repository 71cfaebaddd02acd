import Numerics
import Schema

/// Sends the sign of each parameter of an update, with one magnitude for each tensor, and keeps
/// what that is wrong by for the next one.
///
/// Source: Karimireddy et al., "Error feedback fixes SignSGD and other gradient compression
/// schemes" (2019), algorithm 1 (EF-signSGD): of v = Δ + e a device sends ‖v‖₁/d · sign(v), and e ←
/// v less that. Signs alone are of Bernstein et al., "signSGD: compressed optimisation for
/// non-convex problems" (2018). Each tensor has its own magnitude; the sign of 0 is +.
public struct SignCompression: UpdateTransform {
  public static let name = "sign"
  /// What it does, in one sentence.
  public static let summary =
    "Sends signs times each tensor's mean magnitude; the error is kept for later"

  public struct Settings: PartSettings {
    /// Whether what the signs are wrong by is added to the next update.
    public var feedback = true
    public init() {}
    public static var fields: [Field<Settings>] {
      [
        Field(
          "feedback", \.feedback, .flag,
          "Add the compression error to the device's next update (error feedback)")
      ]
    }
  }

  private let settings: Settings
  public init(_ settings: Settings) { self.settings = settings }

  /// It does, with feedback.
  public var keepsResidual: Bool { settings.feedback }

  /// A bit for each parameter, whatever was left out before, and a float a tensor.
  public func shape(_ form: inout UpdateForm) {
    form.sendsAll()
    form.bitsPerNumber = 1
    form.scaleBytes = 4 * form.tensors.count
  }

  /// Draws: none. Order: each mean sums in the order of `BlockSum` and is rounded to float.
  /// Complexity: O(parameters).
  public func apply(_ update: inout OutgoingUpdate) {
    guard update.parameters.isFinite else { return }
    let values = update.values(withRest: settings.feedback)
    var sent: [Double] = []
    sent.reserveCapacity(values.count)
    for tensor in update.tensors where !tensor.isEmpty {
      let own = values[sent.count..<sent.count + tensor.count]
      let sum = own.withUnsafeBufferPointer { own in
        BlockSum.over(tensor) { at, end in
          let first = at - tensor.lowerBound
          let read = BlockSum.read(own.baseAddress!, first, end - tensor.lowerBound)
          return read.replacing(with: -read, where: read .< 0)
        }
      }
      let magnitude = Double(ParameterBuffer.nearest(sum / Double(tensor.count)))
      sent += own.map { $0 < 0 ? -magnitude : magnitude }
    }
    update.send(sent, of: values, keepsRest: settings.feedback)
  }
}
