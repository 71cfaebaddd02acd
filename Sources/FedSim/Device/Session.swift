import Learning
import Numerics

/// A time in which the app runs: a task, a window, or the app opened by its user.
package struct Session: Codable {
  /// What comes next.
  package enum Stage: UInt8, Codable { case check, download, plan, train, evaluate, reply, done }

  let kind: SessionKind
  let generation: UInt32
  let soft: SimTime
  var hard: SimTime
  /// The present participation, or −1 for a poll; who asks again after it was accepted takes part
  /// again.
  var participation: Int32
  package var stage = Stage.check
  var round: Int32 = 0
  package var isExpiring = false
  /// Whether the soft expiry has come, even for an app that takes no notice.
  var hasExpired = false
  /// When the device last lost its link, be it for another one.
  var offlineSince = SimTime.never
  /// Whether the app has stopped and not said so: it waits for its kill.
  package var isStuck = false
  /// Whether the app has called its task complete while an upload continues.
  var isCompleted = false
  package var isPausing = false
  /// Whether the model was sent to be evaluated.
  var isEvaluating = false
  /// What the server has asked for besides that.
  var reply: Reply?
  /// Tries to send the update at the head of the outbox.
  package var tries = 0
  /// Whether it sends no more updates, for one was lost.
  package var hasGivenUp = false

  package init(
    kind: SessionKind, generation: UInt32 = 0, soft: SimTime = .never, hard: SimTime = .never,
    participation: Int32 = -1
  ) {
    self.kind = kind
    self.generation = generation
    self.soft = soft
    self.hard = hard
    self.participation = participation
  }
}
