import Learning
import Testing

@Suite("Memory of parameter buffers")
struct BufferMemoryTests {
  @Test("a buffer in memory used before begins as zeros, and buffers never share memory")
  func recycled() {
    for count in [0, 1, 16, 1_000, 5_000] {
      var live: [ParameterBuffer] = []
      for turn in 0..<20 {
        for _ in 0..<5 { live.append(ParameterBuffer(Array(repeating: Float(turn), count: count))) }
        let zeros = ParameterBuffer(count: count) { _ in }
        #expect(zeros.values == Array(repeating: 0, count: count))
        live.removeFirst(turn % 4)
        if turn == 10 { live.removeAll() }
        live.append(zeros)
      }
      let addresses = live.map { buffer in
        buffer.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
      }
      #expect(addresses.allSatisfy { $0 % 64 == 0 })
      for (a, b) in zip(addresses.sorted(), addresses.sorted().dropFirst()) {
        #expect(b - a >= UInt(max(1, count) * 4))
      }
    }
  }

  @Test("one number that is not finite is found wherever it is; all others are finite")
  func finiteness() {
    let finite: [Float] = [
      0, -0, 1, -1, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
      -.leastNonzeroMagnitude,
    ]
    for count in [1, 2, 15, 16, 17, 63, 64, 65] {
      let values = (0..<count).map { finite[$0 % finite.count] }
      #expect(ParameterBuffer(values).isFinite)
      for place in 0..<count {
        for bad in [Float.infinity, -.infinity, .nan, -.nan] {
          var broken = values
          broken[place] = bad
          let buffer = ParameterBuffer(broken)
          #expect(!buffer.isFinite)
          #expect(!buffer.isFinite, "and so when asked again")
        }
      }
    }
    #expect(ParameterBuffer([]).isFinite)
  }

  /// More buffers of 100 KB than slabs may hold, taken and given back in another order, again and
  /// again: the slabs stay within their bound, and no buffer is in another.
  @Test("waves of many buffers take no more slabs than there may be")
  func waves() {
    let count = 25_000
    let number = BufferMemory.mostSlabBytes / (4 * count) + 100
    for wave in 0..<3 {
      var live = (0..<number).map { number -> ParameterBuffer? in
        ParameterBuffer(count: count) { $0.update(repeating: Float(number)) }
      }
      #expect(BufferMemory.slabBytes <= BufferMemory.mostSlabBytes)
      let wrong = live.indices.filter { place in
        live[place]![0] != Float(place) || live[place]![count - 1] != Float(place)
      }
      #expect(wrong.isEmpty)
      for step in 0..<number { live[(11 * step + wave) % number] = nil }
    }
    // Another size finds room: nobody uses those slabs any more, so they go for its one.
    let other = ParameterBuffer(count: 26_000) { $0.update(repeating: 1) }
    #expect(other[25_999] == 1)
    #expect(BufferMemory.slabBytes <= BufferMemory.mostSlabBytes / 2)
  }
}
