import FedSim
import Testing

/// A session in a stage, perhaps changed.
private func session(
  _ stage: Session.Stage, _ kind: SessionKind = .window,
  _ change: (inout Session) -> Void = { _ in }
) -> Session {
  var session = Session(kind: kind)
  session.stage = stage
  change(&session)
  return session
}

/// The facts of a connected device with an empty outbox and three tries, perhaps changed.
private func facts(_ change: (inout SessionFacts) -> Void = { _ in }) -> SessionFacts {
  var facts = SessionFacts()
  facts.isConnected = true
  facts.attempts = 3
  change(&facts)
  return facts
}

/// The same of a device without a link.
private func offline(_ change: (inout SessionFacts) -> Void = { _ in }) -> SessionFacts {
  facts {
    $0.isConnected = false
    change(&$0)
  }
}

private typealias Row = (Session, SessionFacts, SessionStep)

private func expect(_ rows: [Row], _ location: SourceLocation = #_sourceLocation) {
  for (place, row) in rows.enumerated() {
    #expect(row.0.next(row.1) == row.2, "row \(place)", sourceLocation: location)
  }
}

@Suite("The next step of a session")
struct SessionStepTests {
  @Test("Each stage has its step; requests wait for a link")
  func stages() {
    expect([
      (session(.check), facts(), .check),
      (session(.download), facts(), .download),
      (session(.plan), facts(), .plan),
      (session(.reply), facts(), .reply),
      (session(.train), facts(), .train),
      (session(.evaluate), facts(), .evaluate),
      (session(.done), facts(), .end(.completed)),
      (session(.check), offline(), .wait(.link)),
      (session(.download), offline(), .wait(.link)),
      (session(.plan), offline(), .wait(.link)),
      (session(.reply), offline(), .wait(.link)),
      (session(.train), offline(), .train),
      (session(.evaluate), offline(), .evaluate),
      (session(.done), offline(), .end(.completed)),
    ])
  }

  @Test("A session that is done rests where it repeats, and waits for a link with an update left")
  func done() {
    expect([
      (session(.done), facts { $0.repeats = true }, .rest(.completed)),
      (session(.done), offline { $0.repeats = true }, .rest(.completed)),
      (session(.done), offline { $0.update = 7 }, .wait(.link)),
      (
        session(.done),
        offline {
          $0.update = 7
          $0.repeats = true
        }, .wait(.link)
      ),
      // All tries are used up, or one was lost and is the last.
      (session(.done) { $0.tries = 3 }, facts { $0.update = 7 }, .end(.unreachable)),
      (session(.done) { $0.hasGivenUp = true }, facts { $0.update = 7 }, .end(.unreachable)),
      (session(.done) { $0.hasGivenUp = true }, offline { $0.update = 7 }, .end(.unreachable)),
      (
        session(.done) { $0.tries = 3 },
        facts {
          $0.update = 7
          $0.repeats = true
        }, .rest(.completed)
      ),
      // Without a link the number of tries does not matter.
      (session(.done) { $0.tries = 3 }, offline { $0.update = 7 }, .wait(.link)),
    ])
  }

  @Test("An update goes before every stage, as long as there are tries")
  func updates() {
    for stage in [Session.Stage.check, .download, .plan, .train, .evaluate, .reply, .done] {
      expect([
        (session(stage), facts { $0.update = 7 }, .upload(7)),
        (session(stage) { $0.tries = 2 }, facts { $0.update = 7 }, .upload(7)),
        (
          session(stage),
          facts {
            $0.update = 7
            $0.conditionsHold = false
          }, .end(.conditionsLost)
        ),
        // The grace of an expiry is for uploads.
        (session(stage) { $0.isExpiring = true }, facts { $0.update = 7 }, .upload(7)),
      ])
    }
    expect([
      (session(.check) { $0.tries = 3 }, facts { $0.update = 7 }, .check),
      (session(.train) { $0.hasGivenUp = true }, facts { $0.update = 7 }, .train),
      (session(.train), offline { $0.update = 7 }, .train),
      (session(.check), offline { $0.update = 7 }, .wait(.link)),
    ])
  }

  @Test("An expiry ends all but an upload")
  func expiries() {
    for stage in [Session.Stage.check, .download, .plan, .train, .evaluate, .reply, .done] {
      expect([
        (session(stage) { $0.isExpiring = true }, facts(), .expire),
        (session(stage) { $0.isExpiring = true }, offline { $0.update = 7 }, .expire),
        (
          session(stage) {
            $0.isExpiring = true
            $0.tries = 3
          }, facts { $0.update = 7 }, .expire
        ),
      ])
    }
  }

  @Test("Nothing comes before the end of what is under way, of a pause, or a kill")
  func waits() {
    let busy = facts {
      $0.isBusy = true
      $0.hasOutdated = true
      $0.update = 7
      $0.collects = true
      $0.identity = .request(.refresh)
    }
    let free = facts {
      $0.hasOutdated = true
      $0.update = 7
      $0.collects = true
      $0.identity = .request(.refresh)
    }
    for stage in [Session.Stage.check, .download, .plan, .train, .evaluate, .reply, .done] {
      expect([
        (session(stage), busy, .wait(.activity)),
        (session(stage) { $0.isPausing = true }, busy, .wait(.activity)),
        (session(stage) { $0.isPausing = true }, free, .wait(.pause)),
        (
          session(stage) {
            $0.isPausing = true
            $0.isStuck = true
          }, free, .wait(.pause)
        ),
        (session(stage) { $0.isStuck = true }, free, .wait(.kill)),
        (
          session(stage) {
            $0.isStuck = true
            $0.isExpiring = true
          }, free, .wait(.kill)
        ),
      ])
    }
  }

