extension Simulation {
  /// The names of the files that are in the store now, in the order in which they came.
  public var storedFiles: [String] {
    cx.collection.store.filter {
      cx.collection.files.contains($0) && cx.collection.files[$0].isStored
    }
    .map { SampleStore.fileName(of: $0, devices, cx) }
  }
}
