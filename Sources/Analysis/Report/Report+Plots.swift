extension Report {
  /// A figure that can be had alone.
  public enum Plot: String, CaseIterable, Sendable {
    case accuracy
    case accuracyByVersion = "accuracy-by-version"
    case accuracyByBytes = "accuracy-by-bytes"
    case accuracyByEnergy = "accuracy-by-energy"
    case loss
    case held
    case fleet
    case participation
    case updates
    case funnel
    case staleness
    case evenness
    case labels
    case effort
    case bytes
    case timeline

    /// What is seen on it.
    public var summary: String {
      switch self {
      case .accuracy: "accuracy on the test samples over simulated time"
      case .accuracyByVersion: "the same over versions"
      case .accuracyByBytes: "the same over bytes sent and received"
      case .accuracyByEnergy: "the same over energy; groups with a battery"
      case .loss: "loss on the test samples over simulated time"
      case .held: "mean accuracy of the versions that devices hold"
      case .fleet: "devices online, plugged in, idle and training by hour of day"
      case .participation: "participations by hour of day"
      case .updates: "aggregated updates over the run"
      case .funnel: "how far participations came"
      case .staleness: "staleness of aggregated updates"
      case .evenness: "how evenly devices take part"
      case .labels: "labels among the data, and among what was aggregated"
      case .effort: "device-time of trainings by what became of it"
      case .bytes: "bytes by link, and whether they were lost"
      case .timeline: "what a device was and did; needs `record.timelineOf`"
      }
    }

    /// Whether it shows several results at once, and not the first alone.
    public var isOfAll: Bool {
      switch self {
      case .accuracy, .accuracyByVersion, .accuracyByBytes, .accuracyByEnergy, .loss, .held: true
      default: false
      }
    }
  }

  /// A figure as an SVG file; nil where the results hold nothing to show on it.
  public func svg(_ plot: Plot) -> String? {
    func file(_ figure: Figure) -> String? { figure.isEmpty ? nil : figure.svg }
    func file(_ figure: BarFigure) -> String? { figure.isEmpty ? nil : figure.svg }
    func accuracy(_ along: ReportRun.Along) -> Figure {
      curves(
        "centralAccuracy", along, title: "Accuracy \(along.words)",
        .init("accuracy on the test samples", .share, includesZero: true))
    }
    let run = groups[0].runs[0]
    switch plot {
    case .accuracy: return file(accuracy(.time))
    case .accuracyByVersion: return file(accuracy(.versions))
    case .accuracyByBytes: return file(accuracy(.bytes))
    case .accuracyByEnergy: return file(accuracy(.joules))
    case .loss:
      return file(
        curves(
          "centralLoss", .time, title: "Loss over time",
          .init("mean loss on the test samples", .number, includesZero: true)))
    case .held:
      return file(
        curves(
          "heldAccuracy", .time, title: "What devices hold",
          .init("mean accuracy of the versions on the devices", .share, includesZero: true)))
    case .fleet: return file(byHourOfDay(run))
    case .participation: return file(participationsByHour(run))
    case .updates: return file(sessions(run))
    case .funnel: return file(funnel(run))
    case .staleness: return file(staleness(run))
    case .evenness: return file(participations(run))
    case .labels: return file(labels(run))
    case .effort: return file(effort(run))
    case .bytes: return file(bytes(run))
    case .timeline: return gantts(run).first?.svg
    }
  }
}
