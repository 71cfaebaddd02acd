import Foundation
import Processes

extension ClientFile {
  /// The first word of the task that reads a file and keeps nothing.
  static let task = "clients"

  /// Reads a file in a second process first: libhdf5 does not survive every damage.
  ///
  /// Does nothing where the program offers no such process. Throws: `corrupt`, with the client at
  /// which that process ended without an answer; what else is wrong is found by who reads it.
  static func check(_ path: String, group: String, _ names: [String]) throws(DataFault) {
    var status = stat()
    let size = stat(path, &status) == 0 ? Int(status.st_size) : 0
    guard
      case .died(let how, let place)? = LimitedProcess.run(
        [task, path, group] + names, fileSize: size)
    else { return }
    throw DataFault(
      .corrupt, in: place.isEmpty ? path : place,
      found: "damage that HDF5 does not survive (\(how))", expected: "an undamaged HDF5 file")
  }
}

/// Tasks of this module that are done in a second process.
package enum DataTasks {
  /// Does a task if it is one of this module: its first word, and the others.
  package static func serve(_ words: [String]) {
    guard words.count > 3, words[0] == ClientFile.task else { return }
    do throws(DataFault) {
      try ClientFile.reading(words[1], group: words[2]) { file throws(DataFault) in
        for client in try file.clients() {
          LimitedProcess.tell(place: "\(file.path)/\(client)")
          _ = try file.arrays(Array(words[3...]), of: client)
        }
      }
    } catch {
      // Who reads the file next says it.
    }
    LimitedProcess.answer([])
  }
}
