import CKernels

/// What can be said to the processor about memory; nothing that is computed depends on it.
package enum HostMemory {
  /// Asks for bytes that will be read soon.
  @inline(__always)
  package static func prefetch(_ start: UnsafeRawPointer, _ bytes: Int) { fs_prefetch(start, bytes) }
}
