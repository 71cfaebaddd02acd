import FedSim
import Schema
import Testing

@Suite("Tables that begin again")
struct CyclicTableTests {
  private static func source(_ period: SimDuration?) -> CSVSource {
    var settings = CSVSource.Settings()
    settings.file = FileName("log.csv")
    settings.period = period
    return CSVSource(settings)
  }

  private static func row(
    _ from: Int64, _ to: Int64, soft: Int64? = nil, _ state: String? = nil
  ) -> IntervalTable.Row {
    IntervalTable.Row(
      device: "*", from: .start + .hours(from), soft: soft.map { .start + .hours($0) },
      to: .start + .hours(to), state: state)
  }

  private static func states(
    _ rows: [IntervalTable.Row], _ space: StateSpace, period: SimDuration?, hours: Int64
  ) -> String {
    var timeline = source(period).timeline(
      context(space, tables: ["log.csv": IntervalTable(rows: rows)]))
    return (0..<hours).map { "\(timeline.state(at: .start + .hours($0)))" }.joined()
  }

  @Test("intervals come again after the period, and one may reach over its end")
  func wrap() {
    let rows = [Self.row(2, 4), Self.row(4, 5, "cellular"), Self.row(9, 12)]
    #expect(Self.states(rows, .link, period: nil, hours: 24) == "002210000222000000000000")
    // 9 to 12 is 9, and 0 and 1 of the next turn, where 2 to 4 continues.
    #expect(
      Self.states(rows, .link, period: .hours(10), hours: 24) == "222210000222221000022222")
  }

  @Test("an interval that ends with the period is over there")
  func endsWithThePeriod() {
    #expect(
      Self.states([Self.row(2, 4), Self.row(7, 10)], .power, period: .hours(10), hours: 20)
        == "00110001110011000111")
  }

  @Test("a window keeps its soft expiry over the wrap")
  func soft() {
    #expect(
      Self.states([Self.row(8, 13, soft: 11)], .window, period: .hours(10), hours: 20)
        == "21100000222110000022")
  }

  @Test("an interval as long as the period never ends; without any nothing ever happens")
  func whole() {
    #expect(Self.states([Self.row(3, 13)], .power, period: .hours(10), hours: 12) == "111111111111")
    #expect(Self.states([], .power, period: .hours(10), hours: 4) == "0000")
    #expect(Self.states([Self.row(0, 10)], .power, period: .hours(10), hours: 4) == "1111")
  }
}
