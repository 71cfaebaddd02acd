import CKernels

/// What can be said to the processor about memory; nothing that is computed depends on it.
package enum HostMemory {
  /// Asks for bytes that will be read soon.
  @inlinable
  @inline(__always)
  package static func prefetch(_ start: UnsafeRawPointer, _ bytes: Int) {
    fs_prefetch(start, bytes)
  }

  /// Asks for the memory of one of the lists in a list, without a look at it: a list is the address
  /// of an object.
  @inline(__always)
  package static func prefetch(list place: Int, of lists: UnsafeRawBufferPointer) {
    let stride = MemoryLayout<UnsafeRawPointer>.stride
    guard place >= 0, (place + 1) * stride <= lists.count else { return }
    prefetch(lists.load(fromByteOffset: place * stride, as: UnsafeRawPointer.self), 4 * 64)
  }

  /// Asks for large pages under memory that will be reached all over, where it is large.
  package static func preferLargePages(_ start: UnsafeMutableRawPointer, _ bytes: Int) {
    if bytes >= 1 << 22 { fs_prefer_large_pages(start, bytes) }
  }

  /// The same for memory that is filled already.
  package static func makePagesLarge(_ start: UnsafeRawPointer, _ bytes: Int) {
    if bytes >= 1 << 22 { fs_make_pages_large(start, bytes) }
  }
}
