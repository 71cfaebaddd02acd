import Testing

import FedSim
import Numerics
import Scenarios
import Schema

@Suite("Scenarios")
struct ScenarioTests {
  static let text = """
    name: overnight
    seed: 7
    seeds: {policy: 8}
    start: 2025-11-17T22:00:00Z
    stop: {after: 14 d, versions: 100}
    task:
      data:
        source: {blobs: {classes: 3}}
        partition: {dirichlet-by-device: {clients: 1600, alpha: 0.3}}
      model: {mlp: [20, 10]}
      training: {epochs: 2, batchSize: 5, optimizer: {sgd: 0.1}}
    fleet:
      - name: phones
        count: 800
        power: {weekly: {intervals: [{from: "22:00", to: "07:00"}]}}
        link: {fixed: cellular}
        compute: {perBatch: 600 ms}
        background: {processing: {requiresExternalPower: true}}
        interruption: {onExpiry: checkpoint}
      - {name: tablets, count: 100}
    server:
      trigger: {threshold: 3, every: 30 min}
      aggregator: uniform-mean
    inject: [{at: 1 h, device: phones/799, action: kill}]
    record: {evaluateEvery: 5}
    """

  @Test("values arrive in the settings")
  func values() throws {
    let settings = try Scenario(text: Self.text).settings
    #expect(settings.name == "overnight")
    #expect(settings.start.text == "2025-11-17T22:00:00Z")
    #expect(settings.stop.after == .days(14))
    #expect(settings.stop.versions == 100)
    #expect(settings.task.model.name == "mlp")
    let network = try settings.task.model.value.network(
      sampleShape: [4], classCount: 3, loss: settings.task.training.loss.loss(for: .classes)!)
    #expect(network.layers.count == 3)
    #expect(settings.task.training.plan.learningRate == 0.1)
    #expect(settings.task.training.plan.length == .epochs(2))
    #expect(settings.fleet.map(\.name) == ["phones", "tablets"])
    #expect(settings.fleet[0].compute.perBatch == .milliseconds(600))
    #expect(settings.fleet[0].background.processing?.requiresExternalPower == true)
    #expect(settings.fleet[1].background.processing == nil)
    #expect(settings.server.trigger.map(\.name) == ["threshold", "every"])
    #expect(settings.server.aggregator.name == "uniform-mean")
    #expect(settings.record.evaluateEvery.versions == 5)
  }

  @Test("sub-seeds are the seed unless they are written")
  func seeds() throws {
    let seeds = try Scenario(text: Self.text).seeds
    #expect((seeds.world, seeds.data, seeds.initial) == (7, 7, 7))
    #expect((seeds.training, seeds.policy, seeds.ties) == (7, 8, 7))
  }

  @Test("the resolved text is itself a scenario, with the same digest")
  func resolvedText() throws {
    let scenario = try Scenario(text: Self.text, overrides: ["server.trigger.threshold=5"])
    let again = try Scenario(text: scenario.resolvedText)
    #expect(again.resolvedNode.hasSameContent(as: scenario.resolvedNode))
    #expect(again.resolvedText == scenario.resolvedText)
    #expect(again.digest == scenario.digest)
    #expect(scenario.resolvedText.contains("updates: 5"))
    #expect(scenario.resolvedText.contains("idleDwell: 5 min"))
  }

  @Test("a part that is there twice stays in a list in the resolved text")
  func twice() throws {
    let text = Self.text + "\n"
    let scenario = try Scenario(text: text, overrides: ["server.transforms=[sign, sign]"])
    let again = try Scenario(text: scenario.resolvedText)
    #expect(again.resolvedNode.hasSameContent(as: scenario.resolvedNode))
    #expect(again.settings.server.transforms.map(\.name) == ["sign", "sign"])
    let once = try Scenario(text: text, overrides: ["server.transforms=[sign]"])
    #expect(once.resolvedText.contains("transforms:\n    sign:"))
  }

  @Test("the digest names the values, not the way they were written")
  func digest() throws {
    let a = try Scenario(text: "fleet: [{name: a, count: 1}]\nstop: 1 d\nseed: 1\n", file: "x.yaml")
    let b = try Scenario(
      text: "# Another way.\nbase: base.yaml\nstop: {after: 24 h}\nname: x\n", file: "y.yaml",
      files: Toy.files(["base.yaml": "fleet:\n- count: 1\n  name: a\n"]))
    #expect(a.resolvedText == b.resolvedText)
    #expect(a.digest == b.digest)
    let c = try Scenario(text: "fleet: [{name: a, count: 1}]\nstop: 1 d\nseed: 2\n", file: "x.yaml")
    #expect(a.digest != c.digest)
    var digest = SHA256()
    digest.update(a.resolvedNode.json.utf8)
    #expect(a.digest == digest.hexDigest())
  }

