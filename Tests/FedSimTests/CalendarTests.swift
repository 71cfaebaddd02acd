import FedSim
import Learning
import Numerics
import Schema
import Testing

@Suite("Calendars")
struct CalendarTests {
  @Test("A weekly interval across midnight belongs to the day on which it begins")
  func acrossMidnight() {
    // Nights from 22:00 to 06:00, begun on Fridays: Friday of the first week is day 4.
    // 4·24 + 22 = 118, 5·24 + 6 = 126; a week later 286 and 294.
    #expect(
      changes(
        weekly(appointment(.hours(22), .hours(6), [.friday])), context(),
        until: ms(14 * 86_400_000)) == ["0 0", "118 1", "126 0", "286 1", "294 0"])
  }

  @Test("A weekly interval across the end of the week and the start of the run")
  func acrossTheWeek() {
    // Sunday 22:00 to Monday 06:00: the run begins within one. 6·24 + 22 = 166, 7·24 + 6 = 174.
    #expect(
      changes(
        weekly(appointment(.hours(22), .hours(6), [.sunday])), context(), until: ms(8 * 86_400_000))
        == ["0 1", "6 0", "166 1", "174 0"])
  }

  @Test("Local time is UTC plus the offset; the weekday is the local one")
  func offsets() {
    // 5 h 30 min east: local Monday 09:00 is 03:30 UTC.
    let monday = weekly(appointment(.hours(9), .hours(10), [.monday]))
    #expect(
      changes(monday, context(offset: .minutes(330)), until: ms(86_400_000))
        == ["0 0", "3:30 1", "4:30 0"])
    // 8 h west: at the start it is Sunday 16:00; Monday 09:00 is 17:00 UTC.
    #expect(
      changes(monday, context(offset: .hours(-8)), until: ms(86_400_000))
        == ["0 0", "17 1", "18 0"])
    let sunday = weekly(appointment(.hours(18), .hours(20), [.sunday]))
    #expect(
      changes(sunday, context(offset: .hours(-8)), until: ms(86_400_000))
        == ["0 0", "2 1", "4 0"])
    // A start in the middle of a Wednesday before 1970: the last one, 31 December 1969, noon.
    let wednesday = weekly(appointment(.hours(13), .hours(14), [.wednesday]))
    #expect(
      changes(wednesday, context(start: -43_200), until: ms(86_400_000)) == ["0 0", "1 1", "2 0"])
  }

  @Test("A whole day, and two that touch, are one stretch")
  func wholeDays() {
    let weekend = weekly(appointment(.zero, .hours(24), [.saturday, .sunday]))
    #expect(
      changes(weekend, context(), until: ms(8 * 86_400_000)) == ["0 0", "120 1", "168 0"])
  }

  @Test("From a time to the same time is a whole day")
  func sameTime() {
    let monday = weekly(appointment(.hours(6), .hours(6), [.monday]))
    #expect(changes(monday, context(), until: ms(3 * 86_400_000)) == ["0 0", "6 1", "30 0"])
    let always = weekly(appointment(.zero, .zero))
    #expect(changes(always, context(), until: ms(3 * 86_400_000)) == ["0 1"])
  }

  @Test("Where two intervals overlap the later beginning wins")
  func overlap() {
    let source = weekly(
      appointment(.hours(8), .hours(20), Weekday.allCases, "cellular"),
      appointment(.hours(9), .hours(10), Weekday.allCases, "wifi"))
    #expect(
      changes(source, context(.link), until: ms(86_400_000))
        == ["0 0", "8 1", "9 2", "10 1", "20 0"])
  }

  @Test("Jitter moves each edge by at most its bound, the same for the same key")
  func jitter() {
    for seed in UInt64(1)...20 {
      let source = weekly(appointment(.hours(22), .hours(6)), jitter: .minutes(30))
      var timeline = source.timeline(context(seed: seed))
      var time = SimTime.start
      var count = 0
      while let next = timeline.next(after: time, before: SimTime(microseconds: 14 * day)) {
        let hour = Double(next.time.microseconds % day) / 3.6e9
        let edge = next.state == 1 ? 22.0 : 6.0
        #expect(abs(hour - edge) <= 0.5, "seed \(seed)")
        time = next.time
        count += 1
      }
      #expect(count == 28, "seed \(seed)")
    }
  }

  @Test("Habits stay within two deviations of day and device, and happen as often as they should")
  func diurnalBounds() {
    var days = 0
    for ordinal in UInt32(0)..<40 {
      // In use 12:00 to 14:00, each edge within 2·(10 + 5) min, on half of the days.
      let source = diurnal(
        habit(
          .hours(12), .hours(14), spread: .minutes(10), deviceSpread: .minutes(5), probability: 0.5)
      )
      var timeline = source.timeline(context(.usage, ordinal: ordinal))
      var time = SimTime.start
      while let next = timeline.next(after: time, before: SimTime(microseconds: 50 * day)) {
        let hour = Double(next.time.microseconds % day) / 3.6e9
        #expect(abs(hour - (next.state == 1 ? 12 : 14)) <= 0.5, "device \(ordinal)")
        days += next.state == 1 ? 1 : 0
        time = next.time
      }
    }
    // 2,000 days, p = ½: 1,000 ± 4.5 deviations of 22.4.
    #expect(abs(days - 1000) <= 100)
  }

  @Test("A device's own habit is the same each day")
  func ownHabit() {
    let source = diurnal(habit(.hours(12), .hours(14), deviceSpread: .hours(1)))
    var begins: [Int64] = []
    for ordinal in UInt32(0)..<3 {
      var timeline = source.timeline(context(.usage, ordinal: ordinal))
      let first = timeline.next(after: .start, before: SimTime(microseconds: day))!.time
      let tenth = timeline.next(
        after: SimTime(microseconds: 10 * day), before: SimTime(microseconds: 11 * day))!.time
      #expect(tenth.microseconds - first.microseconds == 10 * day)
      begins.append(first.microseconds)
    }
    #expect(Set(begins).count == 3)
  }
}
