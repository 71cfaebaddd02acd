// swift-tools-version: 6.2
import PackageDescription

// A policy of your own: two parts, a command that knows them, a scenario, and tests of all three.
let package = Package(
  name: "my-policy",
  platforms: [.macOS(.v15)],
  dependencies: [
    // In a package that is elsewhere: .package(url: "…", exact: "…").
    .package(name: "FedSim", path: "../..")
  ],
  targets: [
    .target(name: "MyPolicy", dependencies: [.product(name: "FedSim", package: "FedSim")]),
    .executableTarget(name: "my-fedsim", dependencies: ["MyPolicy"]),
    .testTarget(
      name: "MyPolicyTests",
      dependencies: [
        "MyPolicy", "my-fedsim", .product(name: "FedSimTesting", package: "FedSim"),
      ]),
  ]
)