  @Test("a scenario without a name has its file's")
  func nameOfFile() throws {
    let scenario = try Scenario(text: "fleet: [{name: a, count: 1}]\n", file: "d/night.v2.yaml")
    #expect(scenario.settings.name == "night.v2")
    #expect(scenario.path(of: "../x/w.npz") == "x/w.npz")
    #expect(scenario.path(of: "/w.npz") == "/w.npz")
  }

  @Test("assumptions are listed with path and value; what was written is distinguished")
  func assumptions() throws {
    let scenario = try Scenario(text: Self.text)
    let found = scenario.assumptions
    let batch = found.first { $0.path == "fleet[0].compute.perBatch" }
    #expect(batch?.value.json == "\"600 ms\"")
    #expect(batch?.isDefault == false)
    let delay = found.first { $0.path == "fleet[0].background.processing.startDelay" }
    #expect(delay?.value.json == "\"15 min\"")
    #expect(delay?.isDefault == true)
    #expect(found.contains { $0.path == "fleet[1].network.wifi.down" && $0.isDefault })
    #expect(!found.contains { $0.path.hasPrefix("fleet[1].background.processing") })
  }

  @Test("values of a base and of overrides are in the settings; shorthand can be gone below")
  func baseAndOverrides() throws {
    let scenario = try Scenario(
      text: "base: base.yaml\nserver: {trigger: {every: 1 h}, aggregator: uniform-mean}\n",
      overrides: ["fleet.tablets.count=5", "server.trigger.every.minimum=9", "stop.rounds=4"],
      files: Toy.files(["base.yaml": Self.text]))
    #expect(scenario.settings.fleet[1].count == 5)
    #expect(scenario.settings.stop.rounds == 4)
    #expect(scenario.settings.stop.after == .days(14))
    #expect(
      scenario.resolvedNode["server"]?["trigger"]?.json
        == #"{"threshold":{"updates":3},"every":{"period":"1 h","minimum":9}}"#)
  }

  @Test("1,000 mutations of a scenario give a scenario or faults with a place, and never a crash")
  func mutations() {
    let key = StreamKey(seed: 20_251_117, purpose: "test.mutation")
    let original = Array(Self.text.utf8)
    let words = [
      "12:30", "-1", ".inf", "[", "{", "*a", "&a", "\"", "'", "\t", "null", "1e99", "\n", ":", "- ",
      "? ", "<<: ", "!!int ", "%YAML 1.2\n", "---\n", "|\n", ">\n", "\u{FEFF}",
      "999999999999999999999",
    ].map { Array($0.utf8) }
    var rejected = 0
    for slot in 0..<1_000 {
      var stream = key.stream(slot: UInt64(slot))
      var bytes = original
      for _ in 0...stream.below(3) {
        let at = Int(stream.below(UInt32(bytes.count)))
        switch stream.below(9) {
        case 0: bytes[at] ^= UInt8(1 << stream.below(8))
        case 1: bytes.removeSubrange(at..<min(bytes.count, at + 1 + Int(stream.below(30))))
        case 2: bytes.insert(contentsOf: words[Int(stream.below(UInt32(words.count)))], at: at)
        case 3:
          let from = Int(stream.below(UInt32(bytes.count)))
          bytes.insert(contentsOf: bytes[from..<min(bytes.count, from + 20)], at: at)
        case 4: bytes.removeSubrange(at...)
        default:
          let digits = bytes.indices.filter { (48...57).contains(bytes[$0]) }
          guard !digits.isEmpty else { continue }
          bytes[digits[Int(stream.below(UInt32(digits.count)))]] = 49 + UInt8(stream.below(9))
        }
        if bytes.isEmpty { bytes = [0x20] }
      }
      let mutated = bytes
      do throws(Faults) {
        let scenario = try Scenario(
          contentsOf: "m.yaml", files: ScenarioFiles { _ in .success(mutated) })
        let again = try? Scenario(text: scenario.resolvedText, file: "m.yaml")
        #expect(again?.digest == scenario.digest, "slot \(slot)")
      } catch {
        rejected += 1
        #expect(!error.faults.isEmpty, "slot \(slot)")
        for fault in error.faults {
          #expect(fault.place.file == "m.yaml" && fault.place.line > 0, "slot \(slot): \(fault)")
          #expect(fault.place.column > 0 && !fault.message.isEmpty, "slot \(slot): \(fault)")
        }
      }
    }
    #expect((500..<1_000).contains(rejected), "\(rejected) of 1,000 rejected")
  }
}
