import Foundation
import Testing

import Runs
import Scenarios

/// One smoke scenario for each preset of a model, whose result files are equal.
@Suite("Presets")
struct PresetBytesTests {
  /// A preset, and a scenario in `scenarios/smoke` that trains it.
  static let scenarios = [
    ("softmax", "synchronous"), ("mlp", "open"), ("cnn-mcmahan", "cnn"), ("lstm", "lstm"),
    ("lenet5", "lenet5"), ("resnet20", "resnet20"), ("resnet18", "resnet18"),
    ("resnet20-bn", "resnet20-bn"), ("resnet18-bn", "resnet18-bn"),
    ("mobilenet-v2-small", "mobilenet-v2-small"),
    ("transformer-lm", "transformer-lm"), ("cifg-lm", "cifg-lm"), ("coreml", "core-ml"),
  ]

  @Test("every preset has its smoke scenario")
  func completeness() {
    let presets = Registry.standard.catalog.parts(of: "model")
      .filter { $0.name != "layers" && $0.name != "trainer" }.map(\.name)
    #expect(Set(presets) == Set(Self.scenarios.map(\.0)))
  }

  @Test(
    "one result file for 1, 2, 3 and 8 threads and each kernel body", arguments: scenarios)
  func sameBytes(preset: String, file: String) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let scenario = try Scenario(
      contentsOf: root.appendingPathComponent("scenarios/smoke/\(file).yaml").path)
    #expect(scenario.resolvedNode["task"]?["model"]?.json.contains("\"\(preset)\"") == true)
    let folder = try Folder()
    var reference: Data?
    for body in RunOptions.Body.allCases where body.isSupported {
      for threads in [1, 2, 3, 8] {
        var options = RunOptions()
        options.kernels = body
        options.threads = threads
        let path = folder("\(body)-\(threads).h5")
        _ = try Run(scenario, output: path, options: options).perform()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes == reference ?? bytes, "\(body), \(threads) threads")
        reference = bytes
      }
    }
    #expect(reference != nil)
  }
}
