import FedSim
import Foundation
import Results

/// First inputs of readers whose files are no fixtures, written by the code that writes the files.
enum Seeds {
  static func write(into folder: String) throws {
    func place(_ reader: String, _ name: String, _ bytes: [UInt8]) throws {
      let path = "\(folder)/\(reader)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }
    let parts: [[UInt8]] = [[], [1, 2, 3], Array("a part".utf8)]
    for count in 0...parts.count {
      let checkpoint = Checkpoint(records: count, parts: Array(parts.prefix(count)))
      try place("checkpoint", "parts-\(count)", checkpoint.bytes)
    }
    let records: [JournalRecord] = [
      .run(scenarioDigest: "0123", engineVersion: "1"), .reached(SimTime(microseconds: 5)),
      .spent(7),
    ]
    for count in 0...records.count {
      let path = "\(folder)/a-journal"
      let journal = try Journal(path)
      for record in records.prefix(count) { try journal.append(record.bytes) }
      try place("journal", "records-\(count)", [UInt8](Data(contentsOf: URL(filePath: path))))
      try FileManager.default.removeItem(atPath: path)
    }
    try place("result", "small.h5", [UInt8](try ResultFile.image(of: document).bytes))
  }

  /// A result with axes, words, a group and a text. Values of devices are not compressed, so that
  /// one byte of them can change; those that grow with the versions are.
  private static var document: ResultDocument {
    let codes: [ResultDocument.Attribute] = [
      .init("flag_values", .array(.int8([0, 1]))), .init("flag_meanings", .text("ok lost")),
    ]
    let devices = 16
    var document = ResultDocument()
    document.root = ResultDocument.Group(
      "", attributes: [.init("title", .text("a seed")), .init("seed", .unsigned(1))],
      axes: [.init("version", length: 3, isUnlimited: true)],
      variables: [
        .init("accuracy", ["version"], .double([0.5, 0.75, 1]), units: "1", longName: "accuracy"),
        .init(
          "outcome", ["version"], .int8([0, 1, 0]), units: "1", longName: "outcome",
          attributes: codes),
      ],
      texts: [.init("scenario", "stop: {}")],
      groups: [
        .init(
          "devices", axes: [.init("device", length: devices)],
          variables: [
            .init(
              "busy", ["device"], .int64((0..<devices).map { Int64($0) }), units: "s",
              longName: "busy time"),
            .init(
              "fate", ["device"], .int8((0..<devices).map { Int8($0 % 2) }), units: "1",
              longName: "fate", attributes: codes),
          ])
      ])
    return document
  }
}
