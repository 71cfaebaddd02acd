// swift-tools-version: 6.2
import PackageDescription

// Readers of files behind libFuzzer's entry point; Scripts/hunt builds it with --sanitize=fuzzer.
let package = Package(
  name: "Coverage",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "FedSim", path: "../../..")],
  targets: [
    .executableTarget(
      name: "FuzzReaders", dependencies: [.product(name: "FedSim", package: "FedSim")])
  ]
)
