import CKernels

/// One of the three compiled forms of the arithmetic; all give the same bits, at different speed.
public enum KernelBody: String, CaseIterable, Sendable {
  case avx512
  case avx2
  case baseline

  /// The fastest body that this processor can run.
  public static var best: KernelBody {
    allCases.first(where: \.isSupported) ?? .baseline
  }

  /// Whether this processor can run the body; `baseline` runs everywhere.
  public var isSupported: Bool { fs_kernels_for(code) != nil }

  var code: fs_body {
    switch self {
    case .avx512: FS_AVX512
    case .avx2: FS_AVX2
    case .baseline: FS_BASELINE
    }
  }
}
