import Foundation
import Testing

import Results
import Runs
import Scenarios

@Suite("Equal runs are equal files")
struct SameBytesTests {
  private func bytes(
    _ folder: Folder, _ name: String, _ overrides: [String] = [], _ options: RunOptions
  ) throws -> Data {
    let scenario = try Scenario(text: Night.text, file: "night.yaml", overrides: overrides)
    let summary = try Run(scenario, output: folder(name), options: options).perform()
    #expect(summary.ledgers.allSatisfy { $0.balances })
    return try Data(contentsOf: URL(fileURLWithPath: folder(name)))
  }

  @Test("whatever the threads, the kernels, and when trainings are computed")
  func options() throws {
    let folder = try Folder()
    let reference = try bytes(folder, "reference.h5", [], RunOptions())
    for threads in [2, 3] {
      var options = RunOptions()
      options.threads = threads
      #expect(try bytes(folder, "threads\(threads).h5", [], options) == reference)
      options.compute = .eager
      #expect(try bytes(folder, "eager\(threads).h5", [], options) == reference)
    }
    for body in RunOptions.Body.allCases where body.isSupported {
      var options = RunOptions()
      options.kernels = body
      #expect(try bytes(folder, "\(body.rawValue).h5", [], options) == reference, "\(body)")
    }
  }

  @Test("lazily and eagerly, where most trainings are lost")
  func mostlyLost() throws {
    let folder = try Folder()
    let overrides = [
      "fleet.phones.interruption.onExpiry=discard", "fleet.phones.compute.perBatch=15 s",
      "fleet.phones.outbox.capacity=0",
    ]
    let lazy = try bytes(folder, "lazy.h5", overrides, RunOptions())
    var options = RunOptions()
    options.compute = .eager
    options.threads = 2
    #expect(try bytes(folder, "eager.h5", overrides, options) == lazy)
    let document = try ResultFile.read(folder("lazy.h5"))
    let attempts = try #require(document.integers("ledger/attemptsOpened"))[0]
    let aggregated = try #require(document.integers("ledger/updates"))[0]
    #expect(aggregated > 0 && 2 * aggregated < attempts, "\(aggregated) of \(attempts)")
  }

  @Test("another seed is another file")
  func seeds() throws {
    let folder = try Folder()
    let one = try bytes(folder, "one.h5", [], RunOptions())
    let other = try bytes(folder, "other.h5", ["seed=8"], RunOptions())
    #expect(one != other)
  }

  @Test("a run leaves the result and its provenance, and nothing else")
  func files() throws {
    let folder = try Folder()
    _ = try bytes(folder, "night.h5", [], RunOptions())
    #expect(folder.names == ["night.h5", "night.h5.provenance.json"])
    let sidecar = try Data(contentsOf: URL(fileURLWithPath: folder("night.h5.provenance.json")))
    let provenance = try JSONDecoder().decode(Provenance.self, from: sidecar)
    let document = try ResultFile.read(folder("night.h5"))
    #expect(document.root[attribute: "contentDigest"] == .text(provenance.contentDigest))
    #expect(provenance.threads == 1)
  }
}
