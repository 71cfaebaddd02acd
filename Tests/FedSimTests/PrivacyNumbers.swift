// Printed by Tests/Fixtures-scripts/make_privacy_numbers.py.

/// A run of versions: what they are drawn from, the noise, how many, δ; and its ε.
struct PrivacyCase: Sendable {
  let kind: String
  let rate: Double
  let noise: Double
  let versions: Int
  let delta: Double
  let epsilon: Double
}

/// ε of 50 runs, by dp-accounting.
let privacyCases: [PrivacyCase] = [
  PrivacyCase(
    kind: "none", rate: 1, noise: 0.7, versions: 1, delta: 1e-05,
    epsilon: 7.162778443058905),
  PrivacyCase(
    kind: "none", rate: 1, noise: 0.7, versions: 30, delta: 1e-06,
    epsilon: 70.13191642710414),
  PrivacyCase(
    kind: "none", rate: 1, noise: 0.7, versions: 1000, delta: 1e-09,
    epsilon: 1325.4027578499017),
  PrivacyCase(
    kind: "none", rate: 1, noise: 1.1, versions: 1, delta: 1e-05,
    epsilon: 4.239640834979211),
  PrivacyCase(
    kind: "none", rate: 1, noise: 1.1, versions: 30, delta: 1e-06,
    epsilon: 37.22260462659645),
  PrivacyCase(
    kind: "none", rate: 1, noise: 1.1, versions: 1000, delta: 1e-09,
    epsilon: 596.7807305265754),
  PrivacyCase(
    kind: "none", rate: 1, noise: 4, versions: 1, delta: 1e-05,
    epsilon: 1.0125506277526433),
  PrivacyCase(
    kind: "none", rate: 1, noise: 4, versions: 30, delta: 1e-06,
    epsilon: 7.481114834875133),
  PrivacyCase(
    kind: "none", rate: 1, noise: 4, versions: 1000, delta: 1e-09,
    epsilon: 80.60841874883903),
  PrivacyCase(
    kind: "none", rate: 1, noise: 20, versions: 1, delta: 1e-05,
    epsilon: 0.18161725121127978),
  PrivacyCase(
    kind: "none", rate: 1, noise: 20, versions: 30, delta: 1e-06,
    epsilon: 1.2604968096934694),
  PrivacyCase(
    kind: "none", rate: 1, noise: 20, versions: 1000, delta: 1e-09,
    epsilon: 10.802903048488208),
  PrivacyCase(
    kind: "none", rate: 1, noise: 60, versions: 400, delta: 1e-05,
    epsilon: 1.3862750468052074),
  PrivacyCase(
    kind: "none", rate: 1, noise: 0.3, versions: 3, delta: 0.001,
    epsilon: 36.41542349654894),
  PrivacyCase(
    kind: "poisson", rate: 0.001, noise: 0.6, versions: 1, delta: 1e-05,
    epsilon: 1.8895090697487273),
  PrivacyCase(
    kind: "poisson", rate: 0.001, noise: 0.6, versions: 1000, delta: 1e-06,
    epsilon: 3.141048614621649),
  PrivacyCase(
    kind: "poisson", rate: 0.001, noise: 1.1, versions: 1, delta: 1e-05,
    epsilon: 0.48228664794668946),
  PrivacyCase(
    kind: "poisson", rate: 0.001, noise: 1.1, versions: 1000, delta: 1e-06,
    epsilon: 0.6830550261583745),
  PrivacyCase(
    kind: "poisson", rate: 0.001, noise: 5, versions: 1, delta: 1e-05,
    epsilon: 0.01949431348920936),
  PrivacyCase(
    kind: "poisson", rate: 0.001, noise: 5, versions: 1000, delta: 1e-06,
    epsilon: 0.03379817621207916),
  PrivacyCase(
    kind: "poisson", rate: 0.02, noise: 0.6, versions: 1, delta: 1e-05,
    epsilon: 3.5444516022759744),
  PrivacyCase(
    kind: "poisson", rate: 0.02, noise: 0.6, versions: 1000, delta: 1e-06,
    epsilon: 17.77924349764755),
  PrivacyCase(
    kind: "poisson", rate: 0.02, noise: 1.1, versions: 1, delta: 1e-05,
    epsilon: 0.9380829982472043),
  PrivacyCase(
    kind: "poisson", rate: 0.02, noise: 1.1, versions: 1000, delta: 1e-06,
    epsilon: 4.0379383537211115),
  PrivacyCase(
    kind: "poisson", rate: 0.02, noise: 5, versions: 1, delta: 1e-05,
    epsilon: 0.045773659021538085),
  PrivacyCase(
    kind: "poisson", rate: 0.02, noise: 5, versions: 1000, delta: 1e-06,
    epsilon: 0.5663774873499638),
  PrivacyCase(
    kind: "poisson", rate: 0.3, noise: 0.6, versions: 1, delta: 1e-05,
    epsilon: 6.945386216554969),
  PrivacyCase(
    kind: "poisson", rate: 0.3, noise: 0.6, versions: 1000, delta: 1e-06,
    epsilon: 667.7443550302843),
  PrivacyCase(
    kind: "poisson", rate: 0.3, noise: 1.1, versions: 1, delta: 1e-05,
    epsilon: 2.8463130853005056),
  PrivacyCase(
    kind: "poisson", rate: 0.3, noise: 1.1, versions: 1000, delta: 1e-06,
    epsilon: 119.9115631191637),
  PrivacyCase(
    kind: "poisson", rate: 0.3, noise: 5, versions: 1, delta: 1e-05,
    epsilon: 0.2878070404431974),
  PrivacyCase(
    kind: "poisson", rate: 0.3, noise: 5, versions: 1000, delta: 1e-06,
    epsilon: 11.316074508422847),
  PrivacyCase(
    kind: "fixed", rate: 0.001, noise: 0.6, versions: 1, delta: 1e-05,
    epsilon: 2.0128954801162067),
  PrivacyCase(
    kind: "fixed", rate: 0.001, noise: 0.6, versions: 1000, delta: 1e-06,
    epsilon: 3.5508526806519756),
  PrivacyCase(
    kind: "fixed", rate: 0.001, noise: 1.1, versions: 1, delta: 1e-05,
    epsilon: 0.48273019338425066),
  PrivacyCase(
    kind: "fixed", rate: 0.001, noise: 1.1, versions: 1000, delta: 1e-06,
    epsilon: 0.7108162652688228),
  PrivacyCase(
    kind: "fixed", rate: 0.001, noise: 5, versions: 1, delta: 1e-05,
    epsilon: 0.01951057270575661),
  PrivacyCase(
    kind: "fixed", rate: 0.001, noise: 5, versions: 1000, delta: 1e-06,
    epsilon: 0.05005739275933134),
  PrivacyCase(
    kind: "fixed", rate: 0.02, noise: 0.6, versions: 1, delta: 1e-05,
    epsilon: 3.7308287780030103),
  PrivacyCase(
    kind: "fixed", rate: 0.02, noise: 0.6, versions: 1000, delta: 1e-06,
    epsilon: 25.21373736892182),
  PrivacyCase(
    kind: "fixed", rate: 0.02, noise: 1.1, versions: 1, delta: 1e-05,
    epsilon: 0.9659572809369985),
  PrivacyCase(
    kind: "fixed", rate: 0.02, noise: 1.1, versions: 1000, delta: 1e-06,
    epsilon: 7.758510947411426),
  PrivacyCase(
    kind: "fixed", rate: 0.02, noise: 5, versions: 1, delta: 1e-05,
    epsilon: 0.049063265149750505),
  PrivacyCase(
    kind: "fixed", rate: 0.02, noise: 5, versions: 1000, delta: 1e-06,
    epsilon: 1.194563934798478),
  PrivacyCase(
    kind: "fixed", rate: 0.3, noise: 0.6, versions: 1, delta: 1e-05,
    epsilon: 7.270257540987197),
  PrivacyCase(
    kind: "fixed", rate: 0.3, noise: 0.6, versions: 1000, delta: 1e-06,
    epsilon: 1372.1186133464157),
  PrivacyCase(
    kind: "fixed", rate: 0.3, noise: 1.1, versions: 1, delta: 1e-05,
    epsilon: 3.0129612463827438),
  PrivacyCase(
    kind: "fixed", rate: 0.3, noise: 1.1, versions: 1000, delta: 1e-06,
    epsilon: 356.9638717692343),
  PrivacyCase(
    kind: "fixed", rate: 0.3, noise: 5, versions: 1, delta: 1e-05,
    epsilon: 0.32234988347472937),
  PrivacyCase(
    kind: "fixed", rate: 0.3, noise: 5, versions: 1000, delta: 1e-06,
    epsilon: 27.01421483044293),
]

