#!/bin/sh
# Installs, uses, upgrades and removes a package for OpenWrt in a root like a router's, and compares
# what is left.
#
# usage: as root, in new mount, network and PID namespaces:
#   openwrt.sh PACKAGE.ipk
#   openwrt.sh PACKAGE.apk NEWER.apk APK   by the apk of apk-tools 3; NEWER differs from PACKAGE
#
# The root is in memory: BusyBox as the shell and all commands, and, written for this test, as much
# of OpenWrt's rc.common, functions.sh and procd as a service uses. A PACKAGE.ipk is unpacked in the
# steps of opkg, which no registry of the set-up has: archive, data, list, scripts.
set -eu

package=$(realpath "$1")
newer=${2:+$(realpath "$2")}
apk=${3-}
busybox=$(command -v busybox)
root=$(mktemp -d)

fail() {
	echo "openwrt.sh: $*" >&2
	cat "$root/tmp/log" >&2 2>/dev/null || true
	exit 1
}

here() { env -i PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/root chroot "$root" "$@"; }

# Tries for ten seconds.
until_true() {
	tries=100
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail "not within ten seconds: $*"
		sleep 0.1
	done
}

listens() { ss --no-header --listening --tcp "sport = :$1" | grep -q .; }
silent() { ! listens "$1"; }

# Every file with its contents, and every folder, but what lasts only until the next boot, and the
# lock of apk.
listing() {
	(cd "$root" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./lib/apk/db/lock \) -prune -o \
		\( -type f -exec sha256sum {} + -o -type l -printf '%l  %p\n' -o -type d -printf 'folder  %p\n' \)) |
		sort
}

mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 root "$root"
ip link set lo up

# A router.
cd "$root"
mkdir -p bin sbin usr/bin usr/sbin usr/lib/opkg/info etc/config etc/init.d etc/rc.d lib/functions \
	lib/upgrade/keep.d root proc sys dev tmp
cp "$busybox" bin/busybox
# Debian's is not static.
ldd "$busybox" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "$root${library%/*}"
	cp -L "$library" "$root$library"
done
mount -t proc proc proc
mount --rbind /dev dev
mount -t sysfs none sys
chroot . /bin/busybox --install -s
printf 'root:x:0:0:root:/root:/bin/ash\nnobody:*:65534:65534:nobody:/var:/bin/false\n' >etc/passwd
printf 'root:x:0:\nnogroup:x:65534:\n' >etc/group
echo "DISTRIB_ID='OpenWrt'" >etc/openwrt_release
ln -s tmp var
# Its log, for the test.
rm -f usr/bin/logger
cat >usr/bin/logger <<'SH'
#!/bin/sh
echo "$*" >>/tmp/logged
SH
chmod 755 usr/bin/logger
# Files of others, in whose folders ours come.
touch etc/init.d/boot etc/config/network lib/upgrade/keep.d/base

# What a service's script is run by: `/bin/sh /etc/rc.common SCRIPT ACTION`.
cat >etc/rc.common <<'SH'
script=$1 action=${2:-start}
name=${script##*/}
. /lib/functions.sh
. /lib/functions/procd.sh
. "$script"
case $action in
enable) ln -sf "../init.d/$name" "/etc/rc.d/S$START$name" ;;
disable) rm -f /etc/rc.d/S??"$name" ;;
enabled) [ -L "/etc/rc.d/S$START$name" ] ;;
start) start_service ;;
stop) procd_kill ;;
restart | reload) procd_kill; start_service ;;
esac
SH
# Sections of a file: kinds and options by the section's name.
cat >lib/functions.sh <<'SH'
config_load() {
	SECTIONS=
	while read -r word name value; do
		value=${value#\'} value=${value%\'}
		case $word in
		config) section=$value SECTIONS="$SECTIONS $name:$value" ;;
		option) eval "OPTION_${section}_$name=\$value" ;;
		esac
	done <"/etc/config/$1"
}
config_get() { eval "$1=\${OPTION_${2}_$3-}; [ -n \"\$$1\" ] || $1=\${4-}"; }
config_get_bool() {
	config_get "$@"
	eval "case \$$1 in 1 | on | true | yes | enabled) $1=1 ;; *) $1=0 ;; esac"
}
config_foreach() {
	for entry in $SECTIONS; do
		[ "${entry%%:*}" != "$2" ] || "$1" "${entry#*:}"
	done
}
SH
# Instances by name; a command is a line an argument.
cat >lib/functions/procd.sh <<'SH'
procd_open_instance() { name=$1; rm -f /tmp/command; variables=; }
procd_set_param() {
	param=$1
	shift
	case $param in
	command) printf '%s\n' "$@" >/tmp/command ;;
	env) variables="$*" ;;
	esac
}
procd_append_param() { [ "$1" != command ] || { shift; printf '%s\n' "$@" >>/tmp/command; }; }
procd_close_instance() {
	set --
	while read -r word; do set -- "$@" "$word"; done </tmp/command
	env $variables "$@" </dev/null >>/tmp/log 2>&1 &
	echo $! >"/tmp/instance.$name"
}
procd_kill() {
	for file in /tmp/instance.*; do
		[ -s "$file" ] || continue
		read -r instance <"$file"
		rm -f "$file"
		kill "$instance" 2>/dev/null
		# procd starts no other before this one has ended, and kills it after 5 s.
		for _ in 1 2 3 4 5; do kill -0 "$instance" 2>/dev/null || continue 2; sleep 1; done
		kill -9 "$instance" 2>/dev/null || true
	done
}
procd_add_reload_trigger() { :; }
SH
[ -n "$apk" ] || cp "$package" tmp/pathtwin.ipk

