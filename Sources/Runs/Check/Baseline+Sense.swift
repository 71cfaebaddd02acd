extension Baseline {
  /// Where parts of the file do not go together, and how: the key or section, such as `events` or
  /// `[marks]`. A file that was written and not changed has no such place.
  var contradiction: (place: String, message: String)? {
    guard let count = value("events").flatMap({ Int($0) }), count >= 0 else {
      return ("events", "expected a line `events` with the number of events")
    }
    guard let digest = value("eventDigest").flatMap(Self.digits) else {
      return ("eventDigest", "expected a line `eventDigest` with 16 hexadecimal digits")
    }
    guard (table("counts")?.rows ?? []).allSatisfy({ $0.count == 2 && Int($0[1]) != nil }) else {
      return ("[counts]", "expected rows of a name and a number")
    }
    guard let hours = hourSums else {
      return ("[hours]", "expected rows of an hour, a number and 16 hexadecimal digits")
    }
    if hours.count != count {
      return ("events", "found \(count) events, but those of the hours add up to \(hours.count)")
    }
    if hours.digest != digest {
      return ("eventDigest", "the digests of the hours do not add up to that of all events")
    }
    return eventContradiction(count, digest)
  }

  private static func digits(_ text: String) -> UInt64? {
    text.utf8.count == 16 ? UInt64(text, radix: 16) : nil
  }

  private var hourSums: (count: Int, digest: UInt64)? {
    var sums = (count: 0, digest: UInt64(0))
    for row in table("hours")?.rows ?? [] {
      guard row.count == 3, Int(row[0]) != nil, let count = Int(row[1]), count >= 0,
        let digest = Self.digits(row[2])
      else { return nil }
      sums = (sums.count &+ count, sums.digest &+ digest)
    }
    return sums
  }

  /// The fingerprints of events add up to the digest of all, and so do their last digits.
  private func eventContradiction(
    _ count: Int, _ digest: UInt64
  ) -> (place: String, message: String)? {
    switch events {
    case .lines(let lines):
      if lines.count != count {
        return ("[events]", "found \(lines.count) lines for \(count) events")
      }
      var sum: UInt64 = 0
      for line in lines {
        guard let mark = line.lastIndex(of: "~"),
          let print = UInt64(line[mark...].dropFirst(), radix: 16)
        else { return ("[events]", "a line does not end with the digits of its fingerprint") }
        sum &+= print
      }
      return sum & 0xFFFF == digest & 0xFFFF
        ? nil : ("[events]", "the fingerprints of the events do not add up to the digest of all")
    case .blocks(let blocks):
      return blockContradiction(blocks, count, digest)
    case .hours:
      return count > Self.mostMarks
        ? nil : ("[hours]", "the section [events] or [marks] of \(count) events is missing")
    }
  }

  private func blockContradiction(
    _ blocks: [Block], _ count: Int, _ digest: UInt64
  ) -> (place: String, message: String)? {
    var (next, sum) = (1, UInt64(0))
    for block in blocks {
      let marks = Array(block.marks.utf8)
      guard block.first == next, marks.count == 2 * min(Self.blockSize, count - next + 1),
        let print = Self.digits(block.digest)
      else {
        return ("[marks]", "expected the marks of \(Self.blockSize) events from \(next) on")
      }
      var low: UInt64 = 0
      for place in stride(from: 0, to: marks.count, by: 2) {
        let mark = String(decoding: marks[place...(place + 1)], as: UTF8.self)
        guard let digits = UInt64(mark, radix: 16) else {
          return ("[marks]", "`\(mark)` is not a mark")
        }
        low &+= digits
      }
      guard low & 0xFF == print & 0xFF else {
        return ("[marks]", "the marks from event \(next) on do not add up to their digest")
      }
      next += marks.count / 2
      sum &+= print
    }
    if next != count + 1 {
      return ("[marks]", "found marks of \(next - 1) events of \(count)")
    }
    return sum == digest
      ? nil : ("[marks]", "the digests of the marks do not add up to that of all events")
  }
}
