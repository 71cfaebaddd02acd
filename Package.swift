// swift-tools-version: 6.2
import PackageDescription

// One list of settings for all of our targets: warnings are errors. What other packages build has
// no unsafe flags.
let swift: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
// Tests call optimised code. To optimise the tests too, and to write debug information and a module
// file of each, takes longer than their run gains. SwiftPM leaves out a dependency's tests.
let testFlags = ["-Onone", "-Xfrontend", "-gnone", "-no-emit-module-separately-wmo"]
let c: [CSetting] = [.treatAllWarnings(as: .error)]
// FEDSIM_STATIC_SWIFT=1 links Swift's own libraries into the command (Makefile). The objects are
// the same, so those that -static-stdlib would find when it compiles are named.
let staticSwift =
  Context.environment["FEDSIM_STATIC_SWIFT"] == "1"
  ? [
    "-static-stdlib", "-Xlinker", "--start-group", "-lFoundation",
    "-lFoundationInternationalization", "-lFoundationEssentials", "-lCoreFoundation",
    "-l_FoundationICU", "-l_FoundationCShims", "-l_FoundationCollections", "-Xlinker",
    "--end-group", "-lstdc++",
  ] : []

func library(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: swift)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
  optimised: Bool = false
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, exclude: exclude,
    swiftSettings: optimised
      ? swift : swift + [.unsafeFlags(testFlags, .when(configuration: .release))])
}

