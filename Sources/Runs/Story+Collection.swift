import FedSim

extension Story {
  /// Whether the device trains nothing and sends its samples instead.
  var isCollecting: Bool { group.collection != nil }

  /// The outcome of the files of a device that collects.
  var collected: Verdict {
    let steps = collectionSteps
    for (time, step) in steps.reversed() {
      if case .ended(let file, .trained) = step {
        return Verdict(
          .contributed, "its file \(file) was used in a training at the server",
          "its file \(file) was used in a training at the server at \(time.words)")
      }
    }
    for (time, step) in steps.reversed() {
      switch step {
      case .ended(let file, let outcome) where outcome != .unfinishedAtEnd && outcome != .unread:
        return Verdict(
          outcome == .erased ? .erased : .collects,
          "its file \(file) \(Self.text(outcome))",
          "its file \(file) \(Self.text(outcome)) at \(time.words)")
      case .stored(let file):
        return Verdict(
          .collects, "its file waited in the store for a training",
          "its file \(file) was in the store from \(time.words) on, but no training used it"
        )
      case .uploadFailed(let file, let outcome):
        let how = outcome.map { Self.text($0) } ?? "there was no link"
        return Verdict(
          .collects, "the upload of its file failed: \(how)",
          "sending file \(file) failed at \(time.words) (\(how)), and it was not sent again")
      case .formatted(let file, _, _):
        return Verdict(
          .collects, "its file was in transit",
          "its file \(file), formatted at \(time.words), was in transit at \(to.words)")
      case .dataCleared(let samples):
        return Verdict(
          .collects, "its app cleared what it had collected",
          "its app cleared \(Words.count(samples, "sample")) at \(time.words)")
      default: continue
      }
    }
    let ran = inside.contains { if case .sessionBegan = $0.kind { true } else { false } }
    guard ran else { return withoutSession }
    if let ending = inside.last(where: { $0.kind == .sessionEnded(.ineligible) }) {
      return Verdict(
        .notEligible,
        "a condition of its app did not hold when it ran (\(unmet(at: ending.time)))")
    }
    return Verdict(
      .collects, "it collects data for training at the server, and had nothing new to format",
      "its app ran, but had nothing new to format")
  }

  private var collectionSteps: [(time: SimTime, step: CentralStep)] {
    inside.compactMap { event in
      guard case .central(let step) = event.kind else { return nil }
      return (event.time, step)
    }
  }

  /// What happened to a file or a model, in a clause; nil: not worth one.
  func collectionClause(_ kind: ObservedEvent.Kind) -> String? {
    guard case .central(let step) = kind else { return nil }
    switch step {
    case .formatted(let file, let samples, let bytes):
      return
        "it formatted \(Words.count(samples, "sample")) as file \(file) of "
        + Words.count(Int(bytes), "byte")
    case .uploadBegan(let file): return "it began to send file \(file)"
    case .uploadFailed(let file, let outcome):
      return
        "sending file \(file) failed: \(outcome.map { Self.text($0) } ?? "there was no link")"
    case .stored(let file): return "file \(file) was in the store"
    case .itemStored(let file): return "the metadata of file \(file) were in the store"
    case .itemFailed(let file): return "the metadata of file \(file) were not sent"
    case .ended(let file, let outcome): return "file \(file) \(Self.text(outcome))"
    case .retried(let files): return "it retried \(Words.count(files, "failed upload"))"
    case .dataCleared(let samples): return "it cleared \(Words.count(samples, "sample"))"
    case .logCleared(let files):
      return "it cleared its error log of \(Words.count(files, "file"))"
    case .fetchFailed(let model): return "it could not fetch the model `\(name(of: model))`"
    case .inUse(let model, let version):
      return "version \(version) of the model `\(name(of: model))` was in use on it"
    case .trainingBegan(let model, let samples):
      return
        "the server began to train the model `\(name(of: model))` on "
        + Words.count(samples, "sample")
    case .published(let model, let version):
      return "the server published version \(version) of the model `\(name(of: model))`"
    }
  }

  private func name(of model: Int) -> String { inputs.centralNames[model] }

  /// How a file ends.
  static func text(_ outcome: FileOutcome) -> String {
    switch outcome {
    case .trained: "was used in a training at the server"
    case .overwritten: "was overwritten by a later file of the same name"
    case .erased: "was erased by its user"
    case .cleared: "was cleared with the error log"
    case .forgotten: "was forgotten: it is in no list of failed uploads"
    case .uninstalled: "was lost with the app, which was removed"
    case .deviceLeft: "was lost: the device left the fleet"
    case .unread: "was in the store, unused, when the run ended"
    case .unfinishedAtEnd: "was on the device when the run ended"
    }
  }
}
