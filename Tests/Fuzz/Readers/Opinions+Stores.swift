import DataSets
import Foundation
import Learning
import Results

extension Opinions {
  static func availability(_ path: String, _ bytes: [UInt8]) throws {
    var ids: Set<String> = []
    var numbers = 0
    try FedScaleFiles.readAvailability(contentsOf: path) { found in
      do {
        try require(ids.insert(found.id).inserted, "pickle: the device \(found.id) twice")
        try require(1...4_000_000_000 ~= found.finishTime, "pickle: finish \(found.finishTime)")
        let times = found.intervals.flatMap { [$0.from, $0.to] }
        numbers += times.count
        try require(times == times.sorted(), "pickle: times \(times) out of order")
        try require(
          times.allSatisfy { 0...found.finishTime ~= $0 }, "pickle: a time beyond the finish")
      } catch { abort() }
    }
    try checkPickle(bytes, numbers: numbers)
  }

  static func capacity(_ path: String, _ bytes: [UInt8]) throws {
    var ids: Set<String> = []
    try FedScaleFiles.readCapacity(contentsOf: path) { found in
      do {
        try require(ids.insert(found.id).inserted, "pickle: the device \(found.id) twice")
        for number in [found.computation, found.communication] {
          try require(number > 0 && number <= 1e12, "pickle: capacity \(number)")
        }
      } catch { abort() }
    }
    try checkPickle(bytes, numbers: ids.count)
  }

  /// What holds for every pickle of plain values.
  private static func checkPickle(_ bytes: [UInt8], numbers: Int) throws {
    guard !bytes.starts(with: [0x1f, 0x8b]) else { return }
    try require(bytes.last == UInt8(ascii: "."), "pickle: bytes behind STOP")
    try require(bytes.first != 0x80 || bytes[1] <= 5, "pickle: protocol \(bytes[1])")
    try require(numbers <= bytes.count, "pickle: \(numbers) numbers of \(bytes.count) bytes")
  }

  static func tff(_ path: String, _ bytes: [UInt8]) throws {
    var settings = TFFFiles.Settings()
    settings.train = path
    settings.test = path
    settings.classes = 3
    let found = try TFFFiles(settings).load(folders: DataFolders([""]), seed: 1)
    let users = found.users?.shards ?? []
    try require(users.flatMap { $0 }.count == found.train.count, "HDF5: whose samples")
    try require(found.train.labels.allSatisfy { 0..<3 ~= $0 }, "HDF5: a label that is no class")
    try require(
      found.train.labels == found.test.labels && !found.train.labels.isEmpty,
      "HDF5: two readings of a file")
    if case .floats(let values) = found.train.features {
      try require(values.allSatisfy(\.isFinite), "HDF5: a number that is not finite")
    }
    try require(
      bytes.starts(with: [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]), "HDF5: the magic number"
    )
  }

  static func coreml(_ path: String, _ bytes: [UInt8]) throws {
    let file = try CoreMLNetwork(contentsOf: path)
    try require(1...10 ~= version(bytes), "Core ML: version \(version(bytes)) of the format")
    for shape in [[6], [12, 2], [8, 8, 1], [7], [12]] {
      for loss in [Network.Loss.crossEntropy, .meanSquaredError] {
        guard let network = try? file.network(sampleShape: shape, classCount: 3, loss: loss) else {
          continue
        }
        let parameters = file.parameters(of: network)
        let values = parameters.values
        let tensors = network.layout.tensors.map { Array(values[$0.range]) }
        try require(
          tensors.allSatisfy { $0.allSatisfy(\.isFinite) }, "Core ML: a weight that is not finite")
        try require(network.classCount >= 3, "Core ML: \(network.classCount) outputs")
        // Writing the same weights changes no byte.
        try require(try file.bytes(with: tensors) == bytes, "Core ML: the bytes written back")
      }
    }
  }

  /// Protobuf's field 1 of a model: the last one counts.
  private static func version(_ bytes: [UInt8]) -> UInt64 {
    var (place, version) = (0, UInt64(0))
    func varint() -> UInt64 {
      var number: UInt64 = 0
      for shift in stride(from: UInt64(0), to: 64, by: 7) where place < bytes.count {
        number |= UInt64(bytes[place] & 127) << shift
        place += 1
        if bytes[place - 1] < 128 { break }
      }
      return number
    }
    while place < bytes.count {
      let tag = varint()
      switch tag & 7 {
      case 0:
        let number = varint()
        if tag >> 3 == 1 { version = number }
      case 1: place += 8
      case 2: place += Int(clamping: varint())
      default: place += 4
      }
    }
    return version
  }

  static func result(_ path: String, _ bytes: [UInt8]) throws {
    let reading = try ResultFile.reading(path)
    let document = reading.document
    let stored = document.root[attribute: "contentDigest"]
    try require(
      reading.isAsWritten == (stored == .text(document.contentDigest)),
      "result: as written \(reading.isAsWritten), with digest \(String(describing: stored))")
    try check(document.root, axes: [])
  }

  private static func check(
    _ group: ResultDocument.Group, axes: [ResultDocument.Axis], depth: Int = 0
  ) throws {
    try require(depth < 16, "result: \(depth) groups deep")
    let axes = group.axes + axes
    for variable in group.variables {
      let lengths = variable.axes.compactMap { name in axes.first { $0.name == name }?.length }
      try require(lengths.count == variable.axes.count, "result: an axis of \(variable.name)")
      try require(
        lengths.reduce(1, *) == variable.values.count, "result: the values of \(variable.name)")
      let words = variable.flagMeanings
      guard !words.isEmpty, case .int8(let codes) = variable.values else { continue }
      try require(
        codes.allSatisfy { words.indices ~= Int($0) }, "result: a code of \(variable.name)")
    }
    let names = group.variables.map(\.name) + group.groups.map(\.name) + group.texts.map(\.name)
    try require(Set(names).count == names.count, "result: a name twice")
    for child in group.groups { try check(child, axes: axes, depth: depth + 1) }
  }

  static func journal(_ path: String, _ bytes: [UInt8]) throws {
    let found = Journal.read(bytes)
    try require(found.end + found.rest == bytes.count, "journal: the end")
    var place = 8
    for payload in found.records {
      try require(
        Checksums.number(bytes, place, 4) == payload.count, "journal: the length of a record")
      try require(
        Array(bytes[place + 12..<place + 12 + payload.count]) == payload, "journal: a record")
      let digest = Checksums.journalDigest(payload[...], at: place)
      try require(
        Array(bytes[place + 4..<place + 12])
          == (0..<8).map { UInt8(truncatingIfNeeded: digest >> UInt64(8 * $0)) },
        "journal: a digest that does not hold")
      place += 12 + payload.count
      // What was decoded and encoded is decoded to the same.
      guard let record = JournalRecord(payload) else { continue }
      try require(
        JournalRecord(record.bytes)?.bytes == record.bytes, "journal: a record encoded twice")
    }
    try require(
      found.end == (bytes.starts(with: Array("FEDSIMJ1".utf8)) ? place : 0),
      "journal: the end of the last record")
  }

  static func checkpoint(_ path: String, _ bytes: [UInt8]) throws {
    guard let found = Checkpoint(bytes) else { return }
    try require(found.bytes == bytes, "checkpoint: other bytes when it is written again")
  }
}
