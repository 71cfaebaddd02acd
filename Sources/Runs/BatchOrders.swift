import DataSets
import Learning
import Scenarios
import Schema

extension Scenario {
  /// The order in which data epochs visit each client's samples, where a file gives it.
  ///
  /// Shapes: `orders` [client][data epoch][position]; clients with fewer samples than the longest
  /// have −1 after theirs. A training beyond the file's epochs begins with its first again.
  func batchOrders(of partition: Partition) throws(Faults) -> [[[Int32]]]? {
    guard let file = settings.task.training.orders else { return nil }
    do throws(DataFault) {
      return try Self.orders(path(of: file.path), partition.shards.map(\.count))
    } catch {
      throw Faults([fault(error, at: file.place, path: "task.training.orders")])
    }
  }

  private static func orders(
    _ path: String, _ sizes: [Int]
  ) throws(DataFault) -> [[[Int32]]] {
    let array = try NPZ(contentsOf: path).array(named: "orders")
    let longest = sizes.max() ?? 0
    let place = "\(path):orders.npy"
    guard array.shape.count == 3, let values = array.integers, array.shape[0] == sizes.count,
      array.shape[1] > 0, array.shape[2] == longest
    else {
      throw DataFault(
        .countMismatch, in: place,
        found: "type \(array.values.descriptor), shape \(array.shape)",
        expected: "whole numbers [\(sizes.count) clients, data epochs, \(longest) positions]")
    }
    let epochs = array.shape[1]
    var orders: [[[Int32]]] = []
    for (client, size) in sizes.enumerated() {
      var lists: [[Int32]] = []
      for epoch in 0..<epochs {
        let start = (client * epochs + epoch) * longest
        let list = values[start..<start + longest]
        guard list.prefix(size).sorted().elementsEqual(0..<size),
          list.dropFirst(size).allSatisfy({ $0 == -1 })
        else {
          throw DataFault(
            .outOfRange, in: place, found: "a different order at client \(client), epoch \(epoch)",
            expected: "each position from 0 to \(size - 1) once, then -1")
        }
        lists.append(list.prefix(size).map { Int32($0) })
      }
      orders.append(lists)
    }
    return orders
  }
}
