import Scenarios
import Schema
import Testing

@Suite("Words of the field")
struct KeyAdviceTests {
  private static let text = """
    task:
      data: {source: {blobs: {classes: 3}}, partition: {iid: {clients: 20}}}
      model: {mlp: [4]}
    fleet: [{name: a, count: 20}]
    """

  @Test("Every example is an argument that a scenario takes")
  func examples() throws {
    #expect(KeyAdvice.entries.count >= 20)
    for entry in KeyAdvice.entries {
      #expect(entry.example != nil || entry.advice != nil)
      guard let example = entry.example else { continue }
      // A convolution wants images, an LSTM sequences.
      let isOfOtherData = ["cnn-", "lstm", "mobilenet"].contains { example.contains($0) }
      let images = "task.data.source=fashion-mnist"
      _ = try Scenario(text: Self.text, overrides: (isOfOtherData ? [images] : []) + [example])
    }
  }

  @Test("Advice on cohorts and thresholds leaves no trigger of the file in force")
  func triggers() throws {
    for entry in KeyAdvice.entries {
      guard let example = entry.example, example.contains("trigger") else { continue }
      let scenario = try Scenario(
        text: Self.text, overrides: ["server.trigger={threshold: 19, every: 3 h}", example])
      #expect(!scenario.settings.server.trigger.contains { $0.name == "every" })
    }
  }

  @Test(
    "An unknown key or name says how a scenario says it",
    arguments: [
      ("strategy=fedprox", "here that is, for example, `--set 'server.policy=fedavg'`"),
      (
        "server.fraction_fit=0.1",
        "here that is, for example, `--set 'server={policy: flower, selector: "
      ),
      (
        "task.training.lr=0.1",
        "here that is, for example, `--set 'task.training.optimizer.sgd=0.05'`"
      ),
      (
        "task.training.local_epochs=2",
        "here that is, for example, `--set 'task.training.epochs=5'`"
      ),
      ("threshold=5", "here that is, for example, `--set 'server.trigger=[{threshold: 5}]'`"),
      ("task.data.partition=non-iid", "`--set 'task.data.partition={dirichlet-by-device: "),
      ("server.aggregator=fedavg", "`--set 'server.aggregator=sample-weighted-mean'`"),
      ("stop.targetAccuracy=0.8", "`--set 'stop.accuracy=0.9'`"),
      ("server.fraction_evaluate=0.5", "devices evaluate the model with `server.evaluation`"),
      ("task.training.weight_decay=0.1", "weightDecay: 1e-4"),
      ("task.model=logistic", "here that is, for example, `--set 'task.model=softmax'`"),
      ("task.model=resnet50", "a network is a list of layers"),
      ("task.model=resnet", "there is no model `resnet`, but:\n  resnet20: "),
      (
        "task.model=mobilenet", "here that is, for example, `--set 'task.model=mobilenet-v2-small'`"
      ),
      ("task.model=lenet", "there is no model `lenet`, but:\n  lenet5: "),
      ("expect=[{accuracy: 0.8}]", "`centralAccuracy` is of the test samples"),
      ("task.training.batchsize=2", "did you mean `batchSize`?"),
    ])
  func words(override: String, message: String) {
    do throws(Faults) {
      _ = try Scenario(text: Self.text, overrides: [override])
      Issue.record("\(override) is taken")
    } catch {
      #expect(error.description.contains(message), "\(error.description)")
    }
  }

  @Test("Where several parts are near, all are named with a line each")
  func several() {
    do throws(Faults) {
      _ = try Scenario(
        text: Self.text, overrides: ["task.data.partition={dirichlet: {clients: 4}}"])
      Issue.record("there is such a partition")
    } catch {
      let lines = error.description.split(separator: "\n")
      #expect(lines[0].hasSuffix("there is no partition `dirichlet`, but:"))
      #expect(lines.count == 9)
      #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("  ") && $0.contains("dirichlet") })
      #expect(lines[1].hasPrefix("  dirichlet-by-device: A Dirichlet mix of labels"))
    }
  }
}
