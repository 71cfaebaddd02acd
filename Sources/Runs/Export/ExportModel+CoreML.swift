import DataSets
import Scenarios

extension ExportModel {
  /// The Core ML file that the model is from, with these tensors where it is trained.
  ///
  /// `count` becomes the number of tensors that are written. Throws: `RunFailure.input` for a model
  /// that is from no such file, and for a file that has changed since.
  func coreML(_ stored: StoredRun, _ count: inout Int) throws(RunFailure) -> [UInt8] {
    func refusal(_ message: String) -> RunFailure { StoredRun.refusal(stored.path, message) }
    guard group.name == "model" else {
      throw refusal("coreml takes the group `model`; `\(group.name)` is another model")
    }
    let choice = stored.scenario.settings.task.model
    guard let file = choice.value.file else {
      throw refusal(
        "the model is `\(choice.name)`, not a Core ML file (`task.model: {coreml: m.mlmodel}`); "
          + "--format safetensors writes any model")
    }
    let path = stored.scenario.path(of: file.path)
    do throws(DataFault) {
      let network = try CoreMLNetwork(contentsOf: path)
      if case .text(network.digest)? = group[attribute: "coreMLDigest"] {
        count = network.trainedCount
        return try network.bytes(with: tensors.map(\.values))
      }
    } catch {
      throw refusal(error.description)
    }
    throw refusal("`\(path)` is not the file that the run began with: it has changed since")
  }
}
