import Foundation

/// A file that is written piece by piece and appears under its path as a whole, or not at all.
///
/// The pieces go to a partial file next to it, as those of `PlacedFile`.
package final class StreamedFile {
  private let file: PlacedFile
  private let partial: String
  private let descriptor: Int32
  private let calls: FileCalls
  private var waiting: [UInt8] = []
  private var isOpen = true
  /// Bytes that were added.
  package private(set) var count = 0

  /// Pieces are gathered until there are this many bytes.
  private static let pieceSize = 1 << 20

  /// Begins the partial file of a place.
  ///
  /// Throws: `ResultFault.disk`.
  package init(_ file: PlacedFile) throws(ResultFault) {
    self.file = file
    calls = file.calls
    (partial, descriptor) = try file.makePartial()
  }

  deinit { abandon() }

  /// Adds bytes.
  ///
  /// Throws: `ResultFault.disk`.
  package func add(_ bytes: some Sequence<UInt8>) throws(ResultFault) {
    let before = waiting.count
    waiting.append(contentsOf: bytes)
    count += waiting.count - before
    if waiting.count >= Self.pieceSize { try flush() }
  }

  private func flush() throws(ResultFault) {
    try calls.writeAll(waiting, to: descriptor, path: file.path)
    waiting.removeAll(keepingCapacity: true)
  }

  /// Gives the file its name.
  ///
  /// Throws: `ResultFault.disk`; then the partial file is gone.
  package func finish() throws(ResultFault) {
    do throws(ResultFault) {
      try flush()
      guard calls.sync(descriptor) == 0 else { throw .disk(file.path, "fsync", errno) }
      isOpen = false
      guard calls.close(descriptor) == 0 else { throw .disk(file.path, "close", errno) }
      guard calls.rename(partial, file.target) == 0 else {
        throw .disk(file.path, "rename", errno)
      }
    } catch {
      abandon()
      _ = calls.remove(partial)
      throw error
    }
    try calls.syncFolder(file.folder, for: file.path)
  }

  /// Removes the partial file, unless the file has its name.
  package func abandon() {
    guard isOpen else { return }
    isOpen = false
    _ = calls.close(descriptor)
    _ = calls.remove(partial)
  }
}
