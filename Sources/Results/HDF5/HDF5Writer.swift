import CHDF5

/// Writes groups, scales, variables and texts into an open file; the rules are in this module's
/// README.
struct HDF5Writer: ~Copyable {
  /// Bytes up to which a variable is stored in one piece, uncompressed.
  static let contiguousLimit = 16 << 10
  /// Bytes at which a chunk is split.
  static let chunkLimit = 1 << 20

  /// The open file.
  let file: hid_t
  /// The scales written so far, in that order.
  var scales: [Scale] = []

  /// The type of texts, and the space of one value.
  let text: HDF5Handle
  let scalar: HDF5Handle
  /// How data sets in one piece are made: of integers and texts, of doubles, of floats.
  private let plainList: HDF5Handle
  private let doubleList: HDF5Handle
  private let floatList: HDF5Handle

  /// A writer into an open file, with what all its objects have in common.
  init(file: hid_t, at place: HDF5Place) throws(ResultFault) {
    let text = try place.stringType()
    let scalar = try place.space([])
    let plainList = try Self.dataSetList(at: place)
    let doubleList = try Self.dataSetList(at: place)
    var double = Double(bitPattern: 0x7FF8_0000_0000_0000)
    try place.check(
      "H5Pset_fill_value", H5Pset_fill_value(doubleList.id, chdf5_f64(), &double))
    let floatList = try Self.dataSetList(at: place)
    var float = Float(bitPattern: 0x7FC0_0000)
    try place.check("H5Pset_fill_value", H5Pset_fill_value(floatList.id, chdf5_f32(), &float))
    self.file = file
    self.text = text
    self.scalar = scalar
    self.plainList = plainList
    self.doubleList = doubleList
    self.floatList = floatList
  }

  /// An axis and the place of its scale among `scales`.
  struct PlacedAxis {
    let axis: ResultDocument.Axis
    let scale: Int
  }

  /// Writes the root group and all in it into the open file.
  mutating func write(root: ResultDocument.Group, at place: HDF5Place) throws(ResultFault) {
    try write(root, into: file, at: place, axes: [])
    try writeUsesOfScales(at: place)
  }

  /// Writes a group's parts into the open group `id`.
  private mutating func write(
    _ group: ResultDocument.Group, into id: hid_t, at place: HDF5Place, axes visible: [PlacedAxis]
  ) throws(ResultFault) {
    for attribute in group.attributes { try write(attribute, on: id, at: place) }
    let first = scales.count
    let axes =
      group.axes.enumerated().map { PlacedAxis(axis: $1, scale: first + $0) } + visible
    for axis in group.axes {
      let inside = place.appending(axis.name)
      if let variable = group[variable: axis.name] {
        let data = try write(variable, into: id, at: inside, axes: axes)
        try inside.check("H5DSset_scale", H5DSset_scale(data.id, axis.name))
        try keep(scale: data.id, at: inside)
      } else {
        let data = try write(axis, into: id, at: inside)
        try keep(scale: data.id, at: inside)
      }
    }
    for text in group.texts { try write(text, into: id, at: place.appending(text.name)) }
    for variable in group.variables
    where !group.axes.contains(where: { $0.name == variable.name }) {
      let inside = place.appending(variable.name)
      let data = try write(variable, into: id, at: inside, axes: axes)
      try attach(variable.axes, to: data.id, at: inside, axes: axes)
    }
    for child in group.groups {
      let inside = place.appending(child.name)
      let creation = try inside.handle("H5Pcreate", H5Pcreate(chdf5_group_create()), H5Pclose)
      try Self.setOrderAndTimes(ofGroup: creation.id, at: inside)
      let made = try inside.handle(
        "H5Gcreate2", H5Gcreate2(id, child.name, chdf5_default(), creation.id, chdf5_default()),
        H5Gclose)
      try write(child, into: made.id, at: inside, axes: axes)
    }
  }

  /// Makes a group's members keep the order in which they are made, and no time of making.
  static func setOrderAndTimes(ofGroup list: hid_t, at place: HDF5Place) throws(ResultFault) {
    try place.check("H5Pset_obj_track_times", H5Pset_obj_track_times(list, false))
    try place.check(
      "H5Pset_link_creation_order", H5Pset_link_creation_order(list, chdf5_tracked_and_indexed()))
    try place.check(
      "H5Pset_attr_creation_order", H5Pset_attr_creation_order(list, chdf5_tracked_and_indexed()))
  }

  private static func dataSetList(at place: HDF5Place) throws(ResultFault) -> HDF5Handle {
    let list = try place.handle("H5Pcreate", H5Pcreate(chdf5_dataset_create()), H5Pclose)
    try place.check("H5Pset_obj_track_times", H5Pset_obj_track_times(list.id, false))
    try place.check(
      "H5Pset_attr_creation_order",
      H5Pset_attr_creation_order(list.id, chdf5_tracked_and_indexed()))
    return list
  }

