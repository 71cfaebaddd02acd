import Numerics

/// An observer that is saved with its run, and continues where it was.
///
/// `RunRecorder` is one. After `restore` it is handed to the restored run, which tells it `resumed`
/// and not `began`.
public protocol SavedObserver: Observer {
  /// The type of what is saved with a run and given back at its resumption.
  associatedtype Memory: Codable
  /// What it remembers: between two turns it can be taken out, and put back into another.
  var memory: Memory { get set }
}

extension SavedObserver {
  /// The bytes of what it remembers.
  public func archive() throws -> [UInt8] { try Archive.bytes(of: memory) }

  /// Takes what it remembered. Throws: `ArchiveFault` where the bytes are damaged.
  public func restore(_ bytes: [UInt8]) throws(ArchiveFault) {
    memory = try Archive.value(Memory.self, from: bytes)
  }
}
