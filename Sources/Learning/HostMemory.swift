import CKernels

/// What can be said to the processor about memory; nothing that is computed depends on it.
package enum HostMemory {
  /// Asks for bytes that will be read soon.
  @inline(__always)
  package static func prefetch(_ start: UnsafeRawPointer, _ bytes: Int) {
    fs_prefetch(start, bytes)
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
