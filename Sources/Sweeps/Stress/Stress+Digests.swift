import Numerics
import Results
import Runs
import Schema

extension Stress {
  /// The outcome of each world, in a line: its number, and digests of the world, of its events, of
  /// its last model and of what its result would hold, each in 16 digits.
  ///
  /// A world that is not played to its end has one word in place of the last three: `invalid`,
  /// `crashed`, `slow`; one that cannot even be drawn has `-` in place of the world's digest.
  /// Nothing is looked for: worlds that fail are played like others. nil: it was ordered to stop.
  /// Throws: `RunFailure` where worlds cannot be played at all.
  package func digests(
    _ player: any WorldPlayer, _ news: (News) -> Void = { _ in }
  ) throws(RunFailure) -> [String]? {
    var lines: [String] = []
    while lines.count < options.worlds {
      let size = min(8 * player.width, options.worlds - lines.count)
      let drawn = draw(lines.count..<lines.count + size)
      let worlds = drawn.compactMap(\.world)
      let orders = worlds.map { world in
        var order = space.order(world, replays: false)
        order.digests = true
        return order
      }
      var answers = try player.play(orders, until: nil)[...]
      if player.isInterrupted { return nil }
      for drawn in drawn {
        let answer = drawn.world == nil ? nil : answers.removeFirst()
        lines.append(Self.line(drawn, answer))
      }
      news(.played(lines.count))
    }
    return lines
  }

  /// A world as a scenario's text, for a file next to the scenario; its first line says which
  /// `--shake-ties` goes with it, if any does.
  ///
  /// Throws: `RunFailure.input` with every fault of a world that is no valid scenario.
  package func text(of world: Int) throws(RunFailure) -> String {
    let drawn = draw(world..<world + 1)[0]
    guard let found = drawn.world else { throw .input(drawn.faults ?? []) }
    let ties = found.shakeTies.map { "# --shake-ties \($0)\n" } ?? ""
    return ties + found.node.yaml
  }

  private static func line(_ drawn: Drawn, _ answer: WorldAnswer?) -> String {
    guard let world = drawn.world, let answer else { return "\(drawn.number) - invalid" }
    var digest = Digest()
    digest.combine(bytes: world.node.yaml.utf8)
    if let key = world.shakeTies { digest.combine(key) }
    let start = "\(drawn.number) \(digest.value.hexDigits) "
    if answer.crash != nil { return start + "crashed" }
    if answer.isTooLong == true { return start + "slow" }
    guard let trial = answer.trial, let values = trial.valuesDigest else {
      return start + "invalid"
    }
    return start + "\(trial.eventDigest) \(trial.modelDigest) \(values.prefix(16))"
  }
}

/// The file that lines of digests are written to, whole or not at all.
package struct StressDigestFile {
  private let file: PlacedFile

  /// Checks that a file can be written at a path.
  ///
  /// Throws: `RunFailure` where it cannot, and where a file of another kind is there.
  package init(_ path: String) throws(RunFailure) {
    file = try StandingFile.place(for: path, replacing: Self.isDigests)
  }

  /// Whether a text that begins so is one of digests: `0`, and a digest or `-`.
  private static func isDigests(_ head: String) -> Bool {
    let line = head.prefix { $0 != "\n" }.split(separator: " ", omittingEmptySubsequences: false)
    guard line.count >= 3, line[0] == "0" else { return false }
    return line[1] == "-" || line[1].count == 16 && line[1].allSatisfy(\.isHexDigit)
  }

  /// Writes lines.
  ///
  /// Throws: `RunFailure` where the disk is full or fails.
  package func write(_ lines: [String]) throws(RunFailure) {
    let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    do throws(ResultFault) { try file.place(bytes) } catch { throw .output(error) }
  }
}
