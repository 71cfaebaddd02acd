#!/bin/sh
# Makes the Python environment of check_result.py, unless it is there already for the same versions.
#   Tests/Readers/make-venv.sh [FOLDER]      (FOLDER is .venv-readers unless given)
# Then: FOLDER/bin/python Tests/Readers/check_result.py RESULT.h5
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-.venv-readers}
if cmp -s "$here/requirements.txt" "$folder/requirements.txt"; then exit 0; fi
rm -rf "$folder"
python3 -m venv "$folder" || {
  echo "make-venv.sh: python3 cannot make an environment (Debian: apt install python3-venv)" >&2
  exit 1
}
"$folder/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
cp "$here/requirements.txt" "$folder/requirements.txt"
