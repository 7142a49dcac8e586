#!/bin/sh
# Unpacks a package for arm64 by dpkg, and runs its program in QEMU's user mode: it takes facts, and
# measures a far end of this processor.
#
# usage: as root, in new mount, network and PID namespaces: arm64.sh PACKAGE NATIVE [LIBRARIES]
#
#   NATIVE     pathtwin for this processor, for the far end
#   LIBRARIES  a folder with lib/ of arm64; default: that of Debian's cross compiler
set -eu

package=$(realpath "$1")
native=$(realpath "$2")
libraries=${3:-/usr/aarch64-linux-gnu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "arm64.sh: $*" >&2
	cat "$work/said" >&2 2>/dev/null || true
	exit 1
}

there() {
	XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work timeout 60 qemu-aarch64 -L "$libraries" "$work/root/usr/bin/pathtwin" "$@"
}

mount --make-rprivate /
mount -t proc proc /proc
ip link set lo up
[ "$(dpkg-deb --field "$package" Architecture)" = arm64 ] || fail "it is for $(dpkg-deb --field "$package" Architecture)"
dpkg-deb --extract "$package" "$work/root"
(cd "$work/root" && dpkg-deb --control "$package" "$work/control" && md5sum --check --quiet "$work/control/md5sums") ||
	fail "files differ from those packed"
for path in bin/pathtwin lib/systemd/system/pathtwin-watch.service share/man/man1/pathtwin.1.gz; do
	[ -s "$work/root/usr/$path" ] || fail "no $path"
done
[ ! -e "$work/root/usr/bin/pathtwin-guest" ] || fail "it has the guest of the lab, which runs on x86-64"

[ "$(there --version)" = "$("$native" --version)" ] || fail "it is another version: $(there --version)"
there facts --output json >"$work/facts.json"
grep -q '"arch": *"aarch64"' "$work/facts.json" || fail "its facts: $(cat "$work/facts.json")"

"$native" serve --key "$work/key" --listen 127.0.0.1 --port 15301 --user root 2>"$work/said" &
server=$!
tries=100
until grep -q "on the other host:" "$work/said"; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || fail "the far end does not start"
	sleep 0.1
done
printf 'repeats = { min = 1, max = 1 }\n[[step]]\nkind = "idle"\nduration_s = 1\n' >"$work/plan.toml"
there measure 127.0.0.1:15301 --key "$work/key" --plan "$work/plan.toml" --no-store --output json \
	>"$work/run.json" 2>>"$work/said" || fail "it does not measure"
grep -q '"p50_us"' "$work/run.json" || fail "nothing was measured"
there explain "$work/run.json" --output json >"$work/explained.json" || fail "it does not explain"
there report "$work/run.json" --out "$work/report.html" 2>>"$work/said" || fail "it makes no page"
kill "$server"
wait "$server" || true
echo "unpacked, facts taken, measured, explained, reported"
