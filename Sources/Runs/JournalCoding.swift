import Foundation
import Results

extension JournalRecord {
  /// The bytes of a record.
  var bytes: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return Array(try! encoder.encode(self))
  }

  /// The record that bytes are; nil: they are none.
  init?(_ bytes: [UInt8]) {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    guard let record = try? decoder.decode(Self.self, from: Data(bytes)) else { return nil }
    self = record
  }
}
