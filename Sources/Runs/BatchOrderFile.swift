import DataSets
import Learning
import Scenarios
import Schema

extension Scenario {
  /// The batch orders that the scenario's file gives, by [client][data epoch][position]; nil without
  /// a file.
  ///
  /// The file is an NPZ archive with `orders`, whole numbers of that shape; a client with fewer
  /// samples than the longest has −1 behind its last position. Data epochs beyond the last begin
  /// again at the first. Throws: what `NPZ` throws; `countMismatch` for another shape or an epoch
  /// that does not visit each training sample of its client once.
  func batchOrders(for partition: Partition) throws(Faults) -> [[[Int32]]]? {
    guard let file = settings.task.training.orders else { return nil }
    do throws(DataFault) {
      return try Self.orders(in: path(of: file.path), sizes: partition.shards.map(\.count))
    } catch {
      throw Faults([fault(error, at: file.place, path: "task.training.orders")])
    }
  }

  private static func orders(
    in path: String, sizes: [Int]
  ) throws(DataFault) -> [[[Int32]]] {
    let place = "\(path):orders.npy"
    let array = try NPZ(contentsOf: path).array(named: "orders")
    guard let values = array.integers else {
      throw DataFault(
        .unsupported, in: place, found: "type \(array.values.descriptor)",
        expected: "whole numbers")
    }
    guard array.shape.count == 3, array.shape[0] == sizes.count, array.shape[1] > 0,
      array.shape[2] >= sizes.max() ?? 0
    else {
      throw DataFault(
        .countMismatch, in: place, found: "shape \(array.shape)",
        expected: "[\(sizes.count), data epochs, at least \(sizes.max() ?? 0)]")
    }
    let (epochs, width) = (array.shape[1], array.shape[2])
    var orders: [[[Int32]]] = []
    for (client, size) in sizes.enumerated() {
      var epochsOfClient: [[Int32]] = []
      for epoch in 0..<epochs {
        let first = (client * epochs + epoch) * width
        let order = values[first..<(first + size)]
        let rest = values[(first + size)..<(first + width)]
        guard order.sorted() == Array(0..<size), rest.allSatisfy({ $0 == -1 }) else {
          throw DataFault(
            .countMismatch, in: place, found: "another order for client \(client), epoch \(epoch)",
            expected: "each position from 0 to \(size - 1) once, then -1 to the end of the row")
        }
        epochsOfClient.append(order.map { Int32($0) })
      }
      orders.append(epochsOfClient)
    }
    return orders
  }
}
