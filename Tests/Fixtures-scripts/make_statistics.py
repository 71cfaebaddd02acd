"""Writes Tests/AnalysisTests/Fixtures/statistics.json: statistics of small samples by SciPy.

    python3 Tests/Fixtures-scripts/make_statistics.py

Needs numpy, scipy (1.13 or newer) and statsmodels. What SciPy lacks, or does not count exactly with
ties, is counted here by brute force from the definition, not from the project's sources.
"""

import itertools
import json
import pathlib

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20251117)


def clean(x):
    """Numbers as JSON has them."""
    if isinstance(x, dict):
        return {k: clean(v) for k, v in x.items()}
    if isinstance(x, (list, tuple, np.ndarray)):
        return [clean(v) for v in x]
    if isinstance(x, str):
        return x
    if isinstance(x, (int, np.integer)):
        return int(x)
    return None if np.isnan(x) else float(x)


def describe(x):
    x = np.array(x)
    e = stats.ecdf(x).cdf
    pairs = np.abs(x[:, None] - x[None, :])
    tenth = -(-len(x) // 10)
    return dict(
        values=x, mean=np.mean(x), variance=np.var(x, ddof=1), median=np.median(x),
        shares=[0, 0.05, 0.1, 0.25, 0.5, 0.77, 0.95, 1],
        quantiles=np.quantile(x, [0, 0.05, 0.1, 0.25, 0.5, 0.77, 0.95, 1], method="linear"),
        interquartileMean=stats.trim_mean(x, 0.25),
        worstTenth=np.mean(np.sort(x)[:tenth]), bestTenth=np.mean(np.sort(x)[-tenth:]),
        ecdfValues=e.quantiles, ecdfShares=e.probabilities,
        gini=pairs.mean() / (2 * x.mean()) if x.sum() else 0,
        jain=x.sum() ** 2 / (len(x) * (x**2).sum()) if x.sum() else 1)


def signed_rank_by_brute_force(d):
    """All signs of all differences other than 0."""
    d = np.array([v for v in d if v != 0])
    ranks = stats.rankdata(np.abs(d))
    observed = ranks[d > 0].sum()
    signs = np.array(list(itertools.product([0, 1], repeat=len(d))))
    sums = signs @ ranks
    low, high = np.mean(sums <= observed + 1e-9), np.mean(sums >= observed - 1e-9)
    return dict(twoSided=min(1, 2 * min(low, high)), less=low, greater=high)


def signed_rank(d, brute):
    d = np.array(d, dtype=float)
    kept = d[d != 0]
    ranks = stats.rankdata(np.abs(kept))
    out = dict(differences=d, count=len(kept), zeros=int((d == 0).sum()),
               positiveSum=ranks[kept > 0].sum(), negativeSum=ranks[kept < 0].sum(),
               rankBiserial=(ranks[kept > 0].sum() - ranks[kept < 0].sum()) / ranks.sum())
    alternatives = {"twoSided": "two-sided", "less": "less", "greater": "greater"}
    if brute:
        out["exact"] = signed_rank_by_brute_force(d)
    if len(set(np.abs(kept))) == len(kept) and len(kept) == len(d) and len(d) <= 50:
        exact = {k: stats.wilcoxon(d, alternative=a, method="exact").pvalue
                 for k, a in alternatives.items()}
        if brute:
            assert all(abs(exact[k] - out["exact"][k]) < 1e-12 for k in exact)
        out["exact"] = exact
    for name, correction in [("approximate", False), ("corrected", True)]:
        out[name] = {k: stats.wilcoxon(d, alternative=a, method="asymptotic",
                                       correction=correction, zero_method="wilcox").pvalue
                     for k, a in alternatives.items()}
    signs = stats.binomtest(int((d > 0).sum()), len(kept), 0.5)
    out["signTest"] = signs.pvalue
    out["cohensD"] = d.mean() / d.std(ddof=1)
    return out


def walsh(d, level):
    """Hodges and Lehmann's estimate, and the shifts that the exact test does not refuse."""
    d = np.array(d)
    n = len(d)
    means = np.sort([(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)])
    total = n * (n + 1) // 2
    counts = np.zeros(total + 1)
    counts[0] = 1
    for r in range(1, n + 1):
        counts[r:] += counts[:-r].copy()
    below = np.cumsum(counts) / 2.0**n
    k = int(np.searchsorted(below, (1 - level) / 2, side="right"))  # P(W <= k - 1) <= rest / 2
    k = max(k, 1)
    return dict(differences=d, level=level, value=np.median(means), low=means[k - 1],
                high=means[len(means) - k], achieved=1 - 2 * below[k - 1])


def rank_sum(a, b, exact):
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    alternatives = {"twoSided": "two-sided", "less": "less", "greater": "greater"}
    out = dict(first=a, second=b, statistic=stats.mannwhitneyu(a, b).statistic)
    if exact:
        together = np.concatenate([a, b])
        if len(set(together)) == len(together):
            out["exact"] = {k: stats.mannwhitneyu(a, b, alternative=v, method="exact").pvalue
                            for k, v in alternatives.items()}
        else:  # SciPy's exact method overlooks ties: all divisions are counted here
            ranks = stats.rankdata(together)
            observed = ranks[:len(a)].sum()
            sums = np.array([ranks[list(c)].sum() for c in
                             itertools.combinations(range(len(together)), len(a))])
            low, high = np.mean(sums <= observed + 1e-9), np.mean(sums >= observed - 1e-9)
            out["exact"] = dict(twoSided=min(1, 2 * min(low, high)), less=low, greater=high)
    out["approximate"] = {
        k: stats.mannwhitneyu(a, b, alternative=v, method="asymptotic").pvalue
        for k, v in alternatives.items()}
    more = (b[None, :] > a[:, None]).mean()
    less = (b[None, :] < a[:, None]).mean()
    out["cliffsDelta"] = more - less
    out["superiority"] = more + (1 - more - less) / 2
    return out


def bootstrap(x, statistic, name):
    """Intervals of 200,000 resamples, and what the ends of one of 9,999 vary by: half the spread
    of twenty such intervals, widened to four standard deviations."""
    x = np.array(x)
    out = dict(values=x, statistic=name)
    for method, key in [("percentile", "percentile"), ("BCa", "bca")]:
        def run(n, seed):
            r = stats.bootstrap((x,), statistic, n_resamples=n, method=method, batch=2000,
                                rng=np.random.default_rng(seed), vectorized=True)
            return [r.confidence_interval.low, r.confidence_interval.high]
        repeats = np.array([run(9999, s) for s in range(20)])
        out[key] = run(200_000, 1)
        out[key + "Error"] = 4 * repeats.std(axis=0, ddof=1) + 1e-9
    return out


def given_resamples(x):
    """SciPy's intervals, with the resamples that it drew for them."""
    x = np.array(x)
    out = dict(observed=x.mean(), jackknife=[(x.sum() - v) / (len(x) - 1) for v in x])
    r = stats.bootstrap((x,), np.mean, n_resamples=400, method="BCa", rng=rng)
    out["drawn"] = np.sort(r.bootstrap_distribution)
    out["low"], out["high"] = r.confidence_interval
    return out


def survival(happened, censored):
    data = stats.CensoredData(uncensored=happened, right=censored)
    sf = stats.ecdf(data).sf
    keep = np.isin(sf.quantiles, happened)
    return dict(happened=happened, notUntil=censored, times=sf.quantiles[keep],
                shares=sf.probabilities[keep])


def spearman(a, b):
    r = stats.spearmanr(a, b)
    return dict(first=a, second=b, coefficient=r.statistic, probability=r.pvalue)


grid = lambda n, step=0.25: list(np.round(rng.normal(0.4, 1, n) / step) * step)
out = dict(
    descriptions=[
        describe(rng.normal(3, 1, 7) ** 2), describe([5.0, 5.5]),
        describe([0.0, 0, 0, 12]), describe([0.0, 0, 0]), describe([1.0, 2, 2, 2, 9, 9, 10]),
        describe(rng.uniform(0, 1, 30)), describe(rng.exponential(4, 101))],
    signedRanks=[
        signed_rank(rng.normal(0.5, 1, 5), True), signed_rank(rng.normal(0.5, 1, 12), True),
        signed_rank([1.0, 2, 3, 4, 5, 6], True), signed_rank(grid(14), True),
        signed_rank([0.0, 0, 1, -1, 1, 2, 2, -3], True), signed_rank(rng.normal(0.2, 1, 25), False),
        signed_rank(rng.normal(0.1, 1, 50), False), signed_rank(rng.normal(0.1, 1, 80), False),
        signed_rank(grid(120), False)],
    locations=[walsh(rng.normal(0.5, 1, n), level) for n, level in
               [(4, 0.95), (6, 0.95), (10, 0.9), (17, 0.95), (50, 0.99)]],
    rankSums=[
        rank_sum(rng.normal(0, 1, 5), rng.normal(1, 1, 7), True),
        rank_sum(rng.normal(0, 1, 20), rng.normal(0.3, 1, 25), True),
        rank_sum(grid(6, 0.5), grid(8, 0.5), True), rank_sum(grid(40), grid(33), False),
        rank_sum(rng.normal(0, 1, 60), rng.normal(0.2, 1, 70), False)],
    correlations=[
        spearman(x := rng.normal(0, 1, 12), x + rng.normal(0, 1, 12)),
        spearman(grid(20, 0.5), grid(20, 0.5)), spearman([1.0, 2, 3], [2.0, 1, 3])],
    several=[
        dict(probabilities=p, holm=multipletests(p, method="holm")[1],
             benjaminiHochberg=stats.false_discovery_control(p))
        for p in [[0.01, 0.04, 0.03, 0.005], [0.2], [0.5, 0.5, 0.01, 0.9, 0.04, 0.04],
                  list(rng.uniform(0, 0.2, 15))]],
    bootstraps=[
        bootstrap(rng.normal(2, 1, 10), np.mean, "mean"),
        bootstrap(rng.exponential(3, 20), np.mean, "mean"),
        bootstrap(rng.exponential(3, 30), np.std, "deviation")],
    givenResamples=[given_resamples(rng.exponential(3, 15)), given_resamples(rng.normal(0, 1, 8))],
    survivals=[
        survival([1.0, 3, 3, 6], [2.0, 7]), survival([2.0, 5, 8], []), survival([4.0], [1.0, 4, 9]),
        survival(list(rng.exponential(5, 12)), list(rng.exponential(5, 9)))])

path = pathlib.Path(__file__).parent.parent / "AnalysisTests" / "Fixtures" / "statistics.json"
lines = [f' "{name}": [\n  ' + ",\n  ".join(json.dumps(clean(case)) for case in cases) + "]"
         for name, cases in out.items()]
path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"wrote {path}: numpy {np.__version__}, scipy {__import__('scipy').__version__}")
