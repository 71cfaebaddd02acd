import Learning
import Testing

import Runs

@Suite("Where a worker leaves what it has trained")
struct OutputAreaTests {
  @Test("a place is free again when nobody uses its parameters, and not before")
  func places() throws {
    // 3 MB a place: 32 MiB have room for 10, of which 8 are made.
    let area = try OutputArea(most: 750_000)
    let places = (0..<8).compactMap { _ in area.take(count: 5) }
    #expect(places.first == 0 && Set(places).count == 8)
    #expect(area.take(count: 5) == nil)
    let start = try #require(OutputArea.start(places[3], count: 5, in: area.memory))
    for index in 0..<5 { start[index] = Float(index) / 2 }
    var buffer: ParameterBuffer? = area.adopt(places[3], count: 5)
    var other = buffer
    #expect(buffer?.values == [0, 0.5, 1, 1.5, 2])
    buffer = nil
    #expect(area.take(count: 5) == nil)
    #expect(other?.isFinite == true)
    other = nil
    #expect(area.take(count: 5) == places[3])
    #expect(area.take(count: 5) == nil)
    area.give(places[0])
    #expect(area.take(count: 750_001) == nil)
    #expect(area.take(count: 750_000) == places[0])
  }

  @Test("a large model has three places, and no place ends behind the memory")
  func large() throws {
    let area = try OutputArea(most: 3_000_000)
    // 12 MB a place, in pages of 4,096 bytes, and 320 bytes more.
    let stride = (12_000_000 + 4095) / 4096 * 4096 + 320
    #expect(area.memory.bytes.count == 3 * stride)
    #expect((0..<4).map { _ in area.take(count: 1) } == [0, stride, 2 * stride, nil])
    let last = 2 * stride
    #expect(OutputArea.start(last, count: 3_000_000, in: area.memory) != nil)
    #expect(OutputArea.start(last, count: stride / 4 + 1, in: area.memory) == nil)
    #expect(OutputArea.start(last + 4, count: 1, in: area.memory) == nil)
    #expect(OutputArea.start(-64, count: 1, in: area.memory) == nil)
  }
}
