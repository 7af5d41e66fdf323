# Sourced by scripts that unpack Debian packages of another release under a folder, without touching the system.
#
# apt_apart DIR SUITE: leads this shell's apt to lists, a cache and a package status of its own in DIR, over the mirror
# that this machine's apt uses, signatures checked. With an empty status every library counts as missing, so that all of
# them come, the C library too: the machine's may be older than the packages need. Fails, with one line on standard
# error, where there is no apt or no mirror.
#
# unpack_apart DIR ROOT PACKAGE...: downloads the packages and all they need, and unpacks them under ROOT.

apt_apart() {
  local dir=$1 suite=$2 mirror architecture
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || {
    echo "Debian's packages need apt-get and dpkg" >&2
    return 1
  }
  unset APT_CONFIG
  architecture=$(dpkg --print-architecture)
  mirror=$(apt-get update --print-uris 2>/dev/null | sed -n "s#^'\([^']*/debian/\)dists/.*#\1#p" | head -n 1) || true
  [ -n "$mirror" ] || {
    echo "this machine's apt knows no Debian mirror" >&2
    return 1
  }
  mkdir -p "$dir"/lists/partial "$dir"/archives/partial "$dir"/parts
  : >"$dir/status"
  echo "deb [arch=$architecture] $mirror $suite main" >"$dir/sources.list"
  cat >"$dir/apt.conf" <<CONF
Dir::State "$dir";
Dir::State::Lists "$dir/lists";
Dir::State::status "$dir/status";
Dir::Cache "$dir";
Dir::Cache::Archives "$dir/archives";
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "$dir/parts";
Dir::Etc::preferences "$dir/none";
Dir::Etc::preferencesparts "$dir/parts";
APT::Architectures "$architecture";
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Debug::NoLocking "true";
CONF
  export APT_CONFIG=$dir/apt.conf
  apt-get -qq update >&2
}

unpack_apart() {
  local dir=$1 root=$2 archive
  shift 2
  apt-get -qq -y --download-only install "$@" >&2 || return 1
  for archive in "$dir"/archives/*.deb; do dpkg-deb -x "$archive" "$root" || return 1; done
}
