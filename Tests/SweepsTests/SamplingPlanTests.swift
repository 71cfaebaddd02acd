import Foundation
import Testing

import Analysis

/// Points of sampling plans against numbers from elsewhere, and the limits of the plans.
@Suite struct SamplingPlanTests {
  /// The coordinates of an axis, from `make_sampling_points.py`.
  private static func fixture(_ plan: String) throws -> [Int: [Double]] {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/points.csv")
    let text = try String(contentsOf: path, encoding: .utf8)
    var axes: [Int: [Double]] = [:]
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ",")
      guard fields[0] == plan, let axis = Int(fields[1]) else { continue }
      axes[axis] = fields.dropFirst(2).compactMap { Double($0) }
    }
    return axes
  }

  @Test("Sobol's points are those of the published tables, in all 40 dimensions")
  func sobol() throws {
    let expected = try Self.fixture("sobol")
    #expect(expected.count == 40)
    let points = try SamplingPlan.sobol(skip: 0).points(40, axes: 40)
    for axis in 0..<40 { #expect(points.map { $0[axis] } == expected[axis], "axis \(axis)") }
  }

  @Test("Halton's points are SciPy's, in the first and last ten of 1,229 dimensions")
  func halton() throws {
    let expected = try Self.fixture("halton")
    #expect(expected.count == 20)
    let points = try SamplingPlan.halton(skip: 0).points(40, axes: 1229)
    for axis in expected.keys.sorted() {
      for (point, value) in (expected[axis] ?? []).enumerated() {
        #expect(abs(points[point][axis] - value) < 1e-14, "axis \(axis), point \(point)")
      }
    }
  }

  @Test("the first points are those that one works out on paper")
  func byHand() throws {
    // In base 2: 1, 10, 11, 100 mirrored; in base 3: 1, 2, 10, 11 mirrored.
    let halton = try SamplingPlan.halton(skip: 0).points(4, axes: 2)
    #expect(halton.map { $0[0] } == [0.5, 0.25, 0.75, 0.125])
    let thirds: [Double] = [3, 6, 1, 4]
    for (point, ninths) in thirds.enumerated() {
      #expect(abs(halton[point][1] - ninths / 9) < 1e-15)
    }
    let sobol: [[Double]] = [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    #expect(try SamplingPlan.sobol(skip: 0).points(3, axes: 2) == sobol)
  }

  @Test("skipped points are the same points")
  func skip() throws {
    let all = try SamplingPlan.sobol(skip: 0).points(20, axes: 5)
    #expect(try SamplingPlan.sobol(skip: 7).points(13, axes: 5) == Array(all[7...]))
    let halton = try SamplingPlan.halton(skip: 0).points(20, axes: 5)
    #expect(try SamplingPlan.halton(skip: 19).points(1, axes: 5) == [halton[19]])
  }

  @Test("beyond its dimensions a sequence is an error, and not zeros")
  func limits() throws {
    #expect(throws: SamplingFault(plan: "sobol", axes: 41, mostAxes: 40)) {
      try SamplingPlan.sobol(skip: 0).points(1, axes: 41)
    }
    #expect(throws: SamplingFault(plan: "halton", axes: 1230, mostAxes: 1229)) {
      try SamplingPlan.halton(skip: 0).points(1, axes: 1230)
    }
    let last = try SamplingPlan.halton(skip: 0).points(1, axes: 1229)[0][1228]
    #expect(last > 0 && last < 1)
  }

  @Test("a Latin hypercube has one point in each share of each axis", arguments: [1, 2, 7, 64])
  func latin(count: Int) throws {
    for seed in UInt64(1)...5 {
      let points = try SamplingPlan.latinHypercube(seed: seed).points(count, axes: 6)
      for axis in 0..<6 {
        let shares = points.map { Int($0[axis] * Double(count)) }.sorted()
        #expect(shares == Array(0..<count), "seed \(seed), axis \(axis)")
      }
    }
  }

  @Test("axes of a Latin hypercube are shuffled apart, and seeds give other points")
  func latinAxes() throws {
    let points = try SamplingPlan.latinHypercube(seed: 1).points(32, axes: 2)
    let order = { (axis: Int) in points.map { Int($0[axis] * 32) } }
    #expect(order(0) != order(1))
    #expect(try SamplingPlan.latinHypercube(seed: 2).points(32, axes: 2) != points)
  }

  @Test("a random point depends neither on the number of points nor on that of axes")
  func random() throws {
    let many = try SamplingPlan.random(seed: 3).points(50, axes: 4)
    let few = try SamplingPlan.random(seed: 3).points(10, axes: 2)
    #expect(few == many.prefix(10).map { Array($0.prefix(2)) })
    // Mean 0.5 with a standard error of 0.29 / √200 = 0.02.
    let mean = many.flatMap { $0 }.reduce(0, +) / 200
    #expect(abs(mean - 0.5) < 0.08)
  }
}