# opkg's steps, by the router's own commands. A config that its owner has edited stays, and the new
# one is put beside it.
cat >tmp/opkg <<'SH'
set -e
info=/usr/lib/opkg/info/pathtwin
unpack() {
	rm -rf /tmp/unpacked
	mkdir -p /tmp/unpacked/control /tmp/unpacked/data
	tar -xzf /tmp/pathtwin.ipk -C /tmp/unpacked
	tar -xzf /tmp/unpacked/control.tar.gz -C /tmp/unpacked/control
	tar -xzf /tmp/unpacked/data.tar.gz -C /tmp/unpacked/data
}
edited() { [ -e "$1" ] && ! grep -q "^$(sha256sum <"$1" | cut -d' ' -f1)  $1\$" "$info.sums"; }
add() {
	unpack
	cd /tmp/unpacked/data
	find . ! -type d | sed 's/^\.//' >/tmp/list
	while read -r file; do
		mkdir -p "${file%/*}"
		if [ -e "$info.sums" ] && grep -qx "$file" "$info.conffiles" && edited "$file"; then
			cp -p ".$file" "$file-opkg"
		else
			# A new file in place of the old one, which may still be running.
			cp -p ".$file" "$file.new"
			mv -f "$file.new" "$file"
		fi
	done </tmp/list
	mv /tmp/list "$info.list"
	for part in /tmp/unpacked/control/*; do cp -p "$part" "$info.${part##*/}"; done
	[ -e "$info.sums" ] || while read -r file; do sha256sum "$file"; done <"$info.conffiles" >"$info.sums"
	rm -rf /tmp/unpacked
}
case $1 in
install)
	add
	sh "$info.postinst"
	;;
upgrade)
	PKG_UPGRADE=1 sh "$info.prerm"
	add
	PKG_UPGRADE=1 sh "$info.postinst"
	;;
