/// libFuzzer's own mutation.
@_silgen_name("LLVMFuzzerMutate")
private func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ most: Int) -> Int

/// libFuzzer's own mutation, or one by lines where the file is a text, or of a number; three times
/// out of four checksums are right behind libFuzzer's.
@_cdecl("LLVMFuzzerCustomMutator")
public func customMutator(
  _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ most: Int, _ seed: UInt32
) -> Int {
  let reader = Desk.shared.reader
  if reader.isText, seed % 2 == 0 {
    let changed = Lines.mutate(Array(UnsafeBufferPointer(start: bytes, count: count)), by: seed)
    let size = min(changed.count, most)
    for place in 0..<size { bytes[place] = changed[place] }
    return size
  }
  if reader.hasNumbers, seed % 2 == 0 {
    var changed = Array(UnsafeBufferPointer(start: bytes, count: count))
    Numbers.mutate(&changed, by: seed)
    reader.repair(&changed)
    for (place, byte) in changed.enumerated() { bytes[place] = byte }
    return count
  }
  let size = mutate(bytes, count, most)
  guard seed % 4 != 0 else { return size }
  var changed = Array(UnsafeBufferPointer(start: bytes, count: size))
  reader.repair(&changed)
  for (place, byte) in changed.enumerated() { bytes[place] = byte }
  return size
}
