import Foundation
import Results

/// Documents that the tests write.
enum Samples {
  /// The shape of a real result: two axes with coordinates, one without, flags, a long text.
  static func result(versions n: Int = 5, devices: Int = 3) -> ResultDocument {
    let identity = ResultDocument.Identity(
      title: "sample", engineVersion: "0.0.1", schemaVersion: 1, seed: .max,
      eventDigest: "00ff", scenarioDigest: "ff00")
    let times = (0..<n).map { Double($0) * 1800.5 }
    return ResultDocument(
      attributes: identity.attributes,
      texts: [.init("scenario", "name: sample\nnote: \"Grüße, 世界\"\n")],
      groups: [versionsGroup(times), rounds(), deviceGroup(devices), ledger()])
  }

  private static func versionsGroup(_ times: [Double]) -> ResultDocument.Group {
    let n = times.count
    let accuracies = (0..<n).map { i -> Double in i == 0 ? .nan : 1 - 1 / Double(i + 1) }
    let shares = (0..<2 * n).map { i -> Float in Float(i) / Float(2 * n) }
    let place = ResultDocument.Attribute("coordinates", .text("simulatedTime"))
    return .init(
      "versions",
      axes: [.init("version", length: n, isUnlimited: true), .init("label", length: 2)],
      variables: [
        .init(
          "version", ["version"], .int64((0..<n).map { Int64($0) }), units: "1",
          longName: "number of the published model"),
        .init(
          "simulatedTime", ["version"], .double(times), units: "s",
          longName: "simulated time since the start"),
        .init(
          "centralAccuracy", ["version"],
          .double(accuracies), units: "1",
          longName: "accuracy on the test set", attributes: [place]),
        .init(
          "labelShare", ["version", "label"],
          .float(shares), units: "1",
          longName: "share of each label in the aggregated samples", attributes: [place]),
      ])
  }

  private static func rounds() -> ResultDocument.Group {
    .init(
      "rounds", axes: [.init("round", length: 4)],
      variables: [
        .init(
          "outcome", ["round"], codes: [0, 1, 2, 0], meanings: ["published", "skipped", "failed"],
          longName: "how the round ended")
      ])
  }

  private static func deviceGroup(_ count: Int) -> ResultDocument.Group {
    .init(
      "devices", axes: [.init("device", length: count)],
      variables: [
        .init(
          "utcOffset", ["device"], .int32((0..<count).map { Int32($0) * -3600 }), units: "s",
          longName: "offset of local time from UTC"),
        .init(
          "labels", ["device"], .uint8((0..<count).map { UInt8(255 - $0 % 200) }), units: "1",
          longName: "labels held"),
        .init(
          "deviceSeconds", [], .double([12.5]), units: "s", longName: "device time in all"),
      ])
  }

  private static func ledger() -> ResultDocument.Group {
    .init(
      "ledger", axes: [.init("entry", length: 0)],
      groups: [
        .init(
          "updates",
          variables: [
            .init(
              "arrival", ["entry"], .double([]), units: "s", longName: "arrival at the server")
          ])
      ])
  }

  /// A new empty folder, removed with what is in it after `body`.
  static func inFolder<R>(_ body: (String) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.path + "/results-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
  }

  /// The names in a folder, sorted.
  static func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  /// The bytes of a file.
  static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
}
