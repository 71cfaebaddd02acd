import Results
import Scenarios
import Schema

/// The scenario of a bundle: that of the result, and the claims about its run.
///
/// A result has no claims, since they change nothing of it: they are read from a scenario file.
struct BundleClaims {
  /// The scenario of the result with the claims.
  let scenario: Scenario
  /// Its text.
  let text: String
  /// Why there are no claims, where that may surprise.
  let warning: String?

  /// The claims of a scenario file; without one those of the file that was run, as long as it is
  /// still the scenario of the result.
  ///
  /// `text` is the scenario in the result. Throws: `RunFailure.input` for what is wrong with the
  /// file or its claims.
  init(
    _ stored: StoredRun, file: String?, runOf provenance: Provenance?, text: String,
    registry: Registry
  ) throws(RunFailure) {
    var (node, warning): (Node?, String?) = (nil, nil)
    if let file {
      do throws(Faults) {
        node = try Scenario(contentsOf: file, registry: registry).writtenNode["expect"]
      } catch {
        throw .input(error.faults)
      }
      guard node != nil else {
        throw StoredRun.refusal(file, "this scenario has no assertions (`expect`)")
      }
    } else if let file = provenance?.scenario {
      let written = try? Scenario(contentsOf: file, registry: registry)
      if written?.digest == stored.scenario.digest {
        node = written?.writtenNode["expect"]
      } else {
        warning =
          "\(file) is not there or is not the scenario of this result, so the bundle has no "
          + "assertions; --claims FILE takes them from a scenario file"
      }
    }
    self.warning = warning
    guard let node else {
      (scenario, self.text) = (stored.scenario, text)
      return
    }
    let claims = Node(.mapping([Node.Entry(key: "expect", value: node)])).yaml
    self.text = text + (text.hasSuffix("\n") ? "" : "\n") + claims
    scenario = try Self.read(self.text, like: stored.scenario)
  }

  /// The scenario of a bundle that was read.
  ///
  /// Throws: `RunFailure.input` for a text that is no scenario, or not that of the result.
  init(_ text: String, of stored: StoredRun, in bundle: String) throws(RunFailure) {
    self.text = text
    warning = nil
    scenario = try Self.read(text, like: stored.scenario)
    guard scenario.digest == stored.scenario.digest else {
      throw StoredRun.refusal(
        bundle,
        "\(ResultBundle.Name.scenario) is not the scenario of \(ResultBundle.Name.result): the "
          + "bundle was altered")
    }
  }

  private static func read(_ text: String, like other: Scenario) throws(RunFailure) -> Scenario {
    do throws(Faults) {
      return try Scenario(text: text, file: other.file, registry: other.registry)
    } catch {
      throw .input(error.faults)
    }
  }
}