  @Test("Outdated updates go first, with a link or without")
  func outdated() {
    let old: (inout SessionFacts) -> Void = {
      $0.hasOutdated = true
      $0.update = 7
    }
    expect([
      (session(.check), facts(old), .dropOutdated),
      (session(.done), offline(old), .dropOutdated),
      (session(.train) { $0.isExpiring = true }, facts(old), .dropOutdated),
      (
        session(.check),
        facts {
          old(&$0)
          $0.identity = .blocked(.unauthorised)
        }, .dropOutdated
      ),
      (
        session(.check),
        facts {
          old(&$0)
          $0.collects = true
        }, .dropOutdated
      ),
    ])
  }

  @Test("A token or a registration comes before a request, and before nothing else")
  func identities() {
    let needs: (inout SessionFacts) -> Void = { $0.identity = .request(.register) }
    let lacks: (inout SessionFacts) -> Void = { $0.identity = .blocked(.keychainLocked) }
    let ages: (inout SessionFacts) -> Void = { $0.identity = .ready(agesToken: true) }
    let ready: (inout SessionFacts) -> Void = { $0.identity = .ready(agesToken: false) }
    for (stage, step) in [
      (Session.Stage.check, SessionStep.check), (.download, .download), (.plan, .plan),
      (.reply, .reply),
    ] {
      expect([
        (session(stage), facts(needs), .identify(.register)),
        (session(stage), facts(lacks), .withhold(.keychainLocked)),
        (session(stage), facts(ages), .ageToken),
        (session(stage), facts(ready), step),
        (session(stage), offline(needs), .wait(.link)),
        // No request follows an expiry.
        (session(stage) { $0.isExpiring = true }, facts(needs), .expire),
      ])
    }
    for (stage, step) in [
      (Session.Stage.train, SessionStep.train), (.evaluate, .evaluate), (.done, .end(.completed)),
    ] {
      expect([
        (session(stage), facts(needs), step), (session(stage), facts(lacks), step),
        (session(stage), facts(ages), step), (session(stage), facts(ready), step),
      ])
    }
    for stage in [Session.Stage.check, .train, .done] {
      for isExpiring in [false, true] {
        let sending = session(stage) { $0.isExpiring = isExpiring }
        func update(_ change: @escaping (inout SessionFacts) -> Void) -> SessionFacts {
          facts {
            $0.update = 7
            change(&$0)
          }
        }
        expect([
          (sending, update(needs), .identify(.register)),
          (sending, update(lacks), .withhold(.keychainLocked)),
          (sending, update(ages), .ageToken),
          (sending, update(ready), .upload(7)),
          // The token comes before the look at the conditions.
          (
            sending,
            update {
              needs(&$0)
              $0.conditionsHold = false
            }, .identify(.register)
          ),
        ])
      }
    }
    // An update that is not tried any more needs no token.
    expect([
      (
        session(.train) { $0.tries = 3 },
        facts {
          $0.update = 7
          needs(&$0)
        }, .train
      )
    ])
  }

  @Test("The session of a heartbeat is over when its token is there")
  func heartbeats() {
    expect([
      (
        session(.check, .heartbeat), facts { $0.identity = .request(.refresh) }, .identify(.refresh)
      ),
      (
        session(.check, .heartbeat), facts { $0.identity = .blocked(.unauthorised) },
        .withhold(.unauthorised)
      ),
      (session(.check, .heartbeat), facts { $0.identity = .ready(agesToken: true) }, .ageToken),
      (
        session(.check, .heartbeat), facts { $0.identity = .ready(agesToken: false) },
        .end(.completed)
      ),
      // It goes before an update and before collecting, in every stage, even at an expiry.
      (
        session(.train, .heartbeat) { $0.isExpiring = true },
        facts {
          $0.identity = .ready(agesToken: false)
          $0.update = 7
          $0.collects = true
        }, .end(.completed)
      ),
      (
        session(.check, .heartbeat), offline { $0.identity = .ready(agesToken: false) },
        .wait(.link)
      ),
      (session(.check, .heartbeat), offline { $0.collects = true }, .wait(.link)),
    ])
  }

  @Test("A device that collects does that alone, in any stage, once its requests may be sent")
  func collecting() {
    let collects: (inout SessionFacts) -> Void = { $0.collects = true }
    expect([
      (session(.check), facts(collects), .collect),
      (session(.check), offline(collects), .collect),
      (session(.done), facts(collects), .collect),
      (session(.check) { $0.isExpiring = true }, facts(collects), .collect),
      (session(.check, .activation), facts(collects), .collect),
      (
        session(.check),
        facts {
          $0.collects = true
          $0.update = 7
        }, .collect
      ),
      (
        session(.check),
        facts {
          $0.collects = true
          $0.identity = .request(.bootstrap)
        }, .identify(.bootstrap)
      ),
      (
        session(.check),
        offline {
          $0.collects = true
          $0.identity = .request(.bootstrap)
        }, .collect
      ),
    ])
  }
}
