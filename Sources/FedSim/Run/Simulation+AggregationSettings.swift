import Schema

extension Simulation {
  /// Aggregations that took time, counted; nil where they take none.
  public var aggregationTallies: AggregationTallies? {
    cx.inputs.server.aggregationTime == nil ? nil : server.aggregations
  }
}
