extension Report {
  /// A figure of the page, which can be had alone too.
  public enum Plot: String, CaseIterable, Sendable {
    case accuracy
    case accuracyByVersion = "accuracy-by-version"
    case accuracyByBytes = "accuracy-by-bytes"
    case accuracyByEnergy = "accuracy-by-energy"
    case central
    case loss
    case lossByVersion = "loss-by-version"
    case held
    case ownModels = "own-models"
    case spread
    case trainingLoss = "training-loss"
    case fleet
    case participation
    case updates
    case funnel
    case interruptions
    case staleness
    case evenness
    case labels
    case effort
    case bytes
    case attempts
    case updateEnds = "update-ends"
    case transmissions
    case files
    case uploads
    case timeline

    /// What is seen on it.
    public var summary: String {
      switch self {
      case .accuracy: "accuracy on the test samples over simulated time"
      case .accuracyByVersion: "accuracy on the test samples over versions"
      case .accuracyByBytes: "accuracy on the test samples over bytes sent and received"
      case .accuracyByEnergy: "accuracy on the test samples over energy; groups with a battery"
      case .central: "accuracy of the models that the server trains on devices' files"
      case .loss: "loss on the test samples over simulated time"
      case .lossByVersion: "loss on the test samples over versions"
      case .held: "mean accuracy of the versions that devices hold"
      case .ownModels: "accuracy of the models that the server trains for single users"
      case .spread: "accuracy on devices' own samples; needs `record.federatedEvaluation`"
      case .trainingLoss: "loss of trainings and loss on the test samples"
      case .fleet: "devices online, plugged in, idle and training by hour of day"
      case .participation: "participations by hour of day"
      case .updates: "aggregated updates over the run"
      case .funnel: "funnel of participation, and what was lost at each step"
      case .interruptions:
        "trainings expired, checkpointed and resumed, updates that waited, by hour of day"
      case .staleness: "staleness of aggregated updates"
      case .evenness: "how evenly devices participate"
      case .labels: "labels in the data, and in what was aggregated"
      case .effort: "training time of devices by outcome"
      case .bytes: "bytes by link, delivered or lost"
      case .attempts: "training attempts by outcome"
      case .updateEnds: "updates by outcome"
      case .transmissions: "transmissions by outcome"
      case .files: "files for the server's store by outcome"
      case .uploads: "uploads of files and model downloads, successful and failed"
      case .timeline: "what a device was and did; needs `record.timelineOf`"
      }
    }

    /// Whether it shows several results at once, and not the first alone.
    public var isOfAll: Bool {
      switch self {
      case .accuracy, .accuracyByVersion, .accuracyByBytes, .accuracyByEnergy, .central, .loss,
        .lossByVersion, .held, .ownModels:
        true
      case .spread, .trainingLoss, .fleet, .participation, .updates, .funnel, .interruptions,
        .staleness, .evenness, .labels, .effort, .bytes, .attempts, .updateEnds, .transmissions,
        .files,
        .uploads, .timeline:
        false
      }
    }

    /// What it is made of, any of these.
    var sources: [String] {
      switch self {
      case .accuracy: ["versions/centralAccuracy", "central/testAccuracy"]
      case .accuracyByVersion: ["versions/centralAccuracy"]
      case .accuracyByBytes: ["versions/bytesUp"]
      case .accuracyByEnergy: ["versions/joules"]
      case .central: ["central/testAccuracy"]
      case .loss: ["versions/centralLoss", "central/testLoss"]
      case .lossByVersion: ["versions/centralLoss"]
      case .held: ["versions/heldAccuracy", "central/heldAccuracy"]
      case .ownModels: ["central/userAccuracy"]
      case .spread: ["versions/federatedAccuracy", "versions/federatedRMSE"]
      case .trainingLoss: ["versions/trainingLoss"]
      case .fleet: ["fleetHours/present"]
      case .participation, .updates, .funnel: ["hours/eligible"]
      case .interruptions: ["fleetHours/expiredTrainings"]
      case .staleness: ["staleness/updates"]
      case .evenness: ["devices/aggregated", "collection/trained"]
      case .labels: ["partition/labelHistogram"]
      case .effort: ["effort/deviceSeconds"]
      case .bytes: ["effort/bytesUp"]
      case .attempts: ["ledger/attempts"]
      case .updateEnds: ["ledger/updates"]
      case .transmissions: ["ledger/transmissions"]
      case .files: ["central/filesEnded"]
      case .uploads: ["collection/stored"]
      case .timeline: ["timeline/work"]
      }
    }

