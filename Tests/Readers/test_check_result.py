"""Breaks copies of a good result in many ways; check_result.py must find each.

    python test_check_result.py RESULT.h5
"""
import contextlib
import io
import os
import shutil
import sys
import tempfile

import h5py
import numpy as np

import check_result

ACCURACY = "versions/centralAccuracy"


def first_flag(file):
    found = []
    file.visititems(lambda _, o: found.append(o) if len(o.attrs.get("flag_values", ())) > 1 else None)
    return found[0]


def detach(file):
    data = file[ACCURACY]
    data.dims[0].detach_scale(data.dims[0][0])


def strange_flag(file):
    data = first_flag(file)
    data[0] = 99


def no_meanings(file):
    del first_flag(file).attrs["flag_meanings"]


def fewer_meanings(file):
    data = first_flag(file)
    data.attrs["flag_meanings"] = data.attrs["flag_meanings"].rsplit(" ", 1)[0]


def meaning_twice(file):
    data = first_flag(file)
    words = data.attrs["flag_meanings"].split()
    data.attrs["flag_meanings"] = " ".join([words[0], *words[:-1]])


def flag_twice(file):
    data = first_flag(file)
    values = data.attrs["flag_values"]
    values[1] = values[0]
    data.attrs["flag_values"] = values


def other_unit(file):
    file[ACCURACY].attrs["units"] = "percent"


def lost_coordinate(file):
    file[ACCURACY].attrs["coordinates"] = "publishedAt simulatedTime"


def scale_elsewhere(file):
    data = file[ACCURACY]
    data.dims[0].detach_scale(data.dims[0][0])
    file.create_group("elsewhere")
    file["elsewhere/version"] = np.zeros(data.shape)
    file["elsewhere/version"].make_scale("version")
    file["elsewhere/version"].attrs.update(units="1", long_name="version")
    data.dims[0].attach_scale(file["elsewhere/version"])


def no_unit(file):
    del file[ACCURACY].attrs["units"]


def no_long_name(file):
    del file[ACCURACY].attrs["long_name"]


def no_coordinate(file):
    for data in file["versions"].values():
        data.attrs.pop("coordinates", None)


def other_value(file):
    file[ACCURACY][-1] = 0.123


def other_name(file):
    file.move(ACCURACY, "versions/accuracy")


def no_group(file):
    del file["rounds"]


def no_seed(file):
    del file.attrs["seed"]


def no_scenario(file):
    del file["scenario"]


def fixed_strings(file):
    file["names"] = np.array(b"abc", dtype="S3")


def compound(file):
    file["table"] = np.zeros(2, dtype=[("a", "f8"), ("b", "i4")])


BREAKS = (
    (detach, "axis 0 has 0 scales"), (strange_flag, "no flag"), (no_meanings, "without meanings"),
    (fewer_meanings, "number of meanings"), (no_unit, "no units"), (no_long_name, "no long_name"),
    (meaning_twice, "a meaning twice"), (flag_twice, "a flag twice"), (other_unit, "the unit percent"),
    (lost_coordinate, "simulatedTime is not in its group"), (scale_elsewhere, "stands elsewhere"),
    (no_coordinate, "content digest"), (other_value, "content digest"), (other_name, "content digest"),
    (no_group, "no group rounds"), (no_seed, "no root attribute seed"), (no_scenario, "no resolved scenario"),
    (fixed_strings, "not variable-length"), (compound, ""),
)


def without_coordinate(file):
    no_coordinate(file)
    return True


def other_tenth(file):
    """Another worst tenth than the devices'; False where there is no federated evaluation."""
    if "federatedAccuracyWorstTenth" not in file["versions"]:
        return False
    file["versions/federatedAccuracyWorstTenth"][-1] += 0.25
    return True


def lost_label(file):
    file["partition/labelHistogram"][0, 0] += 1
    return True


def lost_attempt(file):
    file["ledger/attempts"][0] -= 1
    return True


def lost_byte(file):
    file["devices/bytesUp"][0] += 1
    return True


RESEALED = (
    (lost_attempt, "the sum of ledger/attempts: found"), (lost_byte, "the sum of devices/bytesUp: found"),
    (without_coordinate, "are the simulated time"), (other_tenth, "NumPy says"), (lost_label, "does not add up"),
)


def complaint(path):
    """What check_result says about a file, None if it says that all is well."""
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = check_result.main([path])
    return said.getvalue() if code == 1 else None


def main(good):
    if complaint(good) is not None:
        sys.exit(f"test_check_result: {good} should pass: {complaint(good)}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "broken.h5")
        for change, expected in BREAKS:
            shutil.copy(good, path)
            with h5py.File(path, "r+") as file:
                change(file)
            said = complaint(path)
            if said is None or expected not in said:
                sys.exit(f"test_check_result: {change.__name__}: expected “{expected}”, got: {said}")
        # A digest that fits hides nothing else.
        for change, expected in RESEALED:
            shutil.copy(good, path)
            with h5py.File(path, "r+") as file:
                if not change(file):
                    continue
            digest = check_result.content_digest(path)
            with h5py.File(path, "r+") as file:
                file.attrs.modify("contentDigest", digest)
            said = complaint(path)
            if said is None or expected not in said:
                sys.exit(f"test_check_result: {change.__name__}, resealed: expected “{expected}”, got: {said}")
        with open(good, "rb") as whole, open(path, "wb") as half:
            half.write(whole.read()[: os.path.getsize(good) // 2])
        if complaint(path) is None:
            sys.exit("test_check_result: half a file passed")
    print(f"test_check_result: {len(BREAKS) + len(RESEALED) + 1} broken files found")


if __name__ == "__main__":
    main(sys.argv[1])
