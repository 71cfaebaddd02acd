import Foundation
import Testing

@Suite("fedsim validate, list and init")
struct OtherCommandTests {
  @Test("the resolved scenario is a scenario that resolves to itself and runs to the same bytes")
  func resolved() throws {
    let fedsim = try Command()
    let resolved = try fedsim("validate", "s.yaml", "--resolved", "--seed", "9")
    #expect(resolved.code == 0 && resolved.error == "")
    try fedsim.write(resolved.out, to: "r.yaml")
    #expect(try fedsim("validate", "r.yaml", "--resolved").out == resolved.out)
    #expect(try fedsim("validate", "r.yaml").out == "r.yaml: valid\n")
    _ = try fedsim("run", "s.yaml", "-q", "-o", "s.h5", "--seed", "9")
    _ = try fedsim("run", "r.yaml", "-q", "-o", "r.h5")
    #expect(try fedsim.areEqual("s.h5", "r.h5"))
  }

  @Test("the list names parts, for people and for programs, and the kernels of this processor")
  func list() throws {
    let fedsim = try Command()
    let page = try fedsim("list")
    #expect(page.code == 0)
    #expect(page.out.contains("  sample-weighted-mean: ") && page.out.contains("  baseline: "))
    let seam = try fedsim("list", "aggregation-trigger").out
    #expect(seam.contains("  threshold: ") && !seam.contains("sample-weighted-mean"))
    for flag in ["--json", "--json-schema"] {
      let result = try fedsim("list", flag)
      let tree = try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any]
      #expect(tree?[flag == "--json" ? "kernels" : "$schema"] != nil, "\(flag)")
    }
  }

  @Test("a starter scenario runs without any data file", arguments: ["phones", "synchronous"])
  func starters(template: String) throws {
    let fedsim = try Command()
    #expect(try fedsim("init", "my.yaml", "--template", template).code == 0)
    let text = String(decoding: try fedsim.bytes("my.yaml"), as: UTF8.self)
    #expect(text.hasPrefix("# "))
    let result = try fedsim("run", "my.yaml", "-q", environment: ["FEDSIM_DATA": "/nowhere"])
    #expect(result.code == 0, "\(result.error)")
    #expect(fedsim.names.contains("results/my.h5"))
  }

  @Test("help and version exit with 0")
  func help() throws {
    let fedsim = try Command()
    for arguments in [["--help"], ["run", "--help"], ["help", "run"], [], ["--version"]] {
      let result = try fedsim.run(arguments)
      #expect(result.code == 0 && !result.out.isEmpty, "\(arguments)")
    }
  }
}
