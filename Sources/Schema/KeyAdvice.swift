/// What users of other frameworks and of papers call things, and how a scenario says it.
public enum KeyAdvice {
  /// Some words, and what is meant here.
  public struct Entry: Sendable {
    /// The words, without `-` and `_`, in lower case.
    public let words: [String]
    /// How a scenario says it, as an argument of `--set`; nil: only the advice helps.
    public let example: String?
    /// More than the example says.
    public let advice: String?

    init(_ words: [String], _ example: String?, _ advice: String? = nil) {
      (self.words, self.example, self.advice) = (words, example, advice)
    }
  }

  /// All that is known, in the order in which it is looked up.
  public static let entries: [Entry] = [
    Entry(
      ["strategy", "aggregation", "algorithm"], "server.policy=fedavg", "see `fedsim list policy`"),
    Entry(
      ["fractionfit", "fractiontrain", "participationrate", "clientfraction", "c"],
      "server={policy: flower, selector: {fraction: 0.1}, "
        + "trigger: [cohort-complete, {deadline: 10 min}]}"),
    Entry(
      ["clientsperround", "cohortsize", "minfitclients", "samplesize", "kclients"],
      "server={policy: synchronous-fedavg, selector: {uniform: {cohort: 5}}, "
        + "trigger: [cohort-complete, {deadline: 10 min}]}"),
    Entry(["lr", "learningrate", "eta", "stepsize"], "task.training.optimizer.sgd=0.05"),
    Entry(
      ["weightdecay", "wd", "l2"],
      "task.training.optimizer={sgd: {learningRate: 0.05, weightDecay: 1e-4}}"),
    Entry(["momentum"], "task.training.optimizer={sgd: {learningRate: 0.05, momentum: 0.9}}"),
    Entry(
      ["localepochs", "numepochs", "epochsperround", "e", "epochs"], "task.training.epochs=5"),
    Entry(["localbatchsize", "bs", "batch", "batchsize"], "task.training.batchSize=32"),
    Entry(
      ["rounds", "numrounds", "nrounds", "maxrounds", "globalrounds", "commrounds"],
      "stop.rounds=20"),
    Entry(["duration", "until", "hours", "days", "time"], "stop.after=2 d"),
    Entry(
      ["clients", "numclients", "nclients", "numdevices", "devices", "supernodes"],
      "fleet[0].count=100", "the partition has its own number, `task.data.partition.iid.clients`"),
    Entry(["threshold", "minupdates", "buffersize"], "server.trigger=[{threshold: 5}]"),
    Entry(
      ["timeout", "deadline", "roundtimeout"],
      "server={policy: synchronous-fedavg, trigger: [cohort-complete, {deadline: 10 min}]}"),
    Entry(
      ["fractionevaluate", "minevaluateclients", "fractioneval"], nil,
      "devices evaluate the model with `server.evaluation` (`fraction`, `minimum`), where the "
        + "selector lets devices wait"),
    Entry(["targetaccuracy", "targetacc", "stopaccuracy"], "stop.accuracy=0.9"),
    Entry(
      ["iid", "noniid", "niid", "alpha", "dirichletalpha"],
      "task.data.partition={dirichlet-by-device: {clients: 100, alpha: 0.5}}",
      "see `fedsim list partition`"),
    Entry(["fedavg", "mean", "average"], "server.aggregator=sample-weighted-mean"),
    Entry(["dataset", "datasetname"], "task.data.source=fashion-mnist"),
    Entry(["mu", "proximalmu"], "task.training.algorithm=fedprox"),
    Entry(["clippingnorm", "maxgradnorm", "gradclip"], "task.training.clipNorm=1"),
    Entry(["staleness", "maxstaleness"], "server.maximumStaleness=5"),
    Entry(
      ["accuracy", "testaccuracy", "acc"], nil,
      "`centralAccuracy` is of the test samples at the last version, `bestAccuracy` the best of "
        + "all versions, `federatedAccuracy` the mean over devices"),
    Entry(
      ["logistic", "logisticregression", "linear"], "task.model=softmax"),
    Entry(["cnn", "convnet"], "task.model=cnn-mcmahan"),
    Entry(["mobilenet", "mobilenetv2"], "task.model=mobilenet-v2-small"),
    Entry(["rnn"], "task.model.lstm.units=32"),
    Entry(
      [
        "resnet34", "resnet50", "vgg", "vgg11", "vgg16", "efficientnet",
        "transformer", "bert", "vit",
      ], nil,
      "a network is a list of layers (`task.model.layers`, `fedsim list layer`), `residual` and "
        + "`attention` among them; `python -m pyfedsim.from_torch` writes it for a PyTorch module"),
  ]

  /// What to say of a word where nothing has its name; nil: nothing.
  public static func advice(for word: String) -> String? {
    let folded = word.lowercased().filter { $0 != "-" && $0 != "_" }
    guard let entry = entries.first(where: { $0.words.contains(folded) }) else { return nil }
    let example = entry.example.map { "here that is, for example, `--set '\($0)'`" }
    return [example, entry.advice].compactMap { $0 }.joined(separator: "; ")
  }
}
