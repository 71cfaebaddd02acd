import CoreMLFormat
import Foundation

/// The numbers of one tensor of a Core ML file.
struct CoreMLWeightReader {
  private let data: Data
  /// Bytes of a number.
  let width: Int
  /// Why the tensor is not read; nil: it is.
  let refusal: String?
  /// What to do then.
  let advice: String?

  init(_ weights: CoreMLSpecWeights) {
    (data, width) =
      weights.float16Value.isEmpty ? (weights.floatValue, 4) : (weights.float16Value, 2)
    let isQuantized =
      weights.hasQuantization || !weights.rawValue.isEmpty || !weights.int8RawValue.isEmpty
    if isQuantized {
      let bits = weights.hasQuantization ? weights.quantization.numberOfBits : 8
      refusal = "quantised to \(bits) bits"
      advice = "training needs floats: take the model from before its quantisation"
    } else if !weights.floatValue.isEmpty, !weights.float16Value.isEmpty {
      (refusal, advice) = ("of 32 and of 16 bits at once", nil)
    } else {
      (refusal, advice) = (nil, nil)
    }
  }

  var bytes: Int { data.count }

  /// Puts the numbers where an order wants them; whether all are finite.
  func read(into values: inout [Float], _ order: WeightOrder) -> Bool {
    var isFinite = true
    data.withUnsafeBytes { raw in
      for index in 0..<raw.count / width {
        let value =
          width == 4
          ? Float(
            bitPattern: UInt32(
              littleEndian: raw.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)))
          : HalfNumber.float(
            UInt16(littleEndian: raw.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)))
        if !value.isFinite { isFinite = false }
        values[order.place(of: index)] = value
      }
    }
    return isFinite
  }
}
