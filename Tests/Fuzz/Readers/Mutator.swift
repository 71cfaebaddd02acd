/// libFuzzer's own mutation.
@_silgen_name("LLVMFuzzerMutate")
private func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ most: Int) -> Int

/// libFuzzer's own mutation; three times out of four checksums are right behind it.
@_cdecl("LLVMFuzzerCustomMutator")
public func customMutator(
  _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ most: Int, _ seed: UInt32
) -> Int {
  let size = mutate(bytes, count, most)
  guard seed % 4 != 0 else { return size }
  var changed = Array(UnsafeBufferPointer(start: bytes, count: size))
  Desk.shared.reader.repair(&changed)
  for (place, byte) in changed.enumerated() { bytes[place] = byte }
  return size
}