remove)
	sh "$info.prerm"
	while read -r file; do
		if grep -qx "$file" "$info.conffiles" && edited "$file"; then continue; fi
		rm -f "$file"
		folder=${file%/*}
		while rmdir "$folder" 2>/dev/null; do folder=${folder%/*}; done
	done <"$info.list"
	rm -f "$info".*
	;;
esac
SH
by_opkg() { here sh /tmp/opkg "$@" || fail "opkg $* failed"; }

# The real apk, from outside as a builder of images runs it; it runs the scripts in the root.
run_apk() {
	# To apk, a root in memory is one that the next boot forgets.
	"$apk" --root "$root" --arch x86_64 --allow-untrusted --no-network --no-cache --no-logfile \
		--force-non-repository "$@" >"$root/tmp/apk.log" 2>&1 || fail "apk $*: $(cat "$root/tmp/apk.log")"
}
by_apk() {
	case $1 in
	install) run_apk add "$package" ;;
	upgrade)
		run_apk add "$newer"
		grep -q newer etc/config/pathtwin.apk-new || fail "the config that came with the upgrade is not there"
		;;
	remove) run_apk del pathtwin ;;
	esac
}

manager() { if [ -n "$apk" ]; then by_apk "$@"; else by_opkg "$@"; fi; }

if [ -n "$apk" ]; then
	# On a router, libc is a package.
	"$apk" mkpkg --info name:libc --info version:1-r1 --info arch:noarch --output tmp/libc.apk
	run_apk add --initdb "$root/tmp/libc.apk"
fi
listing >"$root/tmp/before"

# As it comes, nothing is started.
manager install
here pathtwin --version
[ -L etc/rc.d/S95pathtwin ] || fail "it is not enabled"
silent 5301 || fail "it serves before anybody wanted it"

# The key, by hand; then the service, as README.md of the packages says.
here pathtwin serve --key /etc/pathtwin/key >tmp/log 2>&1 &
until_true grep -q "on the other host:" tmp/log
# The program itself: $! is a shell above it.
kill "$(ss --no-header --listening --tcp --processes 'sport = :5301' | sed -n 's/.*pid=\([0-9]*\).*/\1/p' | head -n 1)"
wait || true
until_true silent 5301
sed -i "1,/config watch/s/option enabled '0'/option enabled '1'/" etc/config/pathtwin
here /etc/init.d/pathtwin restart
until_true listens 5301
user=$(awk '/^Uid:/ { print $2 }' "/proc/$(cat tmp/instance.serve)/status")
[ "$user" = 65534 ] || fail "it serves as user $user"

measure() {
	printf 'repeats = { min = 1, max = 1 }\n[[step]]\nkind = "idle"\nduration_s = 1\n' >tmp/plan.toml
	here env HOME=/tmp pathtwin measure 127.0.0.1 --key /etc/pathtwin/key --plan /tmp/plan.toml \
		--output json >tmp/run.json || fail "measure ended with $?"
	grep -q '"p50_us"' tmp/run.json || fail "nothing was measured"
}
measure

# The watch: of an error in its config, the log tells; then it probes, and a node exporter reads it.
sed -i "/config watch/,\$s/option enabled '0'/option enabled '1'/" etc/config/pathtwin
here /etc/init.d/pathtwin restart
until_true listens 5301
[ ! -e tmp/instance.watch ] || fail "it watches without a config"
grep -q 'daemon.err.*/etc/pathtwin/watch.toml' tmp/logged || fail "the log does not tell: $(cat tmp/logged)"
cat >etc/pathtwin/watch.toml <<'END'
listen = "127.0.0.1:5302"
textfile = "/tmp/pathtwin.prom"
[[path]]
name = "self"
host = "127.0.0.1"
key = "/etc/pathtwin/key"
probe = "10s"
load = "never"
full = "never"
END
here /etc/init.d/pathtwin restart
until_true listens 5302
probed() {
	here wget -q -O /tmp/metrics http://127.0.0.1:5302/metrics &&
		grep -q '^pathtwin_probe_rtt_seconds_count{.*path="self".*} [1-9]' tmp/metrics
}
tries=300
until probed; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || fail "no probe in 30 s: $(cat tmp/metrics)"
	sleep 0.1
done
until_true test -s tmp/pathtwin.prom
[ -s tmp/run/pathtwin-watch/watch/watch.json ] || fail "no state in memory: $(find tmp etc/pathtwin)"

# An upgrade keeps key and config, and what the owner has disabled.
here /etc/init.d/pathtwin disable
manager upgrade
grep -q "option enabled '1'" etc/config/pathtwin || fail "the upgrade lost a setting"
[ ! -L etc/rc.d/S95pathtwin ] || fail "the upgrade enabled it again"
until_true listens 5301
measure
until_true listens 5302
[ -s etc/pathtwin/watch/watch.json ] || fail "the upgrade lost the state of the watch"

manager remove
until_true silent 5301
silent 5302 || fail "the watch is still there"
[ ! -e usr/bin/pathtwin ] || fail "the program is still there"

# The key, and the config that was edited, with the one that came with the upgrade beside it.
# That one apk has removed with the package.
new=./etc/config/pathtwin-opkg
[ -z "$apk" ] || new=
left=$(listing | comm -13 tmp/before - | sed 's/^[^ ]*  //' | sort | tr '\n' ' ')
[ "$left" = "./etc/config/pathtwin ${new:+$new }./etc/pathtwin ./etc/pathtwin/key ./etc/pathtwin/watch.toml " ] ||
	fail "left behind: $left"
gone=$(listing | comm -23 tmp/before - | sed 's/^[^ ]*  //')
[ -z "$gone" ] || fail "the router lost: $gone"
echo "installed, used, upgraded, removed"
