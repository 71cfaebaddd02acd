import DataSets
import Foundation

/// A bundle that was read and whose members are as its manifest says.
///
/// Nothing is written under a name of the archive, so no name can lead out of a folder; names that
/// no bundle has are refused nevertheless.
struct BundleArchive {
  /// The most bytes of the members that are texts: 256 MiB.
  private static let mostTextBytes = 1 << 28

  /// The bundle's path.
  let path: String
  /// What it says of itself.
  let manifest: BundleManifest
  /// The scenario's text.
  let scenario: [UInt8]
  /// The bytes of the result file.
  let result: [UInt8]

  /// Reads a bundle; `limit` bounds the bytes of the file, and those of its members in all.
  ///
  /// Throws: `RunFailure.input` for a file that is no bundle, is too large, or is of another
  /// layout; and for a member that is missing, unknown, or not as the manifest says.
  init(_ path: String, limit: Int = ZipArchive.mostBytes) throws(RunFailure) {
    self.path = path
    do throws(DataFault) {
      let archive = try ZipArchive(
        bytes: ByteStream(path: path, limit: limit).readAll(), file: path)
      try Self.check(archive, path, limit)
      manifest = try Self.manifest(Self.contents(ResultBundle.Name.manifest, archive, path), path)
      var contents: [String: [UInt8]] = [:]
      let names = ResultBundle.Name.all.dropFirst()
      guard manifest.members.map(\.name) == Array(names) else {
        throw DataFault(
          .corrupt, in: "\(path):\(ResultBundle.Name.manifest)",
          found: "members \(manifest.members.map(\.name).joined(separator: ", "))",
          expected: names.joined(separator: ", "))
      }
      for member in manifest.members {
        let bytes = try Self.contents(member.name, archive, path)
        let digest = ResultBundle.sha256(bytes)
        guard bytes.count == member.bytes, digest == member.sha256 else {
          throw DataFault(
            .corrupt, in: "\(path):\(member.name)",
            found: "\(bytes.count) bytes with SHA-256 \(digest)",
            expected: "\(member.bytes) bytes with \(member.sha256)",
            advice: "this member was altered: ask for the bundle again")
        }
        contents[member.name] = bytes
      }
      scenario = contents[ResultBundle.Name.scenario] ?? []
      result = contents[ResultBundle.Name.result] ?? []
    } catch {
      throw Self.refusal(error)
    }
  }

  /// A fault of the bundle, as a fault of the input.
  private static func refusal(_ fault: DataFault) -> RunFailure {
    var text = fault.description
    if text.hasPrefix(fault.file) { text = String(text.dropFirst(fault.file.count)) }
    while text.first == ":" || text.first == " " { text.removeFirst() }
    return StoredRun.refusal(fault.file, text)
  }

  /// Holds the names and sizes of an archive to what a bundle has.
  private static func check(
    _ archive: ZipArchive, _ path: String, _ limit: Int
  ) throws(DataFault) {
    var total = 0
    for member in archive.members {
      guard ResultBundle.Name.all.contains(member.name) else {
        let leaves =
          member.name.hasPrefix("/") || member.name.split(separator: "/").contains("..")
          || member.name.contains("\\")
        throw DataFault(
          .unknownName, in: path,
          found: "a member `\(member.name)`" + (leaves ? ", which leads out of the folder" : ""),
          expected: "only " + ResultBundle.Name.all.joined(separator: ", "))
      }
      let most = member.name == ResultBundle.Name.result ? limit : min(limit, mostTextBytes)
      guard member.size <= most, member.size <= limit - total else {
        throw DataFault(
          .tooLarge, in: "\(path):\(member.name)", found: "\(member.size) bytes",
          expected: "at most \(min(most, limit - total)) bytes")
      }
      total += member.size
    }
  }

  private static func contents(
    _ name: String, _ archive: ZipArchive, _ path: String
  ) throws(DataFault) -> [UInt8] {
    guard let member = archive.members.first(where: { $0.name == name }) else {
      throw DataFault(
        .missingName, in: path, found: "no member `\(name)`",
        expected: "a bundle of `fedsim bundle`")
    }
    return try archive.contents(of: member, limit: member.size)
  }

  private static func manifest(
    _ bytes: [UInt8], _ path: String
  ) throws(DataFault) -> BundleManifest {
    struct Layout: Decodable { var format: String }
    let place = "\(path):\(ResultBundle.Name.manifest)"
    let data = Data(bytes)
    guard let layout = try? JSONDecoder().decode(Layout.self, from: data) else {
      throw DataFault(
        .malformed, in: place, found: "no JSON with a `format`",
        expected: BundleManifest.currentFormat)
    }
    guard layout.format == BundleManifest.currentFormat else {
      throw DataFault(
        .unsupported, in: place, found: "the format `\(layout.format)`",
        expected: "`\(BundleManifest.currentFormat)`")
    }
    do {
      return try JSONDecoder().decode(BundleManifest.self, from: data)
    } catch {
      throw DataFault(
        .malformed, in: place, found: "other keys or values than a bundle has",
        expected: BundleManifest.currentFormat)
    }
  }
}
