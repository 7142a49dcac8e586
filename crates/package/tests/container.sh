#!/bin/sh
# Builds the container image, and measures against it, as the user that it names.
#
# usage: as root, in new mount, network and PID namespaces: container.sh CONTAINERFILE FOLDER
#
# FOLDER has the static program. There is no container runtime in this: buildah runs the image's
# program in a chroot, with the network and the processes of these namespaces.
set -eu

containerfile=$1
folder=$2
work=$(mktemp -d)

image() { buildah --root "$work/root" --runroot "$work/run" --storage-driver vfs "$@"; }

fail() {
	echo "container.sh: $*" >&2
	exit 1
}

mount --make-rprivate /
mount -t tmpfs work "$work"
mount -t proc proc /proc
ip link set lo up

image bud --isolation chroot --quiet -f "$containerfile" -t pathtwin "$folder" >/dev/null
config=$(image inspect --type image --format '{{.OCIv1.Config}}' pathtwin)
case $config in
*65534:65534*5301/tcp*5301/udp*/pathtwin*serve*) ;;
*) fail "the image's config: $config" ;;
esac

# A key as its owner makes it, readable for the image's user.
"$folder/pathtwin" serve --key "$work/key" --port 15301 --listen 127.0.0.1 2>"$work/said" &
maker=$!
tries=100
until grep -q "on the other host:" "$work/said"; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || fail "no key: $(cat "$work/said")"
	sleep 0.1
done
kill "$maker"
wait "$maker" || true
chown 65534 "$work/key"

image from --name far pathtwin >/dev/null
image run --isolation chroot --volume "$work/key:/key:ro" far -- \
	/pathtwin serve --key /key --listen 127.0.0.1 2>"$work/served" &
tries=300
until grep -q "on the other host:" "$work/served"; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || fail "it does not serve: $(cat "$work/served")"
	sleep 0.1
done
# Whose process it is: the one that listens on the image's port.
server=$(ss --no-header --listening --tcp --processes 'sport = :5301' | sed -n 's/.*pid=\([0-9]*\).*/\1/p')
user=$(awk '/^Uid:/ { print $2 }' "/proc/$server/status")
[ "$user" = 65534 ] || fail "it runs as user $user"

printf 'repeats = { min = 1, max = 1 }\n[[step]]\nkind = "idle"\nduration_s = 1\n' >"$work/plan.toml"
XDG_CONFIG_HOME=$work "$folder/pathtwin" measure 127.0.0.1 --key "$work/key" --plan "$work/plan.toml" \
	--output json >"$work/run.json"
grep -q '"p50_us"' "$work/run.json" || fail "nothing was measured"
echo "built, served as user 65534, measured"
