import Schema

/// A policy by its usual name: values for several keys of `server` at once.
public struct PolicyPreset: Sendable {
  /// Its name in `policy:`.
  public let name: String
  /// One sentence on the policy, for `fedsim list`.
  public let summary: String
  /// The settings that it fills.
  public let settings: Node

  /// The presets, in the order in which they are listed.
  public static let standard: [PolicyPreset] =
    [
      PolicyPreset(
        name: "fedavg",
        summary: "Open participation: weights, aggregated from 3 updates on, checked every 30 min",
        settings: .mapping([
          ("payload", .text("weights")),
          ("selector", .text("open")),
          ("trigger", .mapping([("threshold", .text("3")), ("every", .text("30 min"))])),
          ("aggregator", .text("sample-weighted-mean")),
        ])),
      PolicyPreset(
        name: "synchronous-fedavg",
        summary: "Cohorts of 10 of 13 waiting devices, differences, closed after at most 10 min",
        settings: synchronous(but: [])),
      PolicyPreset(
        name: "pygrid",
        summary:
          "PyGrid as coded: cycles, differences, their plain mean, reports overwritten",
        settings: .mapping([
          ("payload", .text("delta")), ("selector", .text("cycles")),
          ("trigger", .text("cycle-end")), ("aggregator", .text("uniform-mean")),
          ("duplicates", .text("overwrite")),
        ])),
      PolicyPreset(
        name: "flower",
        summary:
          "Flower's FedAvg: all connected devices, weights, until each has replied or failed",
        settings: .mapping([
          ("payload", .text("weights")),
          ("selector", .mapping([("fraction", .mapping([("waitLimit", .text("24 h"))]))])),
          ("trigger", .text("cohort-answered")), ("aggregator", .text("sample-weighted-mean")),
        ])),
      PolicyPreset(
        name: "flower-app",
        summary: "A Flower program's own strategy, played by `pyfedsim.flower.run`",
        settings: .mapping([
          ("payload", .text("weights")), ("selector", .text("flower-app")),
          ("trigger", .text("flower-app")),
        ])),
    ] + published
}

/// Policies by their papers' names that are no part of the server, and where they are.
private let elsewhere: [String: String] = {
  var words: [String: String] = [:]
  for name in ["fedprox", "scaffold", "ditto", "feddyn", "fedbn"] {
    words[name] = "`\(name)` is a local algorithm: `task.training.algorithm: \(name)`"
  }
  words["fedper"] = "`fedper` is a local algorithm: `task.training.algorithm: personal-layers`"
  words["dp-fedavg"] = "`dp-fedavg` consists of a transform and noise: `transforms`, `privacy`"
  return words
}()

extension Form where Value == String {
  /// The name of a policy. `Form.server`, which fills the settings from it, refuses a wrong one.
  static var policy: Form { identifier(of: PolicyPreset.standard.map(\.name)) }
}

extension Form where Value == ServerSettings {
  /// The server's settings, filled from a preset where `policy` names one.
  public static var server: Form {
    let plain = Form.settings()
    return Form(
      shape: plain.shape, expected: plain.expected,
      read: { node, reader in
        guard let name = node["policy"], case .scalar(let text, _) = name.content else {
          return reader.read(ServerSettings.self, from: node)
        }
        guard let preset = PolicyPreset.standard.first(where: { $0.name == text }) else {
          let known = PolicyPreset.standard.map(\.name)
          if let words = elsewhere[text] {
            reader.within("policy") { $0.report(.contradiction(words), at: name.place) }
            return reader.read(ServerSettings.self, from: node)
          }
          let nearest = Spelling.nearest(to: text, among: known)
          reader.within("policy") {
            $0.report(
              .unknownName(text, seam: "policy", nearest: nearest, known: known), at: name.place)
          }
          return reader.read(ServerSettings.self, from: node)
        }
        return reader.read(
          ServerSettings.self,
          from: node.filled(from: preset.settings.placed(at: name.place), deeply: false))
      }, write: { $0.resolved })
  }
}
