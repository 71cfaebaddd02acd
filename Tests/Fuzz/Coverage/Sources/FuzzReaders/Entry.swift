import Foundation

/// The reader that FUZZ_READER names, and a file for it in memory.
private struct Desk: @unchecked Sendable {
  let read: FileReader
  let path: String

  init() {
    let name = ProcessInfo.processInfo.environment["FUZZ_READER"] ?? ""
    guard let reader = readers[name] else {
      fatalError("FUZZ_READER: found `\(name)`, expected one of \(readers.keys.sorted())")
    }
    read = reader
    let base = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    let folder = "\(base)/fedsim-fuzz-\(getpid())"
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    path = "\(folder)/input" + (name == "leaf" || name == "flash" ? ".json" : "")
  }
}

private let desk = Desk()

/// libFuzzer's entry point: a reader takes the bytes as a file.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  guard let file = fopen(desk.path, "wb") else { fatalError("\(desk.path) cannot be written") }
  if let bytes { fwrite(bytes, 1, count, file) }
  fclose(file)
  try? desk.read(desk.path)
  return 0
}

/// Removes the file; libFuzzer ends by `_exit` or `exit`.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<Int32>?,
  _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>?
) -> Int32 {
  atexit {
    let folder = (desk.path as NSString).deletingLastPathComponent
    try? FileManager.default.removeItem(atPath: folder)
  }
  return 0
}
