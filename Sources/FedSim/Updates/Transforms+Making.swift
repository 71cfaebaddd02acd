import Learning
import Numerics

extension Transforms {
  /// Makes what updates go through: what adversaries do to them, and the transforms.
  static func makeTransforms(_ server: inout Server, _ cx: inout Context) {
    let settings = cx.inputs.server
    guard !settings.transforms.isEmpty || cx.features.falsifies else { return }
    let layout = cx.inputs.task.network.layout
    let needs = cx.inputs.task.algorithm.needs
    let frozen = layout.tensors.filter { !$0.isUpdatable }.map(\.range)
    let chain = TransformChain(
      transforms: settings.transforms.map(\.value),
      tensors: settings.travelling(of: layout, needs: needs).map(\.range),
      kept: frozen + cx.features.privateRanges,
      attacks: cx.inputs.fleet.map { $0.adversary?.attack.value })
    cx.features.chain = chain
    precondition(
      !chain.hasCollusion || !chain.keepsResiduals,
      "colluders' updates are unknown when a later update is made")
    if chain.keepsResiduals, !cx.inputs.omitsArithmetic {
      cx.states.lastSent = Array(repeating: nil, count: cx.members.count)
    }
    server.memories.told = chain.transforms.map { $0.asTold.map { [$0.firstTold] } ?? [] }
  }
}
