/// The kinds of events, requests and answers by the numbers that represent them in a run's digest.
///
/// A number is given once and never changes: digests of runs that are kept would.
package enum DigestKind: UInt8, CaseIterable, Sendable {
  case world = 1
  case linkRestored = 2
  case server = 3
  case injection = 4
  case softExpiry = 5
  case hardExpiry = 6
  case transferEnd = 7
  case trainingEnd = 8
  case probeTimer = 9
  case triggerTimer = 10
  case check = 11
  case latest = 12
  case submit = 13
  case leave = 14
  case checkAnswer = 15
  case model = 16
  case modelUnavailable = 17
  case receipt = 18
  case deviceTimer = 19
  case taskStart = 20
  case end = 21
  case identity = 30
  case granted = 31
  case refused = 32
  case fetch = 40
  case disconnect = 41
  case erase = 42
  case rejected = 43
  case keyInvalid = 44
  case servedTimer = 45
  case storeRequest = 46
  case storeAnswer = 47
  case centralTimer = 48
  case modelWantedTimer = 60
  case cohortWaitTimer = 61
  case evaluationWaitTimer = 62
  case evaluationTimeoutTimer = 63
  case enrol = 64
  case probe = 65
  case plan = 66
  case sendModel = 67
  case properties = 68
  case evaluated = 69
  case enrolled = 70
  case probed = 71
  case planAnswer = 72
  case noted = 73
  case failed = 74
  case aggregatedTimer = 80
  case programTimer = 81
}

/// A kind, its device and something more in one word, for the run's digest.
@inline(__always)
func pack(_ kind: DigestKind, _ device: Int32, _ rest: UInt64 = 0) -> UInt64 {
  UInt64(kind.rawValue) << 56 | UInt64(UInt32(bitPattern: device)) << 24 | rest & 0xFF_FFFF
}
