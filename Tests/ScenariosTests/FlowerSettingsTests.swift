import FedSim
import Scenarios
import Schema
import Testing

@Suite("What a Flower program's clients compute, as a scenario states it")
struct FlowerSettingsTests {
  private func scenario(_ flower: String, _ rest: String = "", group: String = "") throws
    -> Scenario
  {
    try Scenario(
      text: """
        task: {flower: \(flower)\(rest)}
        fleet: [{name: a, count: 3, profile: flower-node\(group)}]
        server: {policy: flower-app}
        """)
  }

  private func faults(_ flower: String, _ rest: String = "", group: String = "") -> [String] {
    do {
      _ = try scenario(flower, rest, group: group)
    } catch let faults as Faults {
      return faults.faults.map(\.path)
    } catch { return ["\(error)"] }
    return []
  }

  @Test("a number or a list is read, and is the same when read from its resolved form")
  func resolved() throws {
    for samples in ["20", "[20, 30, 40]"] {
      let flower = "{samples: \(samples), batchSize: 10, epochs: 2}"
      let scenario = try scenario(flower)
      #expect(scenario.settings.task.flower?.samples.count == (samples == "20" ? 1 : 3))
      // What devices train by follows from it.
      #expect(scenario.settings.task.training.batchSize == 10)
      #expect(scenario.settings.task.training.epochs == 2)
      #expect(scenario.settings.task.learning == TaskSettings.Learning.none)
      let again = try Scenario(text: scenario.resolvedText)
      #expect(again.resolvedText == scenario.resolvedText)
    }
  }

  @Test("what is not stated, and what the program cannot do, is a fault at its key")
  func refused() {
    let whole = "{samples: 20, batchSize: 10, epochs: 2}"
    #expect(faults(whole) == [])
    #expect(faults("{batchSize: 10, epochs: 2}") == ["task.flower"])
    #expect(faults(whole, ", model: softmax") == ["task.model"])
    #expect(
      faults("{samples: [1, 2], evaluationSamples: [1, 2, 3], batchSize: 1, epochs: 1}") == [
        "task.flower.evaluationSamples"
      ])
    #expect(
      faults(whole, group: ", interruption: {onExpiry: checkpoint}") == [
        "fleet[0].interruption.onExpiry"
      ])
    #expect(faults(whole, group: ", protocol: {stream: false}") == ["fleet[0]"])
  }
  @Test("samples of all clients together are bounded", arguments: [(10, 0), (11, 1)])
  func total(devices: Int, expected: Int) {
    // A thousand million is the most.
    var found: [String] = []
    do throws(Faults) {
      _ = try Scenario(
        text: """
          task: {flower: {samples: 100000000, batchSize: 10, epochs: 2}}
          fleet: [{name: a, count: \(devices), profile: flower-node}]
          server: {policy: flower-app}
          """)
    } catch {
      found = error.faults.map(\.path)
    }
    #expect(found == Array(repeating: "task.flower.samples", count: expected))
  }
}
