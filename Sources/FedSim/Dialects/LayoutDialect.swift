import Learning

extension ParameterLayout {
  /// Where the tensors of a layer are.
  package func ranges(ofLayer layer: String) -> [Range<Int>] {
    tensors.filter { $0.name.hasPrefix(layer + ".") }.map(\.range)
  }
}

/// A model whose layout changes with a version.
enum LayoutDialect {
  /// The next version's model: where the layout changes with it, the new layer has its initial
  /// weights.
  static func relaid(_ model: ParameterBuffer, _ server: borrowing Server, _ cx: borrowing Context)
    -> ParameterBuffer
  {
    guard let change = cx.features.change, server.version + 1 == change.version else {
      return model
    }
    return model.replacing(change.ranges, from: cx.inputs.task.initial)
  }

  /// Whether an update is of the layout that was before.
  static func isOfOldLayout(_ update: Int32, _ server: borrowing Server, _ cx: borrowing Context)
    -> Bool
  {
    guard let change = cx.features.change else { return false }
    guard server.version >= change.version else { return false }
    return cx.updates[update].base < change.version
  }

  /// A version has reached a device, which holds it now, or cannot read it and keeps what it has.
  static func take(
    _ device: Int, _ version: Int32, _ model: ParameterBuffer, _ devices: inout Devices,
    _ cx: inout Context
  ) -> ModelReading {
    guard let change = cx.features.change, version >= change.version,
      let settings = cx.inputs.fleet[Int(devices[device].group)].protocol, !settings.knowsNewLayout
    else {
      devices[device].held = model
      return .read
    }
    cx.books.exchange.layoutMismatches += 1
    guard settings.skipsUnknownLayers else { return .unread }
    devices[device].held = model.replacing(
      change.ranges, from: devices[device].held ?? cx.inputs.task.initial)
    return .read
  }

  /// Whether a device's model is its own one and not the server's.
  static func keepsOwnModel(_ device: Int, _ devices: borrowing Devices, _ cx: borrowing Context)
    -> Bool
  {
    guard cx.features.change != nil,
      let settings = cx.inputs.fleet[Int(devices[device].group)].protocol
    else { return false }
    return !settings.knowsNewLayout && settings.skipsUnknownLayers
  }
}
