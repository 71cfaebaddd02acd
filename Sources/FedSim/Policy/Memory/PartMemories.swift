/// What the parts of a server's policy remember, and what the server has sent to transforms.
struct PartMemories: Codable {
  // The order of the fields is that of `ServerSettings.parts`, by which they are read.
  /// One per trigger, in their order.
  var triggers: [AnyMemory]
  var selector: AnyMemory
  var aggregator: AnyMemory
  var optimizer: AnyMemory
  /// What each transform received with each version; empty for one that receives nothing.
  var told: [[Double]] = []

  init(_ server: ServerSettings) {
    triggers = server.trigger.map { $0.value.freshMemory() }
    selector = server.selector.value.part.freshMemory()
    aggregator = server.aggregator.value.freshMemory()
    optimizer = server.optimizer.value.freshMemory()
  }

  /// All is forgotten but what was sent with versions.
  mutating func startAnew(_ server: ServerSettings) {
    let told = told
    self = PartMemories(server)
    self.told = told
  }
}

extension ServerSettings {
  /// The parts that may remember, in the order in which their memories are saved.
  var parts: [any PolicyPart] {
    trigger.map(\.value) + [selector.value.part, aggregator.value, optimizer.value]
  }
}
