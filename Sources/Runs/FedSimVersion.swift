/// The version of the simulator, as it is in result files.
public enum FedSimVersion {
  /// The version that this code is; a change that alters results raises it.
  public static let current = "0.2.0"
  /// The version of the groups and names in a result file.
  public static let resultSchema: Int64 = 2
}
