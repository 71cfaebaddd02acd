import Learning
import Testing

@Suite("How much memory of buffers that are gone is kept")
struct KeptMemoryTests {
  /// More buffers of 100 KB than slabs may hold, taken and given back in another order, again and
  /// again: the slabs stay within their bound, and no buffer lies in another.
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
    // Another size finds room, since nobody uses those slabs any more.
    let before = BufferMemory.slabBytes
    let other = ParameterBuffer(count: 26_000) { $0.update(repeating: 1) }
    #expect(other[25_999] == 1)
    #expect(BufferMemory.slabBytes <= max(before, BufferMemory.mostSlabBytes))
  }
}