let package = Package(
  name: "FedSim",
  platforms: [.macOS(.v15)],
  products: [
    .library(
      name: "FedSim",
      targets: [
        "Numerics", "Schema", "Processes", "Learning", "FedSim", "CoreMLFormat", "DataSets",
        "Results", "PythonParts", "Scenarios", "Analysis",
        "Runs", "Sweeps", "FedSimCLI",
      ]),
    .library(name: "FedSimTesting", targets: ["FedSimTesting"]),
    .executable(name: "fedsim", targets: ["fedsim"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
  ],
  targets: [
    // System libraries.
    .systemLibrary(
      name: "CHDF5", pkgConfig: "hdf5",
      providers: [.apt(["libhdf5-dev"]), .brew(["hdf5"])]),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
      name: "CGSL", pkgConfig: "gsl", providers: [.apt(["libgsl-dev"]), .brew(["gsl"])]),

    // The house, from the ground up; Tests/ArchitectureTests holds the import rules.
    library("Numerics", exclude: ["README.md"]),
    library("Schema", exclude: ["README.md"]),
    library("Processes", exclude: ["README.md"]),
    .target(name: "CKernels", exclude: ["README.md"], cSettings: c),
    library("Learning", ["CKernels", "Numerics", "Schema"], exclude: ["README.md"]),
    library("FedSim", ["Learning", "Numerics", "Schema"], exclude: ["README.md"]),
    library(
      "FedSimTesting", ["FedSim", "Learning", "Numerics", "Schema"], exclude: ["README.md"]),
    library(
      "CoreMLFormat", [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
      exclude: ["README.md", "coreml.proto"]),
    library(
      "DataSets",
      [
        "CHDF5", "CZlib", "CoreMLFormat", "Learning", "Numerics", "Processes", "Schema",
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      exclude: ["README.md"]),
    library(
      "Results", ["CHDF5", "FedSim", "Learning", "Numerics", "Processes", "Schema"],
      exclude: ["README.md"]),
    library(
      "PythonParts", ["FedSim", "Learning", "Numerics", "Processes", "Schema"],
      exclude: ["README.md"]),
    library(
      "Scenarios",
      ["DataSets", "FedSim", "Learning", "Numerics", "PythonParts", "Schema", "Yams"],
      exclude: ["README.md"]),
    library("Analysis", ["CGSL", "Numerics", "Results", "Schema"], exclude: ["README.md"]),
    library(
      "Runs",
      [
        "Analysis", "DataSets", "FedSim", "Learning", "Numerics", "Processes", "PythonParts",
        "Results", "Scenarios", "Schema",
      ],
      exclude: ["README.md"]),
    library(
      "Sweeps",
      [
        "Analysis", "DataSets", "FedSim", "Numerics", "Processes", "Results", "Runs", "Scenarios",
        "Schema",
      ],
      exclude: ["README.md"]),
    library(
      "FedSimCLI",
      [
        "FedSim", "FedSimTesting", "Processes", "Runs", "Scenarios", "Schema", "Sweeps",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], exclude: ["README.md"]),
    .executableTarget(
      name: "fedsim", dependencies: ["FedSimCLI"], exclude: ["README.md"], swiftSettings: swift,
      linkerSettings: staticSwift.isEmpty ? [] : [.unsafeFlags(staticSwift)]),
    .executableTarget(
      name: "fedsim-bench", dependencies: ["CKernels"], path: "Benchmarks/probe", cSettings: c),
    .executableTarget(
      name: "fedsim-play", dependencies: ["FedSim", "Runs", "Scenarios", "Schema"],
      path: "Benchmarks/play", swiftSettings: swift),
    .executableTarget(
      name: "fedsim-aggregate", dependencies: ["FedSim", "Learning", "Schema"],
      path: "Benchmarks/aggregation", swiftSettings: swift),

    // Tests find their fixtures next to their source files.
    // Those of the architecture read all sources themselves, those of Learning compute in long
    // loops.
    tests("ArchitectureTests", [], optimised: true),
    tests("NumericsTests", ["Numerics"]),
    tests("CKernelsTests", ["CKernels", "Numerics"]),
    tests("LearningTests", ["Learning", "Numerics", "Schema"], optimised: true),
    tests(
      "DataSetsTests", ["DataSets", "Learning", "Numerics", "Schema"], exclude: ["Fixtures"]),
    tests("ResultsTests", ["Processes", "Results"], exclude: ["Fixtures"]),
    tests("AnalysisTests", ["Analysis", "Results", "Schema"], exclude: ["Fixtures"]),
    tests(
      "RunsTests",
      ["DataSets", "FedSim", "Learning", "Numerics", "Results", "Runs", "Scenarios", "Schema"],
      exclude: ["Fixtures"]),
    tests("SchemaTests", ["Schema", "Numerics"]),
    tests("FedSimTests", ["FedSim", "Learning", "Numerics", "Schema"]),
    tests(
      "FedSimTestingTests",
      ["FedSim", "FedSimTesting", "Learning", "Numerics", "Scenarios", "Schema"]),
    tests(
      "ScenariosTests", ["DataSets", "FedSim", "Learning", "Numerics", "Scenarios", "Schema"],
      exclude: ["Fixtures"]),
    tests(
      "SweepsTests",
      [
        "Analysis", "DataSets", "FedSim", "Learning", "Numerics", "Results", "Runs", "Scenarios",
        "Schema", "Sweeps",
      ], exclude: ["Fixtures"]),
    // They start .build/release/fedsim, which `make test` links first, as `make build` does.
    tests("CLITests", []),
  ]
)

// FEDSIM_TESTS=FedSimTests leaves the other test targets out, and with them all that only they need
// (Scripts/loop).
if let only = Context.environment["FEDSIM_TESTS"], !only.isEmpty {
  let names = only.split(separator: ",")
  package.targets.removeAll { target in
    target.type == .test && !names.contains { $0 == target.name }
  }
}

// FEDSIM_FUZZ=1 adds the readers behind libFuzzer, which are built with --sanitize=fuzzer
// (Scripts/hunt).
if Context.environment["FEDSIM_FUZZ"] == "1" {
  package.targets.append(
    .executableTarget(
      name: "FuzzReaders",
      dependencies: [
        "DataSets", "FedSim", "Learning", "Numerics", "Processes", "Results", "Scenarios", "Schema",
        "Yams",
      ],
      path: "Tests/Fuzz/Readers", swiftSettings: swift))
}
