import Learning

extension Simulation {
  /// How many trainings of this playing came as they were foreseen.
  package var foreseen: ForeseenTrainings { cx.computations.foreseenTrainings }
}
