import FedSim
import Results

/// How evenly something is spread over devices.
enum Fairness {
  /// The Gini coefficient: 0 where all are equal, 1 − 1/n where one of n has all; NaN where nobody
  /// has any.
  ///
  /// Order: products of place and value are summed over ascending values.
  static func gini(_ values: [Int64]) -> Double {
    let sorted = values.sorted()
    let total = Double(sorted.reduce(0, +))
    guard total > 0 else { return .nan }
    var weighted = 0.0
    for (place, value) in sorted.enumerated() { weighted += Double(place + 1) * Double(value) }
    let count = Double(sorted.count)
    return 2 * weighted / (count * total) - (count + 1) / count
  }

  /// Jain's index: 1 where all are equal, 1/n where one of n has all; NaN where nobody has any.
  ///
  /// Order: squares are summed in the order of the values.
  static func jain(_ values: [Int64]) -> Double {
    let total = Double(values.reduce(0, +))
    let squares = values.reduce(0.0) { $0 + Double($1) * Double($1) }
    return squares > 0 ? total * total / (Double(values.count) * squares) : .nan
  }

  /// How evenly devices take part.
  static func group(_ simulation: Simulation) -> ResultDocument.Group {
    let aggregated = simulation.deviceRecords.map { Int64($0.activity.aggregated) }
    let samples = simulation.books.deviceEfforts.map(\.samplesAggregated)
    func index(_ name: String, _ value: Double, _ text: String) -> ResultDocument.Variable {
      .scalar(name, .double([value]), text)
    }
    return ResultDocument.Group(
      "fairness",
      attributes: [
        .init(
          "comment", .text("Over all devices, including zeros; NaN where nothing was aggregated."))
      ],
      variables: [
        .scalar(
          "participants", .int64([Int64(aggregated.count { $0 > 0 })]),
          "devices with at least one aggregated update"),
        index(
          "giniParticipation", gini(aggregated), "Gini coefficient of devices' aggregated updates"),
        index("jainParticipation", jain(aggregated), "Jain index of devices' aggregated updates"),
        index("giniSamples", gini(samples), "Gini coefficient of devices' aggregated samples"),
        index("jainSamples", jain(samples), "Jain index of devices' aggregated samples"),
      ])
  }
}
