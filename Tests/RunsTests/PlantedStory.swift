import Foundation

import FedSim
import Results
import Runs
import Scenarios

/// A scenario in which one thing keeps `phones/0` from contributing, and what explains it.
///
/// A message is 1,000 bytes, a model or an update 300 more; Wi-Fi carries 1,000 bytes a second with
/// 10 ms each way; a batch takes 1 s, and a device has 4. A window that opens at s: the check is at
/// the server at s + 1.010, training begins at s + 4.340, batch n ends n seconds later, the update
/// is sent from s + 8.340 to s + 9.640 and arrives at s + 9.650. The two tablets' window opens at
/// 1 h; the server aggregates two updates: round 1 lasts until 1 h 0 min 9.650 s.
struct PlantedStory: Sendable, CustomStringConvertible {
  let name: String
  var overrides: [String]
  var round: Int? = 1
  let cause: Explanation.Cause
  /// The last line, without `Cause: ` and the full stop.
  let causeText: String
  /// A part of the story.
  let sentence: String
  /// What the ledgers count, such as `attempts killed 1`.
  let ledger: [String]

  var description: String { name }

  static let text = """
    name: planted
    seed: 1
    stop: {after: 2 h}
    task:
      data:
        source: {blobs: {classes: 2, features: 2, train: 12, test: 4}}
        partition: {iid: {clients: 3}}
      model: softmax
      training: {epochs: 1, batchSize: 1, optimizer: {sgd: 0.5}}
    fleet:
      - name: phones
        count: 1
        firstClient: 0
        network:
          wifi: {down: 8 kbit/s, up: 8 kbit/s, roundTrip: 20 ms}
          cellular: {down: 4 kbit/s, up: 4 kbit/s, roundTrip: 40 ms}
        compute: {perBatch: 1 s}
        background: {windows: {fixed: {intervals: [{from: 0 s, soft: 90 s, to: 95 s}]}}}
      - name: tablets
        count: 2
        firstClient: 1
        network: {wifi: {down: 8 kbit/s, up: 8 kbit/s, roundTrip: 20 ms}}
        compute: {perBatch: 1 s}
        background: {windows: {fixed: {intervals: [{from: 1 h, soft: 3660 s, to: 3665 s}]}}}
    server: {messageBytes: 1000 B, bytesPerParameter: 50, trigger: {threshold: 2}}

    """

  /// A task as the system starts it, idle after 100 s, without delay, once; what else it requires.
  static func task(_ more: String = "") -> String {
    "fleet.phones.background={windows: null, processing: {idleDwell: 100 s, "
      + "startDelay: 0 s, resubmit: never"
      + "\(more.isEmpty ? "" : ", ")\(more)}}"
  }

  static func window(_ from: String, _ soft: String, _ to: String, of group: String) -> String {
    "fleet.\(group).background.windows={fixed: {intervals: "
      + "[{from: \(from), soft: \(soft), to: \(to)}]}}"
  }

  /// Plays it into a file and asks.
  func explained(in folder: Folder) throws -> (Explanation, ResultDocument) {
    let scenario = try Scenario(text: Self.text, file: folder("s.yaml"), overrides: overrides)
    var run = Run(scenario, output: folder("r.h5"))
    run.safety.replacesOthers = true
    _ = try run.perform()
    return (
      try Explanation(result: folder("r.h5"), device: "phones/0", round: round),
      try ResultFile.read(folder("r.h5"))
    )
  }
}

extension ResultDocument {
  /// A count of a ledger by its words, such as `attempts killed`.
  func count(_ words: [Substring]) -> Int64? {
    let singular = words[0].dropLast()
    guard let counts = integers("ledger/\(words[0])"),
      let place = variable("ledger/\(singular)Outcome")?.flagMeanings.firstIndex(
        of: String(words[1]))
    else { return nil }
    return counts[place]
  }
}

extension PlantedStory {
  /// Updates that a newer one or the server's lost connection keeps from a version.
  static let kept: [PlantedStory] = [
    PlantedStory(
      name: "evicted",
      // The second window's check is answered; its update of 69.320 takes the place of the first,
      // whose upload was not answered at 9.640 + 2 s nor at 61.300 + 2 s.
      overrides: [
        "fleet.phones.background.windows={fixed: {intervals: [{from: 0 s, soft: 40 s, to: 45 s}, "
          + "{from: 60 s, soft: 90 s, to: 95 s}]}}",
        "fleet.phones.network.requestTimeout=2 s", "fleet.phones.outbox.capacity=1",
        "server.reachable={fixed: {otherwise: up, intervals: [{from: 9 s, to: 62 s, state: down}, "
          + "{from: 67 s, to: 2 h, state: down}]}}",
      ],
      round: nil, cause: .notKept,
      causeText:
        "the device did not keep its update: a newer one needed its place in the outbox",
      sentence: "At 0 d 00:01:09.32 update 0 was dropped: a newer one needed its place",
      ledger: ["updates evicted 1"]),
    PlantedStory(
      name: "waiting at an offline server",
      // It arrives at 9.650 and can be reached; the probe of 60 s finds no connection.
      overrides: [
        "server.internet={fixed: {otherwise: up, "
          + "intervals: [{from: 30 s, to: 3 h, state: down}]}}"
      ],
      round: nil, cause: .serverOffline,
      causeText: "the server believed itself offline and aggregated nothing",
      sentence: "its update 0 waited at the server from 0 d 00:00:09.65 on",
      ledger: ["updates unfinishedAtEnd 1"]),
  ]
}
