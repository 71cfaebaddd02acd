import Synchronization

extension PartSettings {
  /// `fields`, made once in a process: each time they would be the same, and key paths are dear to
  /// make.
  static var knownFields: [Field<Self>] {
    let type = ObjectIdentifier(Self.self)
    let known = FieldMemory.made.withLock { $0[type] }
    if let known = known as? [Field<Self>] { return known }
    // Made outside of the lock, since fields ask for those of their settings.
    let fields = Self.fields
    FieldMemory.made.withLock { $0[type] = fields }
    return fields
  }
}

private enum FieldMemory {
  static let made = Mutex<[ObjectIdentifier: any Sendable]>([:])
}
