import DataSets
import Foundation

extension Opinions {
  /// The number of labels that `labels.idx` among the fixtures has.
  private static let images = 3

  /// A file of three images of 1 × 1 next to the labels.
  static func prepareImages(_ folder: String) throws {
    let header: [UInt8] = [0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1]
    try Data(header + [1, 2, 3]).write(to: URL(fileURLWithPath: "\(folder)/images"))
  }

  static func idx(_ path: String, _ bytes: [UInt8]) throws {
    let folder = (path as NSString).deletingLastPathComponent
    let isPlain = !bytes.starts(with: [0x1f, 0x8b])
    for rank in [1, 3] {
      guard let found = try? IDX(contentsOf: path, rank: rank, limit: mostBytes) else { continue }
      try require(found.dimensions.count == rank, "IDX: \(found.dimensions) for rank \(rank)")
      try require(found.dimensions.reduce(1, *) == found.bytes.count, "IDX: values and dimensions")
      guard isPlain else { continue }
      try require(bytes.prefix(4) == [0, 0, 8, UInt8(rank)], "IDX: the magic number")
      let dimensions = (0..<rank).map { axis in
        bytes[4 + 4 * axis..<8 + 4 * axis].reduce(0) { $0 * 256 + Int($1) }
      }
      try require(
        found.dimensions == dimensions && !dimensions.contains(0),
        "IDX: dimensions \(found.dimensions) of \(dimensions)")
      try require(found.bytes == Array(bytes[(4 + 4 * rank)...]), "IDX: the values")
    }
    let labelled = try LabelledImages(
      imagesAt: "\(folder)/images", labelsAt: path, classes: 3)
    try require(labelled.labels.count == images, "IDX: \(labelled.labels.count) labels of 3 images")
    try require(labelled.labels.allSatisfy { $0 < 3 }, "IDX: a label that is no class")
  }

