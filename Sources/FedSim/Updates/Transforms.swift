import Learning
import Numerics

/// The last update of a device whose transforms keep something of it.
struct SentUpdate: Codable {
  let update: DeferredUpdate
  /// How many updates have to be computed for what is left, at most.
  let depth: Int
}

extension ServerSettings {
  /// What the transforms make of the form of an update.
  func updateForm(of layout: ParameterLayout, needs: LocalNeeds) -> UpdateForm {
    var form = UpdateForm(tensors: travelling(of: layout, needs: needs).map(\.count))
    for transform in transforms { transform.value.shape(&form) }
    return form
  }

  /// The size of an update as it is sent: its parameters after the transforms, and the buffers that
  /// the local algorithm sends with them, which no transform touches.
  ///
  /// Units: bytes.
  package func updateBytes(
    of layout: ParameterLayout, needs: LocalNeeds = LocalNeeds()
  ) -> Int64 {
    let plain = parameterBytes(of: layout, needs: needs, isUpload: true)
    let sent =
      transforms.isEmpty
      ? plain : transformedBytes(plain: plain, updateForm(of: layout, needs: needs))
    return sent.adding(plain * Int64(needs.companions))
  }

  /// Numbers that transforms have made fewer or smaller are packed one behind the other; an NPY
  /// file holds the numbers of a tensor, or all that are left and their places.
  private func transformedBytes(plain: Int64, _ form: UpdateForm) -> Int64 {
    let beside = Int64(form.bytesBeside)
    if form.isPlain { return plain.adding(beside) }
    let floatBytes = payloadFormat == nil ? bytesPerParameter : 4
    let packed = form.packedBytes(floatBytes: floatBytes) + beside
    switch payloadFormat?.upload {
    case nil, .raw, .json: return packed
    case .base64: return (packed + 2) / 3 * 4
    case .npy:
      let arrays =
        form.numbers == form.count ? form.tensors.count : form.bitsPerPlace > 0 ? 2 : 1
      return packed + 128 * Int64(arrays)
    }
  }

  /// The size of a model as it is sent, with what the server tells transforms.
  package func modelBytes(of layout: ParameterLayout, needs: LocalNeeds = LocalNeeds()) -> Int64 {
    let plain =
      parameterBytes(of: layout, needs: needs, isUpload: false) * Int64(1 + needs.companions)
    return transforms.isEmpty
      ? plain : plain.adding(Int64(updateForm(of: layout, needs: needs).bytesTold))
  }

  /// What of the transforms does not go together.
  var transformContradictions: [(key: String, message: String)] {
    var form = UpdateForm(tensors: [1_000_000])
    var choosing: String?
    for transform in transforms {
      transform.value.shape(&form)
      var alone = UpdateForm(tensors: [1_000_000])
      transform.value.shape(&alone)
      guard alone.numbers < alone.count else { continue }
      if let choosing {
        return [
          (
            "transforms",
            "`\(choosing)` and `\(transform.name)` both choose the parameters to send: use one"
          )
        ]
      }
      choosing = transform.name
    }
    if payloadFormat?.upload == .json, !form.isPlain {
      return [
        (
          "payloadFormat",
          "packed updates are not decimal numbers: use raw, npy or base64"
        )
      ]
    }
    return []
  }
}

/// What updates go through on their way.
enum Transforms {
  /// The size of a model that a device sends because it was asked for it.
  static func givenModelBytes(_ cx: borrowing Context) -> Int64 {
    WireSize.bytes(of: .submission, cx)
      .adding(
        cx.inputs.server.parameterBytes(
          of: cx.inputs.task.network.layout, needs: cx.inputs.task.algorithm.needs, isUpload: true))
  }

  /// What the server sent to a transform with a version.
  static func told(_ place: Int, version: Int32, _ server: borrowing Server) -> Double? {
    let numbers = server.memories.told[place]
    return numbers.isEmpty ? nil : numbers[Int(version)]
  }

