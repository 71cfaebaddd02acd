import Foundation
import Testing

import FedSim
import Results
import Runs
import Scenarios

@Suite("The requests of a run")
struct RequestExportTests {
  /// Two phones whose windows open at 10 s. A message of 100 B takes 0.1 s up and 0.01 s down, and
  /// 1 s each way; a softmax of 3 features and 2 classes has 8 parameters of 4 B.
  private static let two = """
    name: two
    seed: 7
    start: 2025-11-17T06:00:00Z
    stop: {after: 100 s}
    task:
      data:
        source: {blobs: {classes: 2, features: 3, train: 8, test: 4}}
        partition: {iid: {clients: 2}}
      model: softmax
      training: {epochs: 1, batchSize: 2, optimizer: {sgd: 0.5}}
    fleet:
      - name: phones
        count: 2
        network: {wifi: {up: 8 kbit/s, down: 80 kbit/s, roundTrip: 2 s}}
        background: {windows: {fixed: {intervals: [{from: 10 s, to: 60 s}]}}}
        compute: {perBatch: 1 s}
        app: {comesWithModel: true}
    server:
      policy: fedavg
      payload: weights
      messageBytes: 100 B
      trigger: {threshold: 2}

    """

  /// The lines of an export of a run, without header and footer, and these two.
  private func lines(
    _ text: String, _ overrides: [String] = [], _ change: (inout RequestChoice) -> Void = { _ in }
  ) throws -> (header: String, lines: [String], footer: String) {
    let folder = try Folder()
    let scenario = try Scenario(text: text, file: folder("s.yaml"), overrides: overrides)
    _ = try Run(scenario, output: folder("r.h5")).perform()
    var export = Export(folder("r.h5"), as: .requests)
    change(&export.requests)
    let summary = try export.write(to: folder("r.jsonl"))
    let text = try String(contentsOfFile: folder("r.jsonl"), encoding: .utf8)
    #expect(summary.bytes == text.utf8.count)
    var lines = text.split(separator: "\n").map(String.init)
    #expect(summary.variables == lines.count - 2)
    let (header, footer) = (lines.removeFirst(), lines.removeLast())
    return (header, lines, footer)
  }