  /// The test file is the training file; there are five batches of CIFAR-10 under the same name.
  static func prepareCIFAR(_ folder: String) throws {
    for name in (1...5).map({ "data_batch_\($0).bin" }) + ["test_batch.bin", "test.bin"] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/\(name)", withDestinationPath: "train.bin")
    }
  }

  static func cifar(_ path: String, _ bytes: [UInt8]) throws {
    let folder = (path as NSString).deletingLastPathComponent
    var (ten, hundred) = (CIFAR10.Settings(), CIFAR100.Settings())
    (ten.folder, hundred.folder) = (folder, folder)
    let folders = DataFolders([""])
    if let found = try? CIFAR10(ten).load(folders: folders, seed: 1) {
      try require(found.train.count == 5 * found.test.count, "CIFAR-10: five batches")
      try check(found, bytes, labels: 1, label: 0, classes: [10])
    }
    if let found = try? CIFAR100(hundred).load(folders: folders, seed: 1) {
      try check(found, bytes, labels: 2, label: 1, classes: [20, 100])
    }
  }

  private static func check(
    _ found: TrainAndTest, _ bytes: [UInt8], labels: Int, label: Int, classes: [Int]
  ) throws {
    guard !bytes.starts(with: [0x1f, 0x8b]) else { return }
    let size = labels + 3_072
    let name = "CIFAR-\(classes.last!)"
    try require(!bytes.isEmpty && bytes.count % size == 0, "\(name): \(bytes.count) bytes")
    let starts = Array(stride(from: 0, to: bytes.count, by: size))
    for start in starts {
      for place in 0..<labels {
        try require(Int(bytes[start + place]) < classes[place], "\(name): a label that is no class")
      }
    }
    try require(found.test.labels == starts.map { Int32(bytes[$0 + label]) }, "\(name): labels")
    guard case .bytes(let pixels) = found.test.features else { return }
    try require(pixels.count == 3_072 * starts.count, "\(name): pixels")
    for (image, start) in starts.enumerated() {
      for place in 0..<3_072 {
        let stored = bytes[start + labels + place % 3 * 1_024 + place / 3]
        try require(pixels[image * 3_072 + place] == stored, "\(name): a pixel")
      }
    }
  }

  static func npy(_ path: String, _ bytes: [UInt8]) throws {
    let array = try NPYArray(contentsOf: path)
    guard !bytes.starts(with: [0x1f, 0x8b]) else { return }
    try check(array, bytes)
  }

  /// Holds an array against the bytes of an NPY file.
  private static func check(_ array: NPYArray, _ bytes: [UInt8]) throws {
    try require(bytes.starts(with: [0x93] + Array("NUMPY".utf8)), "NPY: the magic number")
    try require([1, 2].contains(bytes[6]) && bytes[7] == 0, "NPY: version \(bytes[6])")
    let start = bytes[6] == 1 ? 10 : 12
    let length = (8..<start).reversed().reduce(0) { $0 * 256 + Int(bytes[$1]) }
    let header = String(decoding: bytes[start..<start + length], as: UTF8.self)
    for key in ["descr", "fortran_order", "shape"] {
      try require(header.components(separatedBy: key).count == 2, "NPY: `\(key)` once")
    }
    let shape = header.components(separatedBy: "(")[1].components(separatedBy: ")")[0]
      .components(separatedBy: ",")
      .compactMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    try require(array.shape == shape, "NPY: shape \(array.shape) of `\(header)`")
    let descriptor = array.values.descriptor
    try require(header.contains(descriptor), "NPY: type \(descriptor) of `\(header)`")
    let data = bytes[(start + length)...]
    let width = Int(descriptor.suffix(1))!
    try require(shape.reduce(1, *) * width == data.count, "NPY: \(data.count) bytes for \(shape)")
    if descriptor == "|b1" {
      try require(data.allSatisfy { $0 < 2 }, "NPY: a truth value other than 0 and 1")
    }
    guard header.contains("False") || shape.count < 2 else { return }
    try require(array.values.storedBytes == Array(data), "NPY: the values")
  }

  static func npz(_ path: String, _ bytes: [UInt8]) throws {
    let archive = try NPZ(contentsOf: path, limit: mostBytes)
    var arrays: [(String, NPYArray)] = []
    for name in archive.names { arrays.append((name, try archive.array(named: name))) }
    guard !bytes.starts(with: [0x1f, 0x8b]) else { return }
    let members = ZipMember.all(in: bytes)
    try require(
      members.map(\.name) == arrays.map { $0.0 + ".npy" }, "NPZ: members \(members.map(\.name))")
    try require(Set(members.map(\.name)).count == members.count, "NPZ: a name twice")
    for (member, (_, array)) in zip(members, arrays) {
      guard member.local != 0xffff_ffff else { continue }  // zip64 says where it is.
      try require(member.localName(in: bytes) == member.name, "NPZ: two names of a member")
      guard member.method == 0, let data = member.stored(in: bytes) else { continue }
      try require(Checksums.crc32(data) == member.checksum, "NPZ: the checksum of \(member.name)")
      try require(member.size == data.count, "NPZ: two sizes of \(member.name)")
      try check(array, data)
    }
  }

  static func safetensors(_ path: String, _ bytes: [UInt8]) throws {
    let file = try Safetensors(contentsOf: path, limit: mostBytes)
    guard !bytes.starts(with: [0x1f, 0x8b]) else { return }
    let length = (0..<8).reversed().reduce(0) { $0 * 256 + Int(bytes[$1]) }
    let header = try? JSONSerialization.jsonObject(with: Data(bytes[8..<8 + length]))
    guard let header = header as? [String: Any] else {
      return try require(false, "safetensors: a header that is no JSON")
    }
    let data = Array(bytes[(8 + length)...])
    try require(
      Set(file.names) == Set(header.keys).subtracting(["__metadata__"]), "safetensors: the names")
    var end = 0
    for name in file.names {
      let entry = header[name] as? [String: Any] ?? [:]
      let offsets = (entry["data_offsets"] as? [Int]) ?? []
      let shape = (entry["shape"] as? [Int]) ?? [-1]
      try require(
        offsets.count == 2 && offsets[0] == end && offsets[1] >= end && offsets[1] <= data.count,
        "safetensors: numbers at \(offsets), expected them from \(end)")
      end = offsets[1]
      guard let array = try? file.array(named: name) else { continue }
      let width = ["F64": 8, "F32": 4, "F16": 2, "BF16": 2][entry["dtype"] as? String ?? ""] ?? 0
      try require(
        shape == array.shape && shape.allSatisfy { $0 >= 0 }
          && shape.reduce(1, *) * width == offsets[1] - offsets[0],
        "safetensors: shape \(shape) at \(offsets)")
      if width >= 4 {
        try require(
          array.values.storedBytes == Array(data[offsets[0]..<offsets[1]]),
          "safetensors: the values of \(name)")
      }
    }
    try require(end == data.count, "safetensors: \(data.count - end) bytes that are no tensor's")
  }
}

extension NPYArray.Values {
  /// The values' bytes as a file has them.
  fileprivate var storedBytes: [UInt8] {
    switch self {
    case .float32(let values): values.withUnsafeBytes(Array.init)
    case .float64(let values): values.withUnsafeBytes(Array.init)
    case .int32(let values): values.withUnsafeBytes(Array.init)
    case .int64(let values): values.withUnsafeBytes(Array.init)
    case .int8(let values): values.withUnsafeBytes(Array.init)
    case .uint8(let values): values
    case .uint16(let values): values.withUnsafeBytes(Array.init)
    case .uint32(let values): values.withUnsafeBytes(Array.init)
    case .bool(let values): values.map { $0 ? 1 : 0 }
    }
  }
}
