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
    if bytes >= 1 << 23 { fs_prefer_large_pages(start, bytes) }
  }
}
