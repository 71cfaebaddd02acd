/// A reader behind libFuzzer.
struct FuzzedReader: Sendable {
  /// What its file is called.
  var file = "input"
  /// Whether mutations by lines and words make sense.
  var isText = false
  /// Whether mutations of numbers of eight bytes make sense.
  var hasNumbers = false
  /// Puts the files next to its own into a folder.
  var prepare: @Sendable (_ folder: String) throws -> Void = { _ in }
  /// Reads a file, and holds what it gives against the bytes; throws where the file is refused.
  var read: @Sendable (_ path: String, _ bytes: [UInt8]) throws -> Void
  /// Sets checksums right after a mutation, so that what is behind them is reached.
  var repair: @Sendable (_ bytes: inout [UInt8]) -> Void = { _ in }
}

/// No reader may take more than these bytes of what a small file claims.
let mostBytes = 64 << 20

/// The readers by name.
let fuzzedReaders: [String: FuzzedReader] = [
  "idx": FuzzedReader(prepare: Opinions.prepareImages, read: Opinions.idx),
  "cifar": FuzzedReader(
    file: "train.bin", prepare: Opinions.prepareCIFAR, read: Opinions.cifar),
  "csv": FuzzedReader(isText: true, read: Opinions.csv),
  "npy": FuzzedReader(read: Opinions.npy),
  "npz": FuzzedReader(read: Opinions.npz, repair: Checksums.zip),
  "safetensors": FuzzedReader(read: Opinions.safetensors),
  "leaf": FuzzedReader(file: "input.json", read: Opinions.leaf),
  "flash": FuzzedReader(file: "input.json", read: Opinions.flash),
  "availability": FuzzedReader(read: Opinions.availability),
  "capacity": FuzzedReader(read: Opinions.capacity),
  "tff": FuzzedReader(file: "input.h5", read: Opinions.tff),
  "coreml": FuzzedReader(read: Opinions.coreml),
  "scenario": FuzzedReader(isText: true, read: Opinions.scenario),
  "result": FuzzedReader(
    hasNumbers: true, read: Opinions.result, repair: ObjectHeaders.repair),
  "journal": FuzzedReader(read: Opinions.journal, repair: Checksums.journal),
  "checkpoint": FuzzedReader(read: Opinions.checkpoint, repair: Checksums.checkpoint),
]

/// What a reader's values have to be, worked out from the bytes a second time.
enum Opinions {}
