import Learning
import Schema

/// A partition that is read from a file: an NPZ archive, or a table with a line per sample.
///
/// NPZ: `samples`, the clients' samples one after another, and `offsets`, where each client begins
/// and the last one ends (clients + 1 whole numbers, the first 0). Table: columns `client` (0, 1,
/// 2, …, none left out, in any order) and `sample`; a client's samples are in the order of the
/// lines. The name's ending decides: `.npz`, else a table. Whether the samples exist and none comes
/// twice is found when the pool is known.
public struct PartitionFile: PartitionSource, Part {
  public struct Settings: PartSettings {
    public var path = ""
    /// How many clients the file has to have; nil takes what it has.
    public var clients: Int?

    public init() {}

    /// A bare value is the path.
    public static var shorthand: String? { "path" }

    public static var fields: [Field<Settings>] {
      [
        Field(
          "path", \.path, .path, required: true,
          "NPZ archive with `samples` and `offsets`, or table with `client` and `sample`."),
        Field(
          "clients", \.clients, optional: .integer(1...10_000_000),
          "Number of clients that the file must have; absent: any."),
      ]
    }
  }

  public static let name = "file"
  /// What it is.
  public static let summary = "Partition from a file, such as another framework's or a natural one."

  private let settings: Settings

  public init(_ settings: Settings) { self.settings = settings }

  /// The shards of the file.
  ///
  /// Throws: `countMismatch` where the file has another number of clients than asked for, and what
  /// reading throws.
  public func partitioner(folders: DataFolders) throws(DataFault) -> any Partitioner {
    let path = try folders.locate(settings.path)
    let shards = try path.hasSuffix(".npz") ? Self.archive(path) : Self.table(path)
    if let clients = settings.clients, clients != shards.count {
      throw DataFault(
        .countMismatch, in: path, found: "\(shards.count) clients", expected: "\(clients) clients")
    }
    return PartitionGiven(shards: shards)
  }

  /// Writes a partition's training shards as an archive that this part reads.
  public static func write(_ partition: Partition, to path: String) throws(DataFault) {
    var offsets: [Int64] = [0]
    var samples: [Int32] = []
    for shard in partition.shards {
      samples += shard
      offsets.append(Int64(samples.count))
    }
    try NPZ.write(
      [("samples", NPYArray(integers: samples)), ("offsets", NPYArray(integers: offsets))], to: path
    )
  }

  private static func archive(_ path: String) throws(DataFault) -> [[Int32]] {
    let archive = try NPZ(contentsOf: path)
    let samples = try row("samples", of: archive)
    let offsets = try row("offsets", of: archive)
    guard offsets.count >= 2, offsets[0] == 0, offsets[offsets.count - 1] == samples.count else {
      throw DataFault(
        .countMismatch, in: "\(path):offsets.npy",
        found: "\(offsets.count) offsets from \(offsets.first ?? 0) to \(offsets.last ?? 0)",
        expected: "clients + 1 offsets from 0 to \(samples.count), the number of samples")
    }
    var shards: [[Int32]] = []
    for client in 0..<offsets.count - 1 {
      guard offsets[client] < offsets[client + 1], offsets[client + 1] <= samples.count else {
        throw DataFault(
          .outOfRange, in: "\(path):offsets.npy",
          found: "offset \(offsets[client + 1]) after \(offsets[client]) at client \(client)",
          expected: "at least one sample per client")
      }
      var shard: [Int32] = []
      for place in offsets[client]..<offsets[client + 1] {
        guard let sample = Int32(exactly: samples[place]), sample >= 0 else {
          throw DataFault(
            .outOfRange, in: "\(path):samples.npy", found: "\(samples[place]) at place \(place)",
            expected: "a sample's number, from 0")
        }
        shard.append(sample)
      }
      shards.append(shard)
    }
    return shards
  }

  private static func row(_ name: String, of archive: NPZ) throws(DataFault) -> [Int] {
    let array = try archive.array(named: name)
    guard array.shape.count == 1, let integers = array.integers else {
      throw DataFault(
        .unsupported, in: "\(archive.file):\(name).npy",
        found: "type \(array.values.descriptor), shape \(array.shape)",
        expected: "one row of whole numbers")
    }
    return integers
  }

  private static func table(_ path: String) throws(DataFault) -> [[Int32]] {
    var table = try DelimitedTable(
      contentsOf: path, columns: [.required("client"), .required("sample")])
    var shards: [[Int32]] = []
    while try table.nextRow() {
      let client = try table.integer(0, in: 0...9_999_999)
      let sample = try table.integer(1, in: 0...Int(Int32.max))
      while shards.count <= client { shards.append([]) }
      shards[client].append(Int32(sample))
    }
    guard !shards.isEmpty else {
      throw DataFault(.truncated, in: path, found: "no rows", expected: "a row per sample")
    }
    if let empty = shards.firstIndex(where: \.isEmpty) {
      throw DataFault(
        .countMismatch, in: path, found: "no row of client \(empty)",
        expected: "at least one row of each client from 0 to \(shards.count - 1)")
    }
    return shards
  }
}