/// The noise that keeps an ε, by dp-accounting.
let privacyTargets: [PrivacyCase] = [
  PrivacyCase(
    kind: "none", rate: 1, noise: 6.3767027841081765, versions: 100, delta: 1e-05,
    epsilon: 8),
  PrivacyCase(
    kind: "poisson", rate: 0.02, noise: 1.3606778975301468, versions: 500, delta: 1e-06,
    epsilon: 2),
  PrivacyCase(
    kind: "fixed", rate: 0.05, noise: 1.8527428570870188, versions: 200, delta: 1e-05,
    epsilon: 4),
  PrivacyCase(
    kind: "none", rate: 1, noise: 30.35410677665515, versions: 10, delta: 1e-07,
    epsilon: 0.5),
  PrivacyCase(
    kind: "poisson", rate: 0.2, noise: 3.456947851860214, versions: 1000, delta: 1e-05,
    epsilon: 10),
]

/// Updates of one device, 24 parameters each, in tensors of 10 and 14.
let sentUpdates: [Float] = [
  -0.5, 1.109375, 1.171875, -0.8125, -1.296875, -1.109375, -1.625, 0.65625, 0.546875, 1.375,
  -0.875, -0.390625, -1.6875, 0.171875, 0.875, -1.328125, 0.015625, -1.875, 1.6875, -1.8125,
  -1.921875, 1.578125, -0.625, 0.203125, 1.703125, -1.8125, 1.890625, 1.46875, 0.796875, -1.6875,
  -1.84375, 0.875, 1.71875, -1.359375, -0.59375, -1.5625, 1.65625, -1.4375, 1.96875, -1.875,
  -1.28125, -0.515625, 0.15625, -1.375, 1.953125, 1.734375, -1.34375, 0.796875, -0.09375,
  -0.65625, 0.578125, 1.890625, -0.453125, 1.03125, -0.1875, -1.8125, 1.625, -1.859375, 0.453125,
  -1.828125, -0.734375, 0.296875, 1.328125, -0.8125, 1.6875, 1.96875, 1.015625, 1.90625,
  -0.953125, -0.46875, -0.390625, -1.09375, -1.25, -0.171875, -0.453125, -1.734375, -1.34375,
  1.703125, 1.796875, 0.28125, -0.671875, 1.328125, -1.625, -1.625, -0.828125, -1.09375,
  1.953125, -0.796875, -1.015625, 1.03125, 1.453125, -1.5625, -1.890625, 1.828125, -1.03125,
  0.640625,
]

