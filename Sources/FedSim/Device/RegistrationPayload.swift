/// The body of a registration, written out for its size.
struct RegistrationPayload {
  var organisation = "default"
  var osVersion = 26.0
  var memory: Int64 = 4_000_000_000
  var freeStorage: Int64 = 10_000_000_000
  var isOnWiFi = true
  var batteryLevel = 100

  /// The body as compact JSON.
  ///
  /// Identifier, model, locale, region and time zone have their usual lengths: `iPhone15,4`,
  /// `en_US`, `US`, `Europe/Berlin`. Memory and storage count in 2²⁰ bytes. Source: EdgeML's
  /// `DeviceInfo.toRegistrationDict` with the two fields that its sample adds.
  var text: String {
    let megabyte: Int64 = 1_048_576
    let identifier = "00000000-0000-0000-0000-000000000000"
    let hardware =
      #"{"manufacturer":"Apple","model":"iPhone15,4","cpu_architecture":"arm64","#
      + #""gpu_available":true,"total_memory_mb":\#(memory / megabyte),"#
      + #""available_storage_mb":\#(freeStorage / megabyte)}"#
    let metadata =
      #"{"network_type":"\#(isOnWiFi ? "wifi" : "cellular")","battery_level":\#(batteryLevel)}"#
    let capabilities =
      #"{"cpu_architecture":"arm64","gpu_available":true,"coreml":true,"neural_engine":true}"#
    return #"{"device_identifier":"\#(identifier)","platform":"ios","os_version":"\#(osVersion)","#
      + #""device_info":\#(hardware),"locale":"en_US","region":"US","timezone":"Europe/Berlin","#
      + #""metadata":\#(metadata),"capabilities":\#(capabilities),"#
      + #""org_id":"\#(organisation)","sdk_version":"1.1.0"}"#
  }
}

extension Identity {
  /// The size of a device's registration.
  static func registrationBytes(_ device: Int, _ devices: inout Devices, _ cx: inout Context)
    -> Int64
  {
    let group = Roster.group(of: device, devices, cx)
    guard group.registration!.content == .edgeml else { return group.registration!.bytes }
    var payload = RegistrationPayload()
    if let hardware = Roster.hardware(of: device, devices)?.hardware {
      payload.osVersion = hardware.osVersion
      (payload.memory, payload.freeStorage) = (hardware.memory, hardware.freeStorage)
    }
    payload.organisation = group.authentication?.organisation ?? payload.organisation
    payload.isOnWiFi = cx.network[device].link == 2 || group.heartbeats?.reportedLink == .wifi
    if Body.hasBody(device, devices) {
      payload.batteryLevel = devices.bodies[device].level(at: cx.now)
    }
    let (sum, isOver) = cx.inputs.server.messageBytes.addingReportingOverflow(
      Int64(payload.text.utf8.count))
    return isOver ? .max : sum
  }
}
