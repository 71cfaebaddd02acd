import Foundation
import Results
import Scenarios
import Schema

/// What a sweep plays, written before the first cell begins and never changed by a run.
///
/// It is in the sweep's folder as `sweep.json`; with it are the resolved scenarios of all
/// cells. Everything later is made from these, never composed again.
public struct SweepManifest: Codable, Equatable, Sendable {
  /// The version of this format.
  public static let format = 1

  /// An axis.
  public struct Axis: Codable, Equatable, Sendable {
    /// Its name in tables.
    public var name: String
    /// The path of the key.
    public var path: String
  }

  /// A factor of the product.
  public struct Dimension: Codable, Equatable, Sendable {
    /// The name of its axis, or of the design, such as `zip`, where several axes vary together.
    public var name: String
    /// How many points it has.
    public var length: Int
    /// The places of its axes.
    public var axes: [Int]
    /// The values at each point. Shapes: [point][axis].
    public var points: [[Value]]
  }

  /// A value of an axis.
  public struct Value: Codable, Equatable, Sendable {
    /// As it would be written, on one line.
    public var text: String
    /// As a number in the unit below; nil for what is none.
    public var number: Double?
    /// The unit, in UDUNITS' spelling.
    public var unit: String?
  }

  /// One run.
  public struct Cell: Codable, Equatable, Sendable {
    /// Hash of the resolved scenario, the files that it names and the engine's version.
    public var id: String
    /// Digest of the resolved scenario.
    public var scenario: String
    /// The variant.
    public var variant: Int
    /// The replica, from 0.
    public var replica: Int
    /// The rung, from 0; the last one is the unchanged scenario.
    public var rung: Int
  }

  /// How variants are given up.
  public struct Halving: Codable, Equatable, Sendable {
    /// The metric's name.
    public var metric: String
    /// Whether a lower value is better.
    public var prefersLower: Bool
    /// The share that continues, as a fraction.
    public var keep: [Int]
    /// The values of `stop` of each rung, as JSON.
    public var rungs: [String]
  }

  /// A file that cells read.
  public struct File: Codable, Equatable, Sendable {
    /// The path as the scenario names it.
    public var path: String
    /// Digest of its bytes.
    public var digest: String
  }

  /// The version of this format.
  public var format = SweepManifest.format
  /// The sweep's name.
  public var name: String
  /// The scenario's file, whole.
  public var scenario: String
  /// The scenario's own seed.
  public var seed: UInt64
  /// The engine's version.
  public var engineVersion: String
  /// Digest of the program that plays the cells.
  public var build: String
  /// The folder with the results of cells, by their ids.
  public var store: String
  /// Folders with data files, from the environment; nil: the installed ones.
  public var dataFolders: [String]?
  /// The axes.
  public var axes: [Axis]
  /// The factors of the product.
  public var dimensions: [Dimension]
  /// The point of each dimension, for each variant.
  public var variants: [[Int]]
  /// The seeds of the replicas; nil: none are asked for.
  public var seeds: [UInt64]?
  /// Accuracies to which tables tell the time.
  public var targets: [Double]
  /// How variants are given up; nil: none is.
  public var halving: Halving?
  /// All runs that may be needed, by rung, then variant, then replica.
  public var cells: [Cell]
  /// The files that cells read.
  public var files: [File]

  /// How many replicas each variant has.
  public var replicas: Int { seeds?.count ?? 1 }

  /// How many rungs there are, the last one included.
  public var rungs: Int { (halving?.rungs.count ?? 0) + 1 }

  /// How many cells each rung plays, if no variant drops out because it failed.
  var neededCells: [Int] {
    var variants = variants.count
    return (0..<rungs).map { _ in
      let cells = variants * replicas
      if let halving {
        variants = min(variants, KeptShare(halving.keep[0], halving.keep[1]).count(of: variants))
      }
      return cells
    }
  }

  /// The cells of a rung.
  public func cells(ofRung rung: Int) -> ArraySlice<Cell> {
    let count = variants.count * replicas
    return cells[rung * count..<(rung + 1) * count]
  }

  /// A cell by its rung, variant and replica.
  public func cell(rung: Int, variant: Int, replica: Int) -> Cell {
    cells[(rung * variants.count + variant) * replicas + replica]
  }

  /// The value of each axis, for a variant.
  public func values(of variant: Int) -> [Value] {
    zip(dimensions, variants[variant]).flatMap { $0.points[$1] }
  }

  /// Whether two manifests ask for the same runs of the same things.
  public func asksForTheSame(as other: SweepManifest) -> Bool {
    var copy = other
    (copy.build, copy.store, copy.dataFolders, copy.scenario) = (
      build, store, dataFolders, scenario
    )
    copy.files = zip(copy.files, files).map { File(path: $1.path, digest: $0.digest) }
    return copy == self
  }

  /// The manifest as JSON.
  func json() -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("a manifest holds words and finite numbers only")
    }
    return Array(data) + [10]
  }
}
