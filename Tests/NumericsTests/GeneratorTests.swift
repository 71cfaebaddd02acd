import Testing

import Numerics

@Suite("Philox and keyed streams")
struct GeneratorTests {
  @Test("Philox4x32-10 gives the known answers published with Random123")
  func knownAnswers() {
    let zero = Philox4x32.block(counter: (0, 0, 0, 0), key: (0, 0))
    #expect(zero == (0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8))
    let ones = Philox4x32.block(
      counter: (.max, .max, .max, .max), key: (.max, .max))
    #expect(ones == (0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd))
    let pi = Philox4x32.block(
      counter: (0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344),
      key: (0xa409_3822, 0x299f_31d0))
    #expect(pi == (0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1))
  }

  @Test("a stream is the words of successive blocks, first word first")
  func wordsInOrder() {
    var stream = RandomStream(key: (7, 9), counter: (0, 1, 2, 3))
    let first = Philox4x32.block(counter: (0, 1, 2, 3), key: (7, 9))
    let second = Philox4x32.block(counter: (1, 1, 2, 3), key: (7, 9))
    let words = (0..<8).map { _ in stream.nextUInt32() }
    #expect(words == [first.0, first.1, first.2, first.3, second.0, second.1, second.2, second.3])
  }

  @Test("64 bits are the next two words, wherever in a block they begin")
  func pairsOfWords() {
    for skipped in 0..<9 {
      var words = StreamKey(seed: 2, purpose: "test").stream(slot: 5)
      for _ in 0..<skipped { _ = words.nextUInt32() }
      var pairs = words
      for _ in 0..<6 {
        let (low, high) = (UInt64(words.nextUInt32()), UInt64(words.nextUInt32()))
        #expect(pairs.nextUInt64() == low | high << 32)
      }
      #expect(pairs.nextUInt32() == words.nextUInt32())
    }
  }

  @Test("key and counter are laid out as StreamKey says")
  func layout() {
    // By Tests/Fixtures-scripts/make_stream_numbers.py.
    func words(_ key: StreamKey, _ slot: UInt64) -> [UInt32] {
      var stream = key.stream(slot: slot)
      return (0..<6).map { _ in stream.nextUInt32() }
    }
    #expect(
      words(StreamKey(seed: 1, purpose: "power"), 0) == [
        0xd67a_5c07, 0x8f5c_fcbe, 0x6526_52eb, 0x3502_90cb, 0x7ebe_3a95, 0xd4eb_f2de,
      ])
    #expect(
      words(
        StreamKey(
          seed: 1 << 63 + 5, purpose: "processing-budget", group: "phones in Zürich", ordinal: 17),
        1 << 40 + 3) == [
          0x16ab_c757, 0xf0b1_3e2c, 0x7f6a_cacd, 0x52db_61ac, 0xbc22_0265, 0x9d95_b441,
        ])
  }

  @Test("seed, purpose, group, ordinal and slot each change the stream, alone")
  func everyPartOfTheKeyCounts() {
    func first(
      _ seed: UInt64 = 1, _ purpose: String = "a", _ group: String = "g", _ ordinal: UInt32 = 0,
      _ slot: UInt64 = 0
    ) -> UInt64 {
      let key = StreamKey(seed: seed, purpose: Purpose(purpose), group: group, ordinal: ordinal)
      var stream = key.stream(slot: slot)
      return stream.nextUInt64()
    }
    let draws = [
      first(), first(2), first(1, "b"), first(1, "a", "h"), first(1, "a", "g", 1),
      first(1, "a", "g", 0, 1), first(1, "a", "g", 0, 1 << 40), first(1, "ag", ""),
    ]
    #expect(Set(draws).count == draws.count)
    #expect(first() == first())
  }

  @Test("bounded draws are uniform: chi-square over 7 cells stays below its 99.99 % quantile")
  func boundedDrawsAreUniform() {
    var counts = [Double](repeating: 0, count: 7)
    var stream = StreamKey(seed: 3, purpose: "test").stream(slot: 0)
    for _ in 0..<70_000 { counts[Int(stream.below(7))] += 1 }
    let chiSquare = counts.reduce(0) { $0 + ($1 - 10_000) * ($1 - 10_000) / 10_000 }
    #expect(chiSquare < 27.86)
  }

  @Test("normal draws have the moments 0, 1, 0, 3 and exponential draws their mean")
  func moments() {
    var stream = StreamKey(seed: 4, purpose: "test").stream(slot: 0)
    var (m1, m2, m3, m4, e1) = (0.0, 0.0, 0.0, 0.0, 0.0)
    let n = 200_000
    for _ in 0..<n {
      let z = stream.normal()
      m1 += z
      m2 += z * z
      m3 += z * z * z
      m4 += z * z * z * z
      e1 += stream.exponential(mean: 5)
    }
    let count = Double(n)
    // Standard errors: 1/√n, √2/√n, √15/√n, √96/√n, 5/√n; five of them are allowed.
    let unit = 5 / count.squareRoot()
    #expect(abs(m1 / count) < unit)
    #expect(abs(m2 / count - 1) < 1.5 * unit)
    #expect(abs(m3 / count) < 3.9 * unit)
    #expect(abs(m4 / count - 3) < 9.8 * unit)
    #expect(abs(e1 / count - 5) < 5 * unit)
  }

  @Test("many normal draws at once are those of one after the other", arguments: 0..<4)
  func manyNormals(wordsDrawn: Int) {
    for count in [0, 1, 2, 7, 300] {
      var one = StreamKey(seed: 8, purpose: "test").stream(slot: UInt64(count))
      for _ in 0..<wordsDrawn { _ = one.nextUInt32() }
      var many = one
      let expected = (0..<count).map { _ in one.normal().bitPattern }
      #expect(many.normals(count).map(\.bitPattern) == expected)
      #expect(many.nextUInt32() == one.nextUInt32())
    }
  }

  @Test("a shuffle is a permutation, and every element reaches every place equally often")
  func shuffleIsUniform() {
    var places = [[Double]](repeating: [Double](repeating: 0, count: 5), count: 5)
    for slot in 0..<20_000 {
      var items = [0, 1, 2, 3, 4]
      var stream = StreamKey(seed: 5, purpose: "test").stream(slot: UInt64(slot))
      stream.shuffle(&items)
      #expect(items.sorted() == [0, 1, 2, 3, 4])
      for (place, item) in items.enumerated() { places[item][place] += 1 }
    }
    for row in places {
      let chiSquare = row.reduce(0) { $0 + ($1 - 4_000) * ($1 - 4_000) / 4_000 }
      #expect(chiSquare < 23.5)  // 99.99 % quantile with 4 degrees of freedom
    }
  }

  @Test("a sample has distinct members")
  func sampleIsDistinct() {
    var stream = StreamKey(seed: 6, purpose: "test").stream(slot: 0)
    let sample = stream.sample(30, below: 40)
    #expect(sample.count == 30 && Set(sample).count == 30)
    #expect(sample.allSatisfy { (0..<40).contains($0) })
  }
}
