#!/bin/sh
# Installs, uses, removes and purges a package in a root of its own, and compares what is left.
#
# usage: as root, in new mount, network and PID namespaces: debian.sh PACKAGE [ROOT]
#
# The root is this system's, or ROOT, with a layer in memory above it that takes what is written. File
# systems mounted on this one's root are not in it: there is no /run/systemd, no /proc, no /dev.
set -eu

package=$(realpath "$1")
below=$(realpath "${2:-/}")
layers=$(mktemp -d)
root=$layers/root

fail() {
	echo "debian.sh: $*" >&2
	exit 1
}

here() { chroot "$root" "$@"; }

# Tries for ten seconds.
until_true() {
	tries=100
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail "not within ten seconds: $*"
		sleep 0.1
	done
}

mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 layers "$layers"
mkdir "$layers/upper" "$layers/work" "$root"
mount -t overlay overlay -o "lowerdir=$below,upperdir=$layers/upper,workdir=$layers/work" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmp "$root/tmp"
mount -t tmpfs run "$root/run"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
ip link set lo up

# A system that has the package already shows nothing.
! here dpkg-query --status pathtwin >/dev/null 2>&1 || fail "pathtwin is installed on this system"
cp "$package" "$root/tmp/pathtwin.deb"

# Triggers would make the index of all manual pages again.
here dpkg --no-triggers --install /tmp/pathtwin.deb

[ -z "$(here dpkg --verify pathtwin)" ] || fail "files differ from those packed"
here pathtwin --version
here getent passwd pathtwin || fail "no user"
here systemd-analyze verify /usr/lib/systemd/system/pathtwin-undo.service
for unit in pathtwin-serve.service pathtwin-watch.service pathtwin-undo.timer; do
	state=$(here systemctl --root=/ is-enabled "$unit") || true
	[ "$state" = disabled ] || fail "$unit is $state before anybody wanted it"
	here systemd-analyze verify "/usr/lib/systemd/system/$unit"
done
here systemctl --root=/ enable pathtwin-watch.service

# Both ends of a measurement, each as root of the package's system.
here pathtwin serve --key /etc/pathtwin/key --listen 127.0.0.1 --port 15301 2>"$root/tmp/serve" &
until_true grep -q "on the other host:" "$root/tmp/serve"
printf 'repeats = { min = 1, max = 1 }\n[[step]]\nkind = "idle"\nduration_s = 1\n' >"$root/tmp/plan.toml"
here env HOME=/tmp pathtwin measure 127.0.0.1:15301 --key /etc/pathtwin/key --plan /tmp/plan.toml \
	--output json >"$root/tmp/run.json"
grep -q '"p50_us"' "$root/tmp/run.json" || fail "nothing was measured"
# The program itself: $! is a shell above it.
kill "$(ss --no-header --listening --tcp --processes 'sport = :15301' | sed -n 's/.*pid=\([0-9]*\).*/\1/p' | head -n 1)"
wait || true

# The user's own: a config, a setting, a key; and what the services keep.
here pathtwin watch --example >"$root/etc/pathtwin/watch.toml"
here pathtwin watch --config /etc/pathtwin/watch.toml --check
echo 'PATHTWIN_OPTIONS="--max-clients 2"' >>"$root/etc/default/pathtwin-serve"
# As earlier versions left them: the folder belongs to the watch, journals in it to root.
mkdir -p "$root/var/lib/pathtwin/tune"
echo journal >"$root/var/lib/pathtwin/tune/1.json"
echo state >"$root/var/lib/pathtwin/watch.json"
echo run >"$root/var/lib/pathtwin/history.db"
here chown pathtwin: /var/lib/pathtwin /var/lib/pathtwin/watch.json /var/lib/pathtwin/history.db
chmod 700 "$root/var/lib/pathtwin"

# An upgrade keeps them, and what is enabled.
here dpkg --no-triggers --install /tmp/pathtwin.deb
grep -q max-clients "$root/etc/default/pathtwin-serve" || fail "the upgrade lost a setting"
# The state of earlier versions goes to the user of the watch, and what is above root's journals to root.
[ "$(here stat -c %U /var/lib/pathtwin/watch/watch.json)" = pathtwin ] || fail "the state of the watch is lost"
[ "$(here stat -c %U /var/lib/pathtwin/watch/history.db)" = pathtwin ] || fail "the history is lost"
[ "$(here stat -c %U /var/lib/pathtwin/tune/1.json)" = root ] || fail "a journal is not root's"
[ "$(here stat -c %U:%a /var/lib/pathtwin)" = root:755 ] || fail "the folder of the journals is not root's"
[ "$(here systemctl --root=/ is-enabled pathtwin-watch.service)" = enabled ] || fail "no longer enabled"

here dpkg --no-triggers --remove pathtwin
[ ! -e "$root/usr/bin/pathtwin" ] || fail "the program is still there"
grep -q max-clients "$root/etc/default/pathtwin-serve" || fail "removing lost a setting"

here dpkg --no-triggers --purge pathtwin
! here getent passwd pathtwin || fail "the user is still there"

# What the layer has that the system below has not, or has otherwise; the books of dpkg, logs, and
# backups of the list of users are no part of the package.
for mounted in proc tmp run dev; do
	umount -l "$root/$mounted"
done
left=$(cd "$layers/upper" && find . ! -type d | sort | while read -r path; do
	case $path in
	./var/lib/dpkg/* | ./var/log/* | ./etc/*- | ./etc/.pwd.lock | ./tmp/*) ;;
	*) cmp -s "$path" "$below/$path" || echo "$path" ;;
	esac
done)
expected=$(printf './etc/pathtwin/key\n./etc/pathtwin/watch.toml')
[ "$left" = "$expected" ] || fail "left behind: $left"
folders=$(cd "$layers/upper" && find . -type d | while read -r path; do [ -d "$below/$path" ] || echo "$path"; done)
[ "$folders" = ./etc/pathtwin ] || fail "left behind: $folders"
echo "installed, used, upgraded, removed, purged"
