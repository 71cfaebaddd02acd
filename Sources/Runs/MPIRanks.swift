import Learning
import Processes
import Schema
import Synchronization

/// The processes that MPI has started: the ranks of one run.
public final class MPIRanks: Ranks {
  private let library: MPILibrary

  private let playing = Atomic(false)

  /// Whether a run is under way: a rank that fails meanwhile leaves the others waiting. Otherwise
  /// all ranks learn of it.
  var isPlaying: Bool {
    get { playing.load(ordering: .relaxed) }
    set { playing.store(newValue, ordering: .relaxed) }
  }

  /// The place of this process, from 0.
  public var rank: Int { library.rank }
  /// How many processes there are.
  public var count: Int { library.count }
  /// Which MPI it is, in its own words.
  public var name: String { library.name }

  /// Begins MPI.
  ///
  /// Throws: `RunFailure.input` where FedSim's MPI library is missing, or is not that of the
  /// launcher.
  public init() throws(RunFailure) {
    do throws(MPILibrary.Fault) {
      library = try MPILibrary.begin()
    } catch {
      throw .input([Fault(at: .none, .contradiction(error.description))])
    }
  }

  /// Sends pieces to other ranks and receives theirs; returns when all of it is done.
  public func exchange(_ sent: [RankPiece], _ received: [RankPiece]) {
    library.exchange(sent.map { ($0.rank, $0.memory) }, received.map { ($0.rank, $0.memory) })
  }

  /// Rank 0 says a word to all others; no word: there will be none.
  public func announce(_ word: String) { _ = gather(bytes: Array(word.utf8)) }

  /// What rank 0 says next; nil: no more.
  public func awaitAnnouncement() -> String? {
    let word = String(decoding: gather(bytes: [])[0], as: UTF8.self)
    return word.isEmpty ? nil : word
  }

  /// Ends after a failure: all processes at once, where the others do not know of it.
  public func end(failed code: Int32) {
    if isPlaying { library.abort(code) } else { library.end() }
  }

  /// Ends, on every rank.
  public func end() { library.end() }
}
