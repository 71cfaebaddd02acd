extension CoreMLDamageTests {
  /// What is wrong with a model as a whole, its input or its training.
  static let modelDamages: [Damage] = [
    Damage(
      "specification version 11", "m.mlmodel: found specification version 11, expected 1 to 10"
    ) {
      $0.set(1, .number(11))
    },
    Damage("no specification version", "m.mlmodel: found specification version 0, expected 1 to 10")
    {
      $0.set(1, nil)
    },
    Damage(
      "an ML program",
      "m.mlmodel: found an ML program, expected a neural network; make one of the original network "
        + "with NeuralNetworkBuilder of coremltools, or with coremltools.convert(…, "
        + "convert_to=\"neuralnetwork\") and save(\"m.mlmodel\")"
    ) {
      $0.set(403, nil)
      $0.set(502, .bytes([]))
    },
    Damage("a tree", "m.mlmodel: found a tree ensemble, expected a neural network") {
      $0.set(403, nil)
      $0.set(402, .bytes([]))
    },
    Damage(
      "a pipeline of two",
      "m.mlmodel: found a pipeline of 2 models, expected a pipeline of one network"
    ) {
      let inner = $0
      $0.set(403, nil)
      $0[202][1, 0] = inner
      $0[202][1, 1] = inner
    },
    Damage(
      "an empty pipeline",
      "m.mlmodel: found a pipeline of 0 models, expected a pipeline of one network"
    ) {
      $0.set(403, nil)
      $0.set(202, .bytes([]))
    },
    Damage(
      "pipelines inside of pipelines",
      "m.mlmodel at byte 210: found models inside of models, 60 deep, expected a pipeline of "
        + "one network; "
        + "is it a Core ML model (.mlmodel)?"
    ) {
      var inner = ProtobufBytes()
      for _ in 0..<200 {
        var outer = ProtobufBytes()
        outer[202][1] = inner
        inner = outer
      }
      $0 = inner
    },
    Damage(
      "two networks", "m.mlmodel:layer 4 at byte 570: found model a second time, expected it once"
    ) {
      $0[500] = ProtobufBytes()
    },
    Damage("no layers", "m.mlmodel: found no layers, expected a network") {
      $0.set(403, .bytes([]))
    },
    Damage("two inputs", "m.mlmodel: found 2 inputs (x, x), expected 1 input") { model in
      let input = model[2][1]
      model[2][1, 1] = input
    },
    Damage(
      "an optional input",
      "m.mlmodel:input 'x': found an optional input, expected one that is always there"
    ) { $0[2][1][3].set(1000, .number(1)) },
    Damage(
      "a text as input",
      "m.mlmodel:input 'x': found neither an array nor an image, expected a multi-array or an image"
    ) {
      $0[2][1].set(3, .bytes([26, 0]))
    },
    Damage(
      "a flexible shape",
      "m.mlmodel:input 'x': found a flexible shape or a default value, expected one shape"
    ) {
      $0[2][1][3][5].set(31, .bytes([]))
    },
    Damage(
      "an input of two axes",
      "m.mlmodel:input 'x': found shape [6, 6], expected [features] or [channels, height, width]"
    ) {
      $0[2][1][3][5].set(1, .bytes([6, 6]))
    },
    Damage(
      "an input of more numbers than are counted",
      "m.mlmodel:input 'x': found shape [268435456, 268435456, 268435456], expected [features] or "
        + "[channels, height, width]"
    ) {
      let extent: [UInt8] = [128, 128, 128, 128, 1]
      $0[2][1][3][5].set(1, .bytes(extent + extent + extent))
    },
    Damage(
      "an image of bytes",
      "m.mlmodel:input 'x': found pixels from 0 to 255, expected pixels from 0 to 1: "
        + "image_scale=1/255 without biases"
    ) {
      $0[2][1].set(3, .bytes([34, 6, 8, 3, 16, 2, 24, 10]))
    },
    Damage(
      "preprocessing of an array",
      "m.mlmodel:input 'x': found preprocessing of an array, expected none"
    ) {
      $0[403].fields.append((2, .bytes([])))
    },
  ]
}