  private func object(_ line: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  /// A check leaves at 10.1 s, arrives at 11.1 s and is answered at 12.1 s; its answer has come at
  /// 12.11 s. Two batches of 1 s end at 14.11 s. An update of 132 B has left at 14.242 s, arrives
  /// at 15.242 s and is answered at 16.242 s. At the same time the first device comes first.
  @Test("of two phones are these lines")
  func handWorked() throws {
    func check(_ device: Int) -> String {
      "{\"time\": 11.1, \"device\": \"phones/\(device)\", \"request\": \"check\", "
        + "\"verb\": \"GET\", \"path\": \"/api/model/check?version=0\", \"headers\": {}, "
        + "\"body\": null, \"delivered\": true, \"answer\": {\"time\": 12.1, \"status\": 200, "
        + "\"body\": {\"has_update\": false, \"latest_version\": 0, \"online\": true, "
        + "\"client_version\": 0}}}"
    }
    func update(_ device: Int, _ status: String, _ version: Int, _ pending: Int) -> String {
      "{\"time\": 15.242, \"device\": \"phones/\(device)\", \"request\": \"update\", "
        + "\"verb\": \"POST\", \"path\": \"/api/model/update\", "
        + "\"headers\": {\"Content-Type\": \"application/json\"}, "
        + "\"body\": {\"device_id\": \"phones/\(device)\", \"version\": 0, "
        + "\"weight_updates\": null, \"num_samples\": 4, \"training_loss\": null, "
        + "\"validation_accuracy\": null}, \"delivered\": true, "
        + "\"answer\": {\"time\": 16.242, \"status\": 200, \"body\": {\"status\": \"\(status)\", "
        + "\"new_version\": \(version), \"pending_count\": \(pending)}}}"
    }
    let found = try lines(Self.two) { $0.hasWeights = false }
    #expect(
      found.header
        == "{\"format\": \"fedsim-requests\", \"formatVersion\": 1, \"scenario\": \"two\", "
        + "\"seed\": 7, \"startTime\": 1763359200, \"dialects\": {\"phones\": "
        + "\"automatic-backend\"}, \"payload\": \"weights\", \"heartbeatsLeftOut\": 0}")
    #expect(
      found.lines == [
        check(0), check(1), update(0, "pending", 0, 1), update(1, "aggregated", 1, 0),
      ])
    #expect(found.footer == "{\"requests\": 4, \"leftOut\": {}}")
  }

  /// The mean of two updates of 4 samples each is half their sum.
  @Test("hold the parameters that become the next version, and differences where these are sent")
  func parameters() throws {
    let scenario = try Scenario(text: Self.two, file: "s.yaml")
    var simulation = try scenario.makeSimulation()
    let initial = simulation.model
    simulation.run()
    for payload in ["weights", "delta"] {
      let updates = try lines(Self.two, ["server.payload=\(payload)"]).lines.suffix(2).map {
        try #require(try object($0)["body"] as? [String: Any])
      }
      for tensor in simulation.travellingTensors {
        let lists = try updates.map { body in
          let weights = try #require(body["weight_updates"] as? [String: [Double]])
          return try #require(weights[tensor.name])
        }
        let start = initial.values(of: tensor)
        for (place, value) in simulation.model.values(of: tensor).enumerated() {
          let mean = (lists[0][place] + lists[1][place]) / 2
          let from = payload == "delta" ? Double(start[place]) : 0
          #expect(abs(from + mean - Double(value)) < 1e-6)
        }
      }
      #expect(updates.allSatisfy { ($0["training_loss"] as? Double ?? 0) > 0 })
    }
  }

  @Test("are those of the chosen devices and times")
  func chosen() throws {
    let one = try lines(Self.two) {
      $0.hasWeights = false
      $0.devices = ["phones/1"]
    }
    #expect(try one.lines.map { try object($0)["device"] as? String } == ["phones/1", "phones/1"])
    let later = try lines(Self.two) {
      $0.hasWeights = false
      #expect($0.limit(from: "11.1 s", until: "15.242 s") == nil)
    }
    #expect(try later.lines.map { try object($0)["request"] as? String } == ["check", "check"])
    var choice = RequestChoice()
    #expect(choice.limit(from: "soon", until: nil)?.option == "from")
    #expect(choice.limit(from: "2 s", until: "1 s")?.option == "until")
  }

  /// The server is down from 15 s to 40 s: the updates that arrive at 15.242 s reach nobody.
  @Test("that find the server down are not delivered, and have no answer")
  func down() throws {
    let found = try lines(
      Self.two,
      [
        "server.reachable={fixed: {otherwise: up,"
          + " intervals: [{from: 15 s, to: 40 s, state: down}]}}"
      ]
    ) { $0.hasWeights = false }
    let updates = try found.lines.map(object).filter { $0["time"] as? Double == 15.242 }
    #expect(updates.count == 2)
    for update in updates {
      #expect(update["delivered"] as? Bool == false)
      #expect(update["answer"] is NSNull)
    }
  }

  private func requests(_ found: [String], of device: String) throws -> [[String: Any]] {
    try found.map(object).filter { $0["device"] as? String == device }
  }

  @Test("of SwiftSyft carry the worker and the key that PyGrid has handed out")
  func pygrid() throws {
    let found = try lines(
      Self.two,
      [
        "server={policy: pygrid, messageBytes: 100 B, selector: {cycles: {length: 1 h,"
          + " minimumDiffs: 2, maximumDiffs: 2, minimumUpload: 1 kbit/s, planBytes: 50 B}}}",
        "fleet.phones.protocol={worker: {probeBytes: 400 B}}",
        "fleet.phones.app=null",
      ])
    let all = try requests(found.lines, of: "phones/0")
    #expect(
      all.prefix(7).map { "\($0["verb"]!) \($0["request"]!)" } == [
        "POST authenticate", "POST speed-test", "GET speed-test", "POST cycle-request",
        "GET get-model", "GET get-plan", "POST report",
      ])
    let answers = all.map { ($0["answer"] as? [String: Any])?["body"] as? [String: Any] }
    let worker = try #require(answers[0]?["worker_id"] as? String)
    let key = try #require(answers[3]?["request_key"] as? String)
    let path = try #require(all[4]["path"] as? String)
    #expect(path.contains("worker_id=\(worker)&") && path.hasSuffix("request_key=\(key)"))
    let report = try #require(all[6]["body"] as? [String: Any])
    #expect(report["worker_id"] as? String == worker && report["request_key"] as? String == key)
    #expect(all[1]["fill"] as? Int == 400)
    // 8 floats of 4 bytes are 44 characters of base64.
    #expect((report["diff"] as? String)?.count == 44)
    let speeds = try #require(all[3]["body"] as? [String: Any])
    // 500 B in 0.5 s are 8,000 bit/s.
    #expect(speeds["upload"] as? Double == 8_000.0 / 8_388_608)
  }

  @Test("of EdgeML's apps get tokens, register, ask for a round and send weights")
  func edgeml() throws {
    let found = try lines(
      Self.two,
      [
        "fleet.phones.authentication={}", "fleet.phones.registration={}",
        "server.authentication={tokenLife: 1 h}", "server.payload=delta",
      ])
    let all = try requests(found.lines, of: "phones/1")
    #expect(
      all.map { "\($0["verb"]!) \($0["path"]!)" } == [
        "POST /api/v1/device-auth/bootstrap", "POST /api/v1/devices/register",
        "GET /api/v1/training/rounds?device_id=device-1&model_id=two",
        "POST /api/v1/training/weights",
      ])
    let tokens = (all[0]["answer"] as? [String: Any])?["body"] as? [String: Any]
    let token = try #require(tokens?["access_token"] as? String)
    #expect(
      (all[3]["headers"] as? [String: String])?["Authorization"] == "Bearer \(token)")
  }

  @Test("of a fleet that holds streams are refused, and so is a file that exists")
  func refusals() throws {
    let folder = try Folder()
    let streams = try Scenario(
      text: Self.two, file: folder("s.yaml"),
      overrides: ["fleet.phones.protocol={stream: true}", "fleet.phones.app=null"])
    _ = try Run(streams, output: folder("r.h5")).perform()
    var export = Export(folder("r.h5"), as: .requests)
    func message() -> String {
      do throws(RunFailure) {
        _ = try export.write(to: folder("r.jsonl"))
        return "none"
      } catch {
        #expect(error.isBadInput)
        return error.description
      }
    }
    #expect(message().contains("messages are frames of one gRPC stream"))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.contains("jsonl") })
    export.requests.dialect = .automaticBackend
    #expect(message() == "none")
    #expect(message().contains("the file exists; --force replaces it"))
    export.requests.devices = ["phones/9"]
    export.replaces = true
    #expect(message().contains("`phones` has 2 devices"))
  }
}
