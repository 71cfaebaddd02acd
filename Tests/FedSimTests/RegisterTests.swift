import FedSim
import Testing

@Suite("Lists of long runs")
struct RegisterTests {
  @Test("A register gives each number once and keeps what was not let go")
  func register() {
    var register = Register<Int>()
    // Of 1,000 elements every multiple of 50 stays, the others go when 40 more have come.
    for number in 0..<1000 {
      register.append(number * 3)
      if number >= 40, (number - 40) % 50 != 0 { register.remove(Int32(number - 40)) }
    }
    #expect(register.count == 1000)
    let expected = (0..<1000).filter { $0 % 50 == 0 || $0 >= 960 }
    #expect(register.numbers == expected.map { Int32($0) })
    #expect(register.living == expected.count)
    for number in expected { #expect(register[Int32(number)] == number * 3) }
    for number in 0..<1000 {
      #expect(register.contains(Int32(number)) == expected.contains(number))
    }
    #expect(!register.contains(1000) && !register.contains(5000))
    register[50] += 1
    #expect(register[50] == 151)
    register.remove(50)
    #expect(!register.contains(50))
  }

  @Test("Pages are a list like any other")
  func pages() {
    var pages = Pages([7])
    for number in 1..<1000 { pages.append(number) }
    #expect(pages.count == 1000 && pages[0] == 7 && Array(pages.dropFirst()) == Array(1..<1000))
    pages[500] = -1
    #expect(pages[499] == 499 && pages[500] == -1 && pages.last == 999)
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