  /// A training's update as its device will send it; nil where it is what was trained.
  ///
  /// Draws, when it is computed: each transform's, at slot = the first data epoch of the training
  /// (seed `training`, purpose `transform-` and its place).
  static func sent(
    by device: Int, _ attempt: Attempt, _ training: DeferredTraining?, _ server: inout Server,
    _ cx: inout Context
  ) -> DeferredUpdate? {
    guard let chain = cx.features.chain, let training, let base = attempt.baseParameters else {
      return nil
    }
    let forgery = Adversary.forgery(by: device, cx)
    if chain.transforms.isEmpty, forgery == nil { return nil }
    let name = cx.inputs.fleet[cx.members.group(of: device)].name
    let ordinal = UInt32(cx.members.ordinal(of: device))
    let keys = chain.transforms.indices.map { place in
      StreamKey(
        seed: cx.inputs.seeds.training, purpose: Purpose("transform-\(place)"), group: name,
        ordinal: ordinal)
    }
    var told: [Double?] = []
    for place in chain.transforms.indices {
      told.append(Self.told(place, version: attempt.base, server))
    }
    let last = cx.states.lastSent.isEmpty ? nil : cx.states.lastSent[device]
    let update = DeferredUpdate(
      training, from: base, through: chain, keys: keys, slot: attempt.firstEpoch, told: told,
      after: last?.update, forgery: forgery)
    guard !cx.states.lastSent.isEmpty else { return update }
    var depth = 1
    if let last, !last.update.isComputed { depth += last.depth }
    if depth > OwnModel.longestChain {
      // A chain of updates that nobody asked for is computed before it grows too long.
      _ = update.value(Scratch())
      depth = 1
    }
    cx.states.lastSent[device] = SentUpdate(update: update, depth: depth)
    return update
  }

  /// Whether all of these updates are what was trained.
  static func areAsTrained(_ updates: [Int32], _ cx: borrowing Context) -> Bool {
    // A loop: a closure would copy the simulation.
    for update in updates where cx.updates[update].sent != nil { return false }
    return true
  }

  /// Updates as they are sent: what was trained, or that forged and through the transforms.
  static func asSent(
    _ updates: [Int32], _ values: [DeferredTraining.Value], _ server: borrowing Server,
    _ cx: borrowing Context
  ) -> [ParameterBuffer] {
    let (ranges, model) = (cx.features.privateRanges, server.model)
    var sent: [DeferredUpdate?] = []
    for update in updates { sent.append(cx.updates[update].sent) }
    let (all, agreed) = (sent, Adversary.agreements(updates, values, server, cx))
    return cx.inputs.pool.map(all.count) { index, scratch in
      all[index]?.value(scratch, agreed: agreed[index]).parameters
        ?? values[index].parameters.replacing(ranges, from: model)
    }
  }

  /// The server learns from the reports of a version's updates what it tells transforms next; the
  /// share of them that reported 1, NaN where there is no such transform.
  ///
  /// Draws: each transform's, at slot = the version of before (seed `policy`, purpose `told-` and
  /// its place).
  static func tellNext(_ updates: [Int32], _ server: inout Server, _ cx: inout Context) -> Double {
    guard let chain = cx.features.chain else { return .nan }
    var share = Double.nan
    for (place, transform) in chain.transforms.enumerated() {
      guard let transform = transform.asTold, let told = server.memories.told[place].last
      else { continue }
      var reports: [Double] = []
      if !cx.inputs.omitsArithmetic {
        let scratch = Scratch()
        for update in updates {
          if let report = cx.updates[update].sent!.value(scratch).reports[place] {
            reports.append(report)
          }
        }
      }
      var stream = StreamKey(seed: cx.inputs.seeds.policy, purpose: Purpose("told-\(place)"))
        .stream(slot: UInt64(server.version))
      let next = transform.tellNext(after: told, reports: reports, &stream)
      server.memories.told[place].append(next)
      if !reports.isEmpty { share = reports.reduce(0, +) / Double(reports.count) }
    }
    return share
  }
}
