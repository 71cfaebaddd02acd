import Foundation

/// Writes a whole file next to its final name and renames it: nobody ever sees half of it.
///
/// Throws: `inputOutput`; then the final name is untouched and nothing is left behind.
package func writeWhole(_ bytes: [UInt8], to path: String) throws(DataFault) {
  let draft = path + ".partial"
  func fail() -> DataFault {
    let reason = String(cString: strerror(errno))
    unlink(draft)
    return DataFault(
      .inputOutput, in: path, found: reason, expected: "a place that can be written to")
  }
  let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
  guard descriptor >= 0 else { throw fail() }
  var written = 0
  while written < bytes.count {
    let step = bytes.withUnsafeBytes {
      Foundation.write(descriptor, $0.baseAddress.map { $0 + written }, bytes.count - written)
    }
    if step < 0 && errno == EINTR { continue }
    guard step > 0 else {
      let fault = fail()
      close(descriptor)
      throw fault
    }
    written += step
  }
  guard close(descriptor) == 0, rename(draft, path) == 0 else { throw fail() }
}
