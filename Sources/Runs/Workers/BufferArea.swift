import Learning
import Processes

/// Buffers in memory that two processes share: each begins at a multiple of 64 bytes.
struct BufferArea {
  let memory: SharedMemory

  init(_ memory: SharedMemory) { self.memory = memory }

  /// Writes buffers one behind the other, over what was there; where each is.
  func write(_ buffers: [ParameterBuffer]) throws(StartFault) -> [Int] {
    var (offsets, end) = ([Int](), 0)
    for buffer in buffers {
      offsets.append(end)
      end += (buffer.byteCount + 63) / 64 * 64
    }
    try memory.grow(to: max(1, end))
    for (buffer, offset) in zip(buffers, offsets) {
      buffer.withUnsafeBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory.bytes[offset...])
          .copyMemory(from: UnsafeRawBufferPointer($0))
      }
    }
    return offsets
  }

  /// A buffer that is there; nil: it is not within the memory.
  func read(_ count: Int, at offset: Int) -> ParameterBuffer? {
    let size = memory.bytes.count
    guard count >= 0, offset >= 0, offset % 64 == 0, count <= (size - offset) / 4, offset <= size
    else { return nil }
    let bytes = UnsafeRawBufferPointer(rebasing: memory.bytes[offset..<offset + 4 * count])
    return ParameterBuffer(copying: bytes.bindMemory(to: Float.self))
  }
}
