import Foundation

/// The file of one run: checked before the run starts, written whole at its end, read later.
public struct ResultFile: Sendable {
  /// The path as it was given.
  public var path: String { placed.path }

  /// The file itself, where the path is a link to it.
  package var target: String { placed.target }

  private let placed: PlacedFile

  /// The version of the HDF5 library in use, such as "1.10.8", for the provenance.
  public static var libraryVersion: String { HDF5.version }

  /// Checks that a result can be written at a path, before hours are spent on it.
  ///
  /// An earlier result is replaced; any other file, such as the scenario, is not.
  /// Throws: `ResultFault.missingFolder`, `.notAFile`, or `.disk` if the folder takes no new file.
  public static func prepare(_ path: String) throws(ResultFault) -> ResultFile {
    try prepare(path, calls: .system)
  }

  /// The same by these calls of the operating system; `isTried`: its folder has taken a file of
  /// this process before, and is not tried again.
  package static func prepare(
    _ path: String, calls: FileCalls, isTried: Bool = false
  ) throws(ResultFault) -> ResultFile {
    let file = ResultFile(
      placed: try isTried
        ? PlacedFile(untried: path, calls: calls) : PlacedFile(path, calls: calls))
    guard try mayReplace(path, calls) else {
      throw .notAFile(path: path, found: "a file that is not a result, and is not replaced")
    }
    return file
  }

  /// Whether nothing is at a path, or an empty file, or HDF5.
  private static func mayReplace(_ path: String, _ calls: FileCalls) throws(ResultFault) -> Bool {
    let descriptor = calls.openFile(path, O_RDONLY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return true }
      throw .disk(path, "open", errno)
    }
    defer { _ = calls.close(descriptor) }
    var head = [UInt8](repeating: 0, count: 8)
    let count = head.withUnsafeMutableBytes { calls.read(descriptor, $0) }
    guard count >= 0 else { throw .disk(path, "read", errno) }
    return count == 0 || head == [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]
  }

  private init(placed: PlacedFile) { self.placed = placed }

  /// Writes a document, with its digest as the root attribute `contentDigest`, and returns the
  /// digest.
  ///
  /// Throws: `ResultFault`; then the path is as it was before, and no partial file is left.
  @discardableResult
  public func write(_ document: ResultDocument) throws(ResultFault) -> String {
    try write(document, through: nil)
  }

  /// The same, gathered in a file of this path, where one is named.
  package func write(
    _ document: ResultDocument, through: String?
  ) throws(ResultFault) -> String {
    try document.validate()
    let digest = document.contentDigest
    var whole = document.canonical
    whole.keep(digest: digest)
    try placed.place(try HDF5Image.bytes(of: whole, path: path), through: through)
    return digest
  }

  /// Takes the result away again: what came after it went wrong.
  package func withdraw() throws(ResultFault) { try placed.clear() }

  /// The document in the file at a path, its `contentDigest` among the root attributes.
  ///
  /// Throws: `ResultFault.hdf5` if it cannot be read, `.notAResult` if its layout is another.
  public static func read(_ path: String) throws(ResultFault) -> ResultDocument {
    try reading(path).document
  }

  /// A document that was read, and whether its file is as FedSim wrote it.
  package struct Reading {
    package let document: ResultDocument
    package let isAsWritten: Bool
  }

  /// The document, and whether the file's seal or, where there is none, its digest is right.
  ///
  /// A file whose seal is not right is read in a second process (`LimitedReading`), and its
  /// tables have the shape that their axes say.
  /// Throws: as `read`.
  package static func reading(_ path: String) throws(ResultFault) -> Reading {
    if ResultSeal.holds(path) {
      return Reading(document: try HDF5Reader.document(at: path), isAsWritten: true)
    }
    let document = try LimitedReading.document(at: path, groups: nil)
    try document.checkShapes(path)
    let stored = document.root[attribute: ResultDocument.digestAttribute]
    return Reading(document: document, isAsWritten: stored == .text(document.contentDigest))
  }

  /// The root of the file at a path and only these of its groups: no document whose digest is that
  /// of the file.
  ///
  /// Throws: as `read`.
  package static func read(
    _ path: String, groups: [String]
  ) throws(ResultFault) -> ResultDocument {
    if ResultSeal.holds(path) { return try HDF5Reader.document(at: path, groups: groups) }
    let document = try LimitedReading.document(at: path, groups: groups)
    try document.checkShapes(path)
    return document
  }
}
