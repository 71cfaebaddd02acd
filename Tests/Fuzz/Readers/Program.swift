import DataSets
import Foundation
import Processes
import Results

// libFuzzer's runtime has `main`, which calls these two. FUZZ_READER names the reader.
//
//   FuzzReaders [libFuzzer's options] CORPUS
//   FuzzReaders seeds FOLDER     writes the first inputs of readers whose files are not fixtures

/// The word with which this program is started to read a file within limits.
private let limitedCommand = "read-limited"

/// Called once before the first input: what this program does besides fuzzing, it does here.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<Int32>?,
  _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>?
) -> Int32 {
  let words = CommandLine.arguments
  if words.count > 4, words[1] == limitedCommand, let seconds = Int(words[2]),
    let bytes = Int(words[3])
  {
    // Where a change makes libhdf5 go round, that is soon known.
    LimitedProcess.limit(seconds: min(1, seconds), bytes: bytes)
    if words[4] == LimitedReading.task {
      LimitedReading.serve(Array(words[5...]))
    } else {
      DataTasks.serve(Array(words[4...]))
    }
    exit(0)
  }
  if words.count == 3, words[1] == "seeds" {
    do { try Seeds.write(into: words[2]) } catch { fatalError("\(words[2]): \(error)") }
    exit(0)
  }
  LimitedProcess.offer([limitedCommand])
  return 0
}

/// Called with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  Desk.shared.take(bytes, count)
}