    /// When results hold that.
    var condition: String {
      switch self {
      case .accuracyByEnergy: "where a group has a `battery`, since schema 2"
      case .central, .ownModels, .files, .uploads: "where a group has `collection`"
      case .spread: "with `record.federatedEvaluation`"
      case .fleet, .interruptions: "unless `record.fleetHours` is false, since schema 2"
      case .labels: "where data are divided among clients"
      case .timeline: "with `record.timelineOf`, such as `record: {timelineOf: [phones/0]}`"
      case .accuracyByBytes, .held, .staleness, .effort, .bytes:
        "in results of schema 2, where something is learned"
      case .accuracy, .accuracyByVersion, .loss, .lossByVersion, .trainingLoss, .participation,
        .updates, .funnel, .evenness, .attempts, .updateEnds, .transmissions:
        "where something is learned"
      }
    }

    /// Why it can be empty nevertheless.
    func emptiness(_ run: ReportRun) -> String {
      let hasVersions = (run.versions?.length(of: "version") ?? 0) > 1
      switch self {
      case .accuracyByBytes where run.has("versions/centralRMSE"),
        .accuracyByEnergy where run.has("versions/centralRMSE"):
        return "the targets are numbers, and have no accuracy"
      case .accuracy, .loss:
        return run.lastMoment > 0 ? "no version was evaluated" : "the run stopped at its start"
      case .accuracyByVersion, .accuracyByBytes, .accuracyByEnergy, .lossByVersion:
        return hasVersions ? "no version was evaluated" : "no version came after the initial model"
      case .central: return "the server published no model that was evaluated"
      case .held:
        return hasVersions || run.central != nil
          ? "no device held a version that was evaluated"
          : "no version came after the initial model"
      case .ownModels: return "no model is for a single user"
      case .spread: return "no version was evaluated on the devices' samples"
      case .fleet: return "no device was in the fleet"
      case .participation:
        return run.length < 86_400
          ? "the run is shorter than a day" : "no device participated in a round"
      case .funnel: return "no device participated in a round"
      case .interruptions: return "no training and no update was interrupted"
      case .labels: return "the data have no labels, or too many"
      case .trainingLoss, .updates, .staleness:
        return "no update became part of a version"
      case .evenness:
        return run.central == nil ? "no update became part of a version" : "no device contributed"
      case .effort: return "no device trained"
      case .bytes: return "nothing was sent or received"
      case .attempts: return "no training started"
      case .updateEnds: return "no update was made"
      case .transmissions: return "nothing was transmitted for rounds"
      case .files: return "no file was made"
      case .uploads: return "nothing was uploaded or fetched"
      case .timeline: return "no device's states are stored"
      }
    }
  }

  /// A figure as an SVG file; nil where there is nothing to show on it.
  public func svg(_ plot: Plot) -> String? {
    let panel = panel(plot, groups[0].runs[0])
    return panel.missing == nil ? panel.svg : nil
  }

  /// Why there is nothing to show on a figure; nil: there is something.
  public func obstacle(_ plot: Plot) -> String? {
    switch panel(plot, groups[0].runs[0]).missing {
    case .absent(let reason)?, .empty(let reason)?: reason
    case nil: nil
    }
  }
}
