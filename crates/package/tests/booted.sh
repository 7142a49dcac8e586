#!/bin/sh
# Installs a package in a system of its own that systemd has booted, runs its services there, and
# upgrades, removes and purges it while they run.
#
# usage: as root, in new mount, network and PID namespaces: booted.sh PACKAGE [ROOT]
#
# The root is this system's, or ROOT, with a layer in memory above it. Nothing that this system has
# enabled is started: only basic.target, and what is asked for here. systemd has namespaces and a
# control group of its own, and may change neither the kernel's modules nor the clock. Where the
# kernel's controllers belong to another hierarchy, limits of memory and tasks are not in force.
set -eu

package=$(realpath "$1")
below=$(realpath "${2:-/}")
layers=$(mktemp -d)
root=$layers/root
group=$layers/cgroup/pathtwin-booted-$(cut -d- -f1 /proc/sys/kernel/random/uuid)
starter=
init=

fail() {
	echo "booted.sh: $*" >&2
	tail -n 20 "$layers/console" >&2 || true
	[ -z "$init" ] || here journalctl --no-pager --lines 30 >&2 || true
	exit 1
}

# Ends the system, and removes its control groups when their processes are gone.
down() {
	[ -z "$starter" ] || kill -KILL "$starter" || true
	wait || true
	if [ -d "$group" ]; then
		tries=100
		until find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; do
			tries=$((tries - 1))
			[ "$tries" -gt 0 ] || break
			sleep 0.1
		done
	fi
}
trap down EXIT

# In the booted system, as its root.
here() {
	nsenter --target "$init" --mount --pid --net --uts --ipc --cgroup --root --wd=/ \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
}

# Tries for a minute.
until_true() {
	tries=600
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail "not within a minute: $*"
		sleep 0.1
	done
}

property() { here systemctl show --value --property "$2" "$1"; }
is() { [ "$(property "$1" "$2")" = "$3" ]; }
differs() { [ "$(property "$1" "$2")" != "$3" ]; }

# A line of /proc/PID/status of a service's program.
status_of() { here sed -n "s/^$2:[[:space:]]*//p" "/proc/$(property "$1" MainPID)/status"; }

# Device nodes that a system without hardware has.
devices() {
	mount -t tmpfs -o mode=755 dev "$root/dev"
	for device in null zero full random urandom tty; do
		touch "$root/dev/$device"
		mount --bind "/dev/$device" "$root/dev/$device"
	done
	ln -s /proc/self/fd "$root/dev/fd"
	# A service with PrivateDevices= gets these.
	mkdir "$root/dev/pts" "$root/dev/shm" "$root/dev/mqueue"
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
	ln -s pts/ptmx "$root/dev/ptmx"
	mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
	touch "$root/dev/console"
	mount --bind "$layers/console" "$root/dev/console"
}

prepare() {
	mount --make-rprivate /
	mount -t proc proc /proc
	mount -t tmpfs -o mode=755 layers "$layers"
	mkdir "$layers/upper" "$layers/work" "$layers/cgroup" "$root"
	: >"$layers/console"
	mount -t cgroup2 cgroup2 "$layers/cgroup"
	mkdir "$group"
	mount -t overlay overlay -o "lowerdir=$below,upperdir=$layers/upper,workdir=$layers/work" "$root"
	mount -t sysfs -o ro sysfs "$root/sys"
	mount -t tmpfs -o mode=755 run "$root/run"
	devices
	ip link set lo up
	# What this system mounts, enables and forbids.
	: >"$root/etc/fstab"
	rm -rf "$root/etc/systemd/system" "$root/usr/sbin/policy-rc.d"
	mkdir "$root/etc/systemd/system"
	# Settings of the kernel are everybody's, but for those of these namespaces' network.
	mkdir -p "$root/run/systemd/system"
	ln -s /dev/null "$root/run/systemd/system/systemd-sysctl.service"
}

# The rest of it needs the namespaces that systemd gets.
# shellcheck disable=SC2016 # expanded by that shell
inner='
	set -e
	mount -t proc proc "$1/proc"
	mount --bind "$1/proc/sys" "$1/proc/sys"
	mount -o remount,bind,ro "$1/proc/sys"
	mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
	# As a container manager leaves it: credentials of services are mounted by a process of systemd.
	mount --make-rshared "$1"
	exec env -i container=pathtwin-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		setpriv --bounding-set=-sys_module,-sys_rawio,-sys_time --inh-caps=-all \
		chroot "$1" /lib/systemd/systemd --unit=basic.target
