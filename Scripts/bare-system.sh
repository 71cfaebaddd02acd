# A bare Debian that debootstrap makes, for scripts that test in one; sourced by test-bare and test-wheel, which define
# `inside`. Needs root. `outside ARGUMENT…` calls the script again, in a namespace in which every mount dies with the
# last process, and there `inside FOLDER ARGUMENT…` makes the system and enters it. The mirror is the one that this
# machine's apt uses. SUITE names another Debian release; KEEP_BASE=FOLDER keeps the bare system there for the next time.

me=$(basename "$0")
suite=${SUITE:-bookworm}

stop() {
  echo "$me: $1" >&2
  exit 1
}

# --- Outside: a folder, and a namespace ---------------------------------------------------------

outside() { # outside ARGUMENT…: its exit code is that of the script inside
  [ "$(uname -s)" = Linux ] || stop "needs Linux."
  [ "$(id -u)" = 0 ] || stop "needs root, for debootstrap and chroot."
  if ! command -v debootstrap >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends debootstrap ||
      stop "needs the package debootstrap."
  fi
  local status=0
  child=""
  work=$(mktemp -d "${TMPDIR:-/tmp}/fedsim-bare.XXXXXX") || stop "no folder for the system."
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  unshare --mount --pid --fork --kill-child --propagation private \
    "$0" --inside "$work" "$@" </dev/null &
  child=$!
  wait "$child" || status=$?
  child=""
  return "$status"
}

# Killing unshare kills the first process of its namespace, so all in it, and the mounts go. Here
# nothing is mounted: removing the folder cannot reach what was bound inside.
clean_up() {
  if [ -n "$child" ]; then
    kill -KILL "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
    sleep 1
  fi
  rm -rf --one-file-system "$work"
}

# --- Inside the namespace ---------------------------------------------------------------------

# The apt sources of this machine for the release: "URI SUITE COMPONENT", the main archive first.
archives() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$suite" '$3 == "main" && ($2 == suite || index($2, suite "-") == 1) && !seen[$0]++'
}

bootstrap() {
  local mirror
  mirror=$(archives | awk -v suite="$suite" '$2 == suite { print $1; exit }')
  mirror=${mirror:-http://deb.debian.org/debian}
  if [ -n "${KEEP_BASE:-}" ] && [ -d "$KEEP_BASE/usr" ]; then
    cp -a "$KEEP_BASE" "$root"
    return
  fi
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 || {
    tail -n 20 "$root.log" >&2
    stop "debootstrap failed."
  }
  [ -z "${KEEP_BASE:-}" ] || cp -a "$root" "$KEEP_BASE"
}

network() { # names, archives and apt's transport settings, as this machine has them
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  archives | awk '{ print "deb", $1, $2, $3 }' >"$root.list"
  [ ! -s "$root.list" ] || cp "$root.list" "$root/etc/apt/sources.list"
  apt-config dump | grep '^Acquire::\(Check\|Retries\|http\|https\)' \
    >"$root/etc/apt/apt.conf.d/90host" || true
  # Authorities of its own, which the package ca-certificates takes up inside.
  if [ -d /usr/local/share/ca-certificates ]; then
    mkdir -p "$root/usr/local/share"
    cp -RL /usr/local/share/ca-certificates "$root/usr/local/share/"
  fi
}

bind() { # bind FOLDER: shows it inside, read-only, under the same name
  mkdir -p "$root$1"
  mount --bind "$1" "$root$1"
  mount -o remount,bind,ro "$root$1"
}

devices() {
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/tmp"
}

enter() { # enter COMMAND…: in the bare Debian, with an environment of its own; $tools is a folder of further commands
  chroot "$root" /usr/bin/env -i PATH="${tools:+$tools:}/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root \
    LANG=C.UTF-8 ${http_proxy:+http_proxy="$http_proxy"} \
    ${https_proxy:+https_proxy="$https_proxy"} ${no_proxy:+no_proxy="$no_proxy"} "$@"
}

add() { # add DEBIAN-PACKAGE…: installs them inside
  enter sh -c 'export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -yq --no-install-recommends "$@"' add "$@" \
    >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; stop "apt does not work inside."; }
}
