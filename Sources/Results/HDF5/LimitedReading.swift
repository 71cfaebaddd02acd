import Foundation
import Numerics
import Processes

/// Reads a file that is not known to be whole: in a process with limits, which can crash, or use up
/// its time or memory, without harm to this one.
package enum LimitedReading {
  /// The first word of the task.
  package static let task = "result"

  private struct Answer: Codable {
    var document: ResultDocument?
    var fault: ResultFault?
  }

  /// The document; in this process where the program offers no other.
  static func document(
    at path: String, groups: [String]?
  ) throws(ResultFault) -> ResultDocument {
    var status = stat()
    let size = stat(path, &status) == 0 ? Int(status.st_size) : 0
    let words = [task, path] + (groups.map { ["only"] + $0 } ?? [])
    guard let end = LimitedProcess.run(words, fileSize: size) else {
      return try HDF5Reader.document(at: path, groups: groups)
    }
    switch end {
    case .died(let how, let place):
      throw .notAResult(
        path: path, place: place.isEmpty ? "/" : place,
        found: "damage that HDF5 does not survive (\(how))", expected: "an undamaged file")
    case .answered(let bytes):
      guard let answer = try? Archive.value(Answer.self, from: bytes) else {
        throw .notAResult(
          path: path, place: "/", found: "damage: the answer of its reader is not whole",
          expected: "an undamaged file")
      }
      if let document = answer.document { return document }
      throw answer.fault ?? .notAResult(path: path, place: "/", found: "nothing", expected: "it")
    }
  }

  /// Does the task in this process, which was started for it; `words` are those behind the first.
  package static func serve(_ words: [String]) {
    guard let path = words.first else { return }
    let groups = words.count > 1 ? Array(words.dropFirst(2)) : nil
    var answer = Answer()
    do throws(ResultFault) {
      answer.document = try HDF5Reader.document(at: path, groups: groups) {
        LimitedProcess.tell(place: $0)
      }
    } catch {
      answer.fault = error
    }
    if let bytes = try? Archive.bytes(of: answer) { LimitedProcess.answer(bytes) }
  }
}