'

boot() {
	# The group of a process is the root of the namespace that it makes.
	# shellcheck disable=SC2016 # expanded by that shell
	sh -c 'echo $$ >"$1/cgroup.procs"
		exec unshare --mount --pid --fork --kill-child --cgroup --uts --ipc sh -c "$2" sh "$3"' \
		sh "$group" "$inner" "$root" >>"$layers/console" 2>&1 &
	starter=$!
	started() { init=$(cat "/proc/$starter/task/$starter/children") && [ -n "$init" ]; }
	until_true started
	init=${init%% *}
	ready() { [ "$(here systemctl is-active basic.target 2>/dev/null)" = active ]; }
	until_true ready
	echo "booted: $(here systemctl --version | head -n 1), $(here systemctl is-system-running || true)"
}

# What the layer has that the system below has not, or has otherwise; the books of dpkg and of
# systemd, logs, and backups of the list of users are no part of the package.
listing() {
	(cd "$layers/upper" && find . \( -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/lib/systemd \
		-o -path ./var/tmp -o -path ./tmp -o -path './etc/*-' -o -path ./etc/.pwd.lock \) -prune -o -print) |
		sort | while read -r path; do
		if [ -f "$layers/upper/$path" ]; then
			cmp -s "$layers/upper/$path" "$below/$path" || echo "$path"
		else
			[ -e "$below/$path" ] || echo "$path"
		fi
	done
}

disabled() {
	for unit in pathtwin-serve.service pathtwin-watch.service pathtwin-undo.timer; do
		is "$unit" ActiveState inactive || fail "$unit is started before anybody wanted it"
		is "$unit" UnitFileState disabled || fail "$unit is enabled before anybody wanted it"
	done
}

listens() { ss --no-header --listening --tcp "sport = :$1" | grep -q .; }
silent() { ! listens "$1"; }

serve() {
	here pathtwin serve --key /etc/pathtwin/key --listen 127.0.0.1 --port 15301 2>"$layers/key" &
	until_true grep -q "on the other host:" "$layers/key"
	kill "$(ss --no-header --listening --tcp --processes 'sport = :15301' | sed -n 's/.*pid=\([0-9]*\).*/\1/p' | head -n 1)"
	until_true silent 15301
	here systemctl enable --now pathtwin-serve.service || fail "the far end does not start"
	until_true listens 5301
	[ "$(status_of pathtwin-serve Uid | cut -f1)" -gt 0 ] || fail "the far end is root"
	[ "$(status_of pathtwin-serve CapEff)" = 0000000000001000 ] || fail "the far end has not CAP_NET_ADMIN alone"
	[ "$(status_of pathtwin-serve Seccomp)" = 2 ] || fail "the far end may make every system call"
}

# A config with the far end above, and no load: a test of the service, not of the path.
config() {
	here install -d -o pathtwin -g pathtwin -m 700 /etc/pathtwin/keys
	here install -o pathtwin -g pathtwin -m 600 /etc/pathtwin/key /etc/pathtwin/keys/loop
	cat >"$layers/watch.toml" <<-'TOML'
		state = "/var/lib/pathtwin/watch"
		listen = "127.0.0.1:9301"
		[[path]]
		name = "loop"
		host = "127.0.0.1"
		key = "/etc/pathtwin/keys/loop"
		probe = "10s"
	TOML
	here tee /etc/pathtwin/watch.toml <"$layers/watch.toml" >/dev/null
	here pathtwin watch --config /etc/pathtwin/watch.toml --check
}

# The same with less patience, so that a hang is seen soon; beside it, not in the user's folder.
impatient() {
	here mkdir -p /run/systemd/system/pathtwin-watch.service.d
	printf '[Service]\nWatchdogSec=4\nRestartSec=1\n' |
		here tee /run/systemd/system/pathtwin-watch.service.d/impatient.conf >/dev/null
	here systemctl daemon-reload
}