  /// An axis without coordinates: a scale with a name that netCDF knows and no stored numbers.
  private func write(_ axis: ResultDocument.Axis, into id: hid_t, at place: HDF5Place)
    throws(ResultFault) -> HDF5Handle
  {
    let list = try Self.dataSetList(at: place)
    if axis.isUnlimited {
      try place.check("H5Pset_chunk", H5Pset_chunk(list.id, 1, [hsize_t(max(axis.length, 64))]))
    }
    let space = try place.space([axis.length], unlimited: axis.isUnlimited)
    let data = try place.handle(
      "H5Dcreate2",
      H5Dcreate2(
        id, axis.name, chdf5_f32_file(), space.id, chdf5_default(), list.id, chdf5_default()),
      H5Dclose)
    let digits = String(axis.length)
    let padding = String(repeating: " ", count: max(0, 10 - digits.count))
    let label = "This is a netCDF dimension but not a netCDF variable." + padding + digits
    try place.check("H5DSset_scale", H5DSset_scale(data.id, label))
    return data
  }

  private func write(_ text: ResultDocument.Text, into id: hid_t, at place: HDF5Place)
    throws(ResultFault)
  {
    let transfer = try place.textTransfer()
    let data = try place.handle(
      "H5Dcreate2",
      H5Dcreate2(
        id, text.name, self.text.id, scalar.id, chdf5_default(), plainList.id, chdf5_default()),
      H5Dclose)
    try withPointers([text.value]) { (pointers) throws(ResultFault) in
      try place.check(
        "H5Dwrite",
        H5Dwrite(data.id, self.text.id, chdf5_all(), chdf5_all(), transfer.id, pointers))
    }
  }

  /// Writes a variable with its attributes, not yet attached to its axes.
  private func write(
    _ variable: ResultDocument.Variable, into id: hid_t, at place: HDF5Place, axes: [PlacedAxis]
  ) throws(ResultFault) -> HDF5Handle {
    let placed = variable.axes.map { name in axes.first { $0.axis.name == name }!.axis }
    let lengths = placed.map(\.length)
    let isUnlimited = placed.first?.isUnlimited ?? false
    let list = try list(for: variable.values, lengths, isUnlimited, at: place)
    let space = try place.space(lengths, unlimited: isUnlimited)
    let data = try place.handle(
      "H5Dcreate2",
      H5Dcreate2(
        id, variable.name, variable.values.fileType, space.id, chdf5_default(), list.id,
        chdf5_default()), H5Dclose)
    try write(.init("units", .text(variable.units)), on: data.id, at: place)
    try write(.init("long_name", .text(variable.longName)), on: data.id, at: place)
    for attribute in variable.attributes { try write(attribute, on: data.id, at: place) }
    guard variable.values.count > 0 else { return data }
    try variable.values.withBytes { (bytes) throws(ResultFault) in
      try place.check(
        "H5Dwrite",
        H5Dwrite(
          data.id, variable.values.memoryType, chdf5_all(), chdf5_all(), chdf5_default(),
          bytes.baseAddress))
    }
    return data
  }

  /// How a variable is stored: in one piece, or in compressed chunks.
  private func list(
    for values: ResultValues, _ lengths: [Int], _ isUnlimited: Bool, at place: HDF5Place
  ) throws(ResultFault) -> HDF5Handle {
    let whole =
      switch values {
      case .double: doubleList.id
      case .float: floatList.id
      case .int64, .int32, .int8, .uint8: plainList.id
      }
    guard !lengths.isEmpty, isUnlimited || values.count * values.stride > Self.contiguousLimit
    else {
      // It stays open for the next variable.
      return HDF5Handle(whole) { _ in 0 }
    }
    let list = try place.handle("H5Pcopy", H5Pcopy(whole), H5Pclose)
    let chunk = Self.chunk(lengths, stride: values.stride, isUnlimited: isUnlimited)
    try place.check(
      "H5Pset_chunk", H5Pset_chunk(list.id, Int32(chunk.count), chunk.map { hsize_t($0) }))
    if values.stride > 1 { try place.check("H5Pset_shuffle", H5Pset_shuffle(list.id)) }
    try place.check("H5Pset_deflate", H5Pset_deflate(list.id, 4))
    return list
  }

  /// The whole array, halved along its first long axes until it fits; 64 to 1024 along an unlimited
  /// one.
  static func chunk(_ lengths: [Int], stride: Int, isUnlimited: Bool) -> [Int] {
    var chunk = lengths.map { max($0, 1) }
    if isUnlimited { chunk[0] = min(max(chunk[0], 64), 1024) }
    while chunk.reduce(stride, *) > chunkLimit, let i = chunk.firstIndex(where: { $0 > 1 }) {
      chunk[i] = (chunk[i] + 1) / 2
    }
    return chunk
  }
}
