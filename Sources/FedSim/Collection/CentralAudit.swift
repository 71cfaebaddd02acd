extension Collecting {
  /// Ends every file that is still open.
  static func finishCentral(_ cx: inout Context) {
    guard cx.collection.isOn else { return }
    for device in cx.members.indices { cx.collection.collectors[device].queue = [] }
    for file in cx.collection.files.numbers {
      cx.collection.files[file].isSending = false
      cx.collection.files[file].isSendingItem = false
      SampleFiles.resolve(
        file: file, cx.collection.files[file].inStore.isThere ? .unread : .unfinishedAtEnd, &cx)
    }
  }
}
