import Learning

/// Requests under way, as others may read them.
extension Simulation {
  /// Whether devices reach the server.
  public var isServerReachable: Bool { cx.network.server.isReachable }

  /// The tensors that travel between server and devices.
  public var travellingTensors: [TensorSpec] {
    cx.inputs.server.travelling(
      of: cx.inputs.task.network.layout, needs: cx.inputs.task.algorithm.needs)
  }

  /// The request that a device has under way, sent or not; nil: none.
  public func requestUnderWay(of device: Int) -> UInt32? { cx.network[transferOf: device]?.id }

  /// The request of a device that is sent and has no answer yet; nil: none.
  public func sentRequest(of device: Int) -> SentRequest? {
    guard let transfer = cx.network[transferOf: device], transfer.phase == .awaiting else {
      return nil
    }
    var (update, file): (PostedUpdate?, PostedFile?)
    if case .submit(let number) = transfer.request, cx.updates.contains(number) {
      update = PostedUpdate(number, cx)
    }
    if case .central(let store) = transfer.request {
      if case .file(let number) = store { file = outgoingFile(number) }
      if case .item(let number) = store { file = outgoingFile(number) }
    }
    var speeds: (upload: BitRate, download: BitRate)?
    if !cx.network.speeds.isEmpty, let upload = cx.network.speeds[device].upload,
      let download = cx.network.speeds[device].download
    {
      speeds = (upload, download)
    }
    return SentRequest(
      id: transfer.id, request: transfer.request, update: update, file: file, speeds: speeds)
  }

  private func outgoingFile(_ number: Int32) -> PostedFile {
    PostedFile(
      name: SampleStore.fileName(of: number, cx), bytes: cx.collection.files[number].bytes)
  }
}