/// The first of them in signed bytes.
let sentBytes: [Double] = [
  -0.49901576433330774, 1.1131890127435327, 1.1771653927862644, -0.8061023885384202,
  -1.2923228768631816, -1.1131890127435327, -1.6250000530853868, 0.652559076435864,
  0.5501968683674932, 1.3690945329144597, -0.8777067065238953, -0.39345473051071167,
  -1.6948819160461426, 0.16646161675453186, 0.8777067065238953, -1.3316929340362549,
  0.015132874250411987, -1.8764764070510864, 1.6948819160461426, -1.8159449100494385,
  -1.9218750298023224, 1.5738189220428467, -0.6204478442668915, 0.19672736525535583,
]

/// The five largest of each, with what was left before.
let sentLargest: [Double] = [
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1.6875, 0, 0, 0, 0, -1.875, 1.6875, -1.8125, -1.921875, 0,
  0, 0, 0, 0, 3.0625, 0, 0, 0, -3.46875, 0, 0, 0, 0, 0, 0, 0, 2.84375, -3.203125, 0, 0, 0, 0, 0,
  3.3125, 0, 0, 0, 0, 0, 2.546875, 0, 0, 0, 0, 3.890625, -1.84375, 0, -3.78125, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, -2.359375, 0, 0, 0, 0, 0, -2.296875, 0, 0, 0, 0, 0, -2.640625, 0, 0, 0, 3.28125, 0,
  0, 2.484375, 2.625, 0, 0, 0, 0, 0,
]

/// What is left after the last.
let sentRest: [Double] = [
  -0.140625, -1.53125, 0.125, -1.734375, 0, -0.0625, 1.609375, 0, -0.671875, 1.328125, 0, -1.625,
  0.09375, -2.0625, 0, -1.609375, -0.59375, 0, 0, -1.03125, -0.890625, 1.359375, -1.03125,
  0.546875,
]

/// Norms of the updates of five versions, eight each.
let clipNorms: [Double] = [
  2.7450316361687745, 1.9103001519681038, 1.4623876953681783, 1.2294479923022812,
  2.277887087663756, 1.5553927553275124, 3.963373737971242, 0.7868274997747884,
  0.19476537746782396, 0.5047645096517965, 2.6644152102010126, 3.51620181255877,
  1.7814310195893497, 2.6764431062974037, 1.160241684353899, 2.9771530324577884,
  2.8848833382725783, 1.9837424618879491, 2.9675150300063975, 1.9799273385715659,
  1.7509294777346134, 3.614949682105593, 1.1597812707070525, 1.953477198885209,
  2.5881145733159165, 0.8382385128857179, 1.781957689581617, 1.8761683151537665,
  1.933115268895747, 1.740505520055725, 1.8005782529973953, 2.3783221914846298,
  2.764841566996995, 2.730954642141404, 0.778446803771311, 1.2077953050462864, 1.958729884753506,
  0.2317489228810392, 2.1545945793426946, 0.6783982741995143,
]

/// The bounds after each: from 1, rate 0.5, for the quantile 0.75.
let clipBounds: [Double] = [
  1.3668379411737963, 1.648721270700128, 2.253534787213208, 2.253534787213208, 2.253534787213208,
]
