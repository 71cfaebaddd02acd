import FedSim
import Testing

@Suite("Lists of long runs")
struct SlotMapTests {
  @Test("A slot map gives each number once and keeps what was not let go")
  func map() {
    var map = SlotMap<Int>()
    // Of 1,000 elements every multiple of 50 stays, the others go when 40 more have come.
    for number in 0..<1000 {
      map.append(number * 3)
      if number >= 40, (number - 40) % 50 != 0 { map.remove(Int32(number - 40)) }
    }
    #expect(map.count == 1000)
    let expected = (0..<1000).filter { $0 % 50 == 0 || $0 >= 960 }
    #expect(map.numbers == expected.map { Int32($0) })
    #expect(map.living == expected.count)
    for number in expected { #expect(map[Int32(number)] == number * 3) }
    for number in 0..<1000 {
      #expect(map.contains(Int32(number)) == expected.contains(number))
    }
    #expect(!map.contains(1000) && !map.contains(5000))
    map[50] += 1
    #expect(map[50] == 151)
    map.remove(50)
    #expect(!map.contains(50))
  }

  @Test("A paged array is a list like any other")
  func array() {
    var array = PagedArray([7])
    for number in 1..<1000 { array.append(number) }
    #expect(array.count == 1000 && array[0] == 7 && Array(array.dropFirst()) == Array(1..<1000))
    array[500] = -1
    #expect(array[499] == 499 && array[500] == -1 && array.last == 999)
  }

  @Test("A version log gives back what it was given")
  func log() {
    func record(_ version: Int) -> VersionRecord {
      let isOdd = version % 2 == 1
      return VersionRecord(
        version: version, publishedAt: ms(Int64(version) * 1_000_000_007), round: version + 1,
        updates: 3, devices: 2, samples: 1 << 33, samplesProcessed: 1 << 40, trainingLoss: 0.1,
        validationAccuracy: 0.2, meanStaleness: 0.3, maximumStaleness: 9,
        meanStalenessSeconds: 0.4,
        evaluation: isOdd
          ? CentralEvaluation(
            test: .init(count: 9, correct: version % 9, lossSum: Double(version)), validation: nil)
          : nil, federated: nil)
    }
    var log = VersionLog()
    for version in 0..<300 { log.append(record(version)) }
    #expect(log.count == 300)
    #expect(log.records.map { "\($0)" } == (0..<300).map { "\(record($0))" })
  }
}
