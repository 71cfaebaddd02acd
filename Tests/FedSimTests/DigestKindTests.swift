import FedSim
import Testing

@Suite("Numbers in digests")
struct DigestKindTests {
  @Test("Each kind has a separate number, which fits the word")
  func distinct() {
    let numbers = DigestKind.allCases.map(\.rawValue)
    #expect(Set(numbers).count == numbers.count)
    #expect(numbers.allSatisfy { $0 > 0 })
  }

  @Test("The numbers of series, classes and timers are those that kept digests have")
  func given() {
    let series: [(Series, UInt8)] = [
      (.power, 0), (.link, 1), (.usage, 2), (.window, 3), (.ambient, 4), (.setting, 5), (.share, 6),
      (.presence, 7),
    ]
    #expect(series.count == Series.allCases.count)
    for (series, number) in series { #expect(series.rawValue == number) }
    let classes: [(EventClass, UInt8)] = [
      (.world, 0), (.kill, 1), (.deadline, 2), (.transferEnd, 3), (.batchEnd, 4), (.serverTimer, 5),
      (.serverArrival, 6), (.deviceResponse, 7), (.deviceTimer, 8), (.scan, 9), (.snapshot, 10),
    ]
    #expect(classes.count == EventClass.allCases.count)
    for (eventClass, number) in classes { #expect(eventClass.rawValue == number) }
    #expect(DigestKind.world.rawValue == 1)
    #expect(DigestKind.end.rawValue == 21)
    #expect(DigestKind.storeRequest.rawValue == 46)
    #expect(DigestKind.aggregatedTimer.rawValue == 80)
  }
}