probed() { curl --silent --max-time 5 http://127.0.0.1:9301/metrics | grep -q 'pathtwin_probe_rtt_seconds_count.* [1-9]'; }

watch() {
	config
	impatient
	here systemctl enable --now pathtwin-watch.service || fail "the watch does not start"
	is pathtwin-watch ActiveState active || fail "the watch said that it is ready, and is not active"
	here getent passwd pathtwin >/dev/null || fail "no user"
	[ "$(status_of pathtwin-watch Uid | cut -f1)" = "$(here id -u pathtwin)" ] || fail "the watch is another user"
	[ "$(status_of pathtwin-watch CapEff)" = 0000000000000000 ] || fail "the watch has capabilities"
	until_true probed
	[ "$(here stat -c %U:%a /var/lib/pathtwin/watch)" = pathtwin:700 ] || fail "the folder of its state"
}

# It is fed, in time; and a watch that hangs is started again.
watchdog() {
	fed=$(property pathtwin-watch WatchdogTimestampMonotonic)
	[ "$fed" -gt 0 ] || fail "the watchdog was never fed"
	for _ in 1 2 3; do
		until_true differs pathtwin-watch WatchdogTimestampMonotonic "$fed"
		fed=$(property pathtwin-watch WatchdogTimestampMonotonic)
	done
	is pathtwin-watch NRestarts 0 || fail "the watch was restarted while it was fed"
	hung=$(property pathtwin-watch MainPID)
	here systemctl kill --kill-whom=main --signal=STOP pathtwin-watch
	until_true differs pathtwin-watch NRestarts 0
	until_true is pathtwin-watch ActiveState active
	differs pathtwin-watch MainPID "$hung" || fail "the watch hangs, and nobody noticed"
	until_true probed
}

undo() {
	here systemctl enable --now pathtwin-undo.timer || fail "the timer does not start"
	here systemctl start pathtwin-undo.service || fail "without a request, the undo fails"
	is pathtwin-undo.service ConditionResult no || fail "the undo runs without a request"
}

# Those that run go on with the new version.
upgrade() {
	before=$(property pathtwin-watch MainPID)
	here dpkg --no-triggers --install /root/pathtwin.deb
	for unit in pathtwin-serve pathtwin-watch; do
		until_true is "$unit" ActiveState active
		is "$unit" UnitFileState enabled || fail "$unit is no longer enabled"
	done
	differs pathtwin-watch MainPID "$before" || fail "the upgrade left the old watch running"
	is pathtwin-undo.timer ActiveState active || fail "the upgrade ended the timer"
	until_true listens 5301
	until_true probed
}

# At its end, the watch writes its state to disk.
stop() {
	here rm -f /var/lib/pathtwin/watch/watch.json
	here systemctl stop pathtwin-watch.service
	is pathtwin-watch Result success || fail "the watch ended with $(property pathtwin-watch Result)"
	is pathtwin-watch ExecMainStatus 0 || fail "the watch ended with status $(property pathtwin-watch ExecMainStatus)"
	here test -s /var/lib/pathtwin/watch/watch.json || fail "the watch kept no state"
	here test ! -e /run/pathtwin-watch || fail "its folder in memory is left"
	here systemctl start pathtwin-watch.service
	until_true probed
}

# While all of them run.
remove() {
	here dpkg --no-triggers --remove pathtwin
	until_true silent 5301
	until_true silent 9301
	here rm -rf /etc/pathtwin/keys /etc/pathtwin/key /etc/pathtwin/watch.toml
	here dpkg --no-triggers --purge pathtwin
	here rm -rf /run/systemd/system/pathtwin-watch.service.d /root/pathtwin.deb
	here systemctl daemon-reload
	units=$(here systemctl list-units --all --plain --no-legend 'pathtwin*')
	[ -z "$units" ] || fail "systemd knows of $units"
	processes=$(here find /proc -maxdepth 2 -name exe -lname '*pathtwin*' 2>/dev/null || true)
	[ -z "$processes" ] || fail "still running: $processes"
	! here getent passwd pathtwin || fail "the user is still there"
	left=$(here find /run /tmp /var/tmp -name '*pathtwin*')
	[ -z "$left" ] || fail "left behind: $left"
}

prepare
boot
! here dpkg-query --status pathtwin >/dev/null 2>&1 || fail "pathtwin is installed on this system"
listing >"$layers/before"
cp "$package" "$layers/pathtwin.deb"
here tee /root/pathtwin.deb <"$layers/pathtwin.deb" >/dev/null
here dpkg --no-triggers --install /root/pathtwin.deb
disabled
serve
watch
watchdog
undo
upgrade
stop
remove
listing >"$layers/after"
cmp -s "$layers/before" "$layers/after" || fail "left behind or changed: $(diff "$layers/before" "$layers/after" || true)"
echo "booted, installed, served, watched, restarted by the watchdog, upgraded, stopped, removed, purged"
