/// Changes of texts by lines and words: rules about texts are seldom broken by single bytes.
enum Lines {
  /// A line or a word comes again, moves or is gone; which one, a number decides.
  static func mutate(_ bytes: [UInt8], by seed: UInt32) -> [UInt8] {
    var state = UInt64(seed) | 1
    func below(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % max(1, limit)
    }
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let (one, other) = (below(lines.count), below(lines.count))
    switch below(6) {
    case 0: lines.insert(lines[one], at: one)
    case 1: lines.insert(lines[one], at: other)
    case 2: lines.remove(at: one)
    case 3: lines.swapAt(one, other)
    case 4: lines[one] = words(lines[one]) { $0.insert($0[below($0.count)], at: below($0.count)) }
    default: lines[one] = words(lines[one]) { $0.swapAt(below($0.count), below($0.count)) }
    }
    return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
  }

  /// A line with its words changed, which spaces part.
  private static func words(
    _ line: ArraySlice<UInt8>, _ change: (inout [ArraySlice<UInt8>]) -> Void
  ) -> ArraySlice<UInt8> {
    var words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    change(&words)
    return Array(words.joined(separator: [UInt8(ascii: " ")]))[...]
  }
}
