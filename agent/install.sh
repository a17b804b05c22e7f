# Installs the agent as a systemd service. The gateway serves this text as /agent/install.sh, with values of its own before it:
# gateway_api, gateway_addr, agent_sha256; gateway_ca, empty where agents need no certificate; api_ca, yes where curl needs it.
set -eu

usage() {
  cat << 'END'
Usage: curl -fsS GATEWAY/agent/install.sh | TUNNEL_AUTHTOKEN=... sh -s -- [options] [what the agent does, as http 3000]

Installs the agent as a systemd service. Run again, it updates the agent and keeps what is not given anew.

  --service NAME     the name of the service (tunnel-gateway-agent)
  --user             a service of the user who runs this, not of the system; always so without root
  --authtoken-stdin  read TUNNEL_AUTHTOKEN from standard input, where this text was saved to a file
  --no-start         write the files, start nothing: for an image
  --dry-run          print what would be done, and do nothing
  --uninstall        stop the service and remove what was installed; its state stays

Environment: TUNNEL_AUTHTOKEN or TUNNEL_PROVISIONING_KEY, and the other variables of the agent; CURL_CA_BUNDLE (a file)
where curl needs it to trust the gateway's API.
END
}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

say() { printf '%s\n' "$1"; }

run() { if [ "$dry_run" = yes ]; then say "would run: $*"; else "$@"; fi; }

# Writes standard input to a file that appears whole.
# $1: the mode, $2: the file.
write() {
  if [ "$dry_run" = yes ]; then
    say "would write $2 (mode $1):"
    sed -E 's/^/  /; s/(TOKEN|KEY)=.*/\1=<secret>/'
    return
  fi
  (umask 077 && cat > "$2.new")
  chmod "$1" "$2.new"
  mv -f "$2.new" "$2"
}

find_node() {
  how='Install Node 20.19 or newer, from https://nodejs.org/en/download or as a package of your distribution.'
  command -v node > /dev/null 2>&1 || fail "The agent needs Node, and there is no \`node\` in PATH. $how"
  node=$(node -p 'process.execPath')
  node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' ||
    fail "The agent needs a newer Node than $(node --version). $how"
  case $scope:$node in system:/home/* | system:/root/*)
    fail "A service of the system cannot read $node. Install Node for all users, or run this as the user who has it." ;;
  esac
}

choose_places() {
  if [ "$(id -u)" != 0 ]; then scope=user; fi
  if [ "$scope" = system ]; then
    directory=/opt/$service environment=/etc/$service.env unit=/etc/systemd/system/$service.service
    target=multi-user.target log='journalctl -u'
  else
    directory=${XDG_DATA_HOME:-$HOME/.local/share}/$service environment=$directory/agent.env
    unit=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/$service.service
    target=default.target log='journalctl --user -u'
  fi
}

systemd() {
  if [ "$scope" = user ]; then set -- --user "$@"; fi
  if command -v systemctl > /dev/null 2>&1; then run systemctl "$@"; else say "There is no systemctl for: $*"; fi
}

# Downloads the agent; what is not the file that this script was made for is not kept.
download() {
  url=$gateway_api/agent/agent.js draft=$directory/agent.js.new
  if [ "$dry_run" = yes ]; then
    say "would download $url to $directory/agent.js"
    return
  fi
  if [ "$api_ca" = yes ]; then set -- --cacert "$directory/gateway-ca.pem"; fi
  curl -fsS "$@" -o "$draft" "$url" || fail "The agent could not be downloaded from $url."
  got=$("$node" -p 'require("crypto").createHash("sha256").update(require("fs").readFileSync(process.argv[1])).digest("hex")' "$draft")
  if [ "$got" != "$agent_sha256" ]; then
    rm -f "$draft"
    fail "What was downloaded is not the agent that this script is for (SHA-256 $got). Download the script again and run that."
  fi
  chmod 755 "$draft"
  mv -f "$draft" "$directory/agent.js"
}

# The certificates that the agent trusts, in a file that the service may read.
write_ca() {
  if [ -n "$own_ca" ]; then
    write 644 "$directory/gateway-ca.pem" < "$own_ca"
  elif [ -n "$gateway_ca" ]; then
    printf '%s\n' "$gateway_ca" | write 644 "$directory/gateway-ca.pem"
  fi
}

# The lines of the environment file: what is set of what the agent reads.
environment_lines() {
  for name in TUNNEL_AUTHTOKEN TUNNEL_PROVISIONING_KEY GATEWAY_API GATEWAY_ADDR GATEWAY_CA LEGS \
    PROXY_URL HTTPS_PROXY https_proxy ALL_PROXY all_proxy NO_PROXY no_proxy AGENT_NAME AGENT_LABELS \
    AGENT_FORWARDS_TO AGENT_DOMAIN AGENT_API_ADDR AGENT_API_TOKEN \
    AGENT_API_UNPROTECTED AGENT_POLICY_FILE AGENT_DRAIN_MS LOG_LEVEL LOG_FORMAT LOG_FILE LOG_FILE_MAX_MB \
    LOG_FILE_KEEP; do
    eval "value=\${$name:-}"
    case $value in *"'"* | *"$newline"*) fail "$name must not have a quote or a line break." ;; esac
    [ -z "$value" ] || printf "%s='%s'\n" "$name" "$value"
  done
}

# Fails before anything is written where something is missing.
read_environment() {
  own_ca=${GATEWAY_CA:-}
  [ -z "$own_ca" ] || [ -r "$own_ca" ] || fail "GATEWAY_CA is $own_ca, which cannot be read."
  [ -z "$own_ca$gateway_ca" ] || GATEWAY_CA=$directory/gateway-ca.pem
  : "${GATEWAY_ADDR:=$gateway_addr}" "${GATEWAY_API:=$gateway_api}"
  lines=$(environment_lines)
  [ -z "${TUNNEL_AUTHTOKEN:-}${TUNNEL_PROVISIONING_KEY:-}" ] || return 0
  [ -e "$environment" ] || fail 'Set TUNNEL_AUTHTOKEN to the authtoken of a credential, or TUNNEL_PROVISIONING_KEY.'
  lines=
}

# The lines that the environment file will have.
settings() { if [ -n "$lines" ] || [ ! -r "$environment" ]; then printf '%s\n' "$lines"; else cat "$environment"; fi; }

# Fails where the agent would not start, as its API would be published without a token.
check_publication() {
  case $(settings) in
    *AGENT_API_TOKEN=* | *"AGENT_API_UNPROTECTED='true'"*) ;;
    *AGENT_DOMAIN=*) fail 'Set AGENT_API_TOKEN with AGENT_DOMAIN, or AGENT_API_UNPROTECTED=true where anybody may open tunnels.' ;;
  esac
}

write_environment() {
  if [ -n "$lines" ]; then printf '%s\n' "$lines" | write 600 "$environment"; else say "kept: $environment"; fi
}

# A word of a unit, quoted. systemd would expand % and $.
quoted() { printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g; s/%/%%/g; s/\$/$$/g')"; }

command_line() {
  if [ $# = 0 ] && [ -e "$unit" ]; then sed -n 's|^ExecStart=.*agent\.js" ||p' "$unit" && return; fi
  [ $# -gt 0 ] || set -- start
  for word in "$@"; do
    case $word in *"$newline"*) fail 'The command must be one line.' ;; esac
    quoted "$word"
    printf ' '
  done
}

# The agent says by systemd's own program that it runs, and that it lives.
notifying() {
  command -v systemd-notify > /dev/null 2>&1 || return 0
  printf '%s\n' Type=notify NotifyAccess=all WatchdogSec=120
}

# How long a stop may take: requests under way, and what comes after them.
stop_seconds() {
  drain=$(settings | sed -n "s/^AGENT_DRAIN_MS='\([0-9]*\)'\$/\1/p")
  printf '%s' $((${drain:-7000} / 1000 + 8))
}

# What only the manager of the system can do.
sandbox() {
  cat << 'END'
DynamicUser=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
CapabilityBoundingSet=
END
}

write_unit() {
  arguments=$(command_line "$@")
  # Every machine waits another time, so that not all of them come back at once.
  pause=$((2 + $(uname -n | cksum | cut -d ' ' -f 1) % 8))
  {
    cat << END
[Unit]
Description=Tunnel agent of $gateway_api
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
ExecStart=$(quoted "$node") $(quoted "$directory/agent.js") ${arguments% }
ExecReload=/bin/kill -HUP \$MAINPID
EnvironmentFile=$(printf '%s' "$environment" | sed 's/%/%%/g')
Environment=AGENT_STATE_FILE=%S/$service/tunnels.json
StateDirectory=$service
StateDirectoryMode=0700
# A \`stop\` from the gateway's API ends the agent with 0, and it stays stopped.
Restart=on-failure
RestartSec=$pause
TimeoutStopSec=$(stop_seconds)
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
SystemCallArchitectures=native
END
    notifying
    [ "$scope" = user ] || sandbox
    printf '\n[Install]\nWantedBy=%s\n' "$target"
  } | write 644 "$unit"
}

start() {
  [ "$no_start" = yes ] || systemd daemon-reload
  systemd enable "$service"
  [ "$no_start" = no ] || return 0
  systemd restart "$service"
  say "Its log: $log $service"
  [ "$scope" = system ] || say 'It runs while you are signed in; `loginctl enable-linger` lets it run always.'
}

uninstall() {
  if [ -e "$unit" ]; then systemd disable --now "$service"; fi
  run rm -f "$unit" "$environment" "$directory/agent.js" "$directory/gateway-ca.pem"
  if [ -d "$directory" ]; then run rmdir "$directory"; fi
  systemd daemon-reload
  say 'Its state directory stays: with it, a device that is installed again is the same one.'
}

newline='
'

main() {
  service=tunnel-gateway-agent dry_run=no no_start=no does=install reads_token=no scope=system
  while [ $# -gt 0 ]; do
    case $1 in
      --service) [ $# -gt 1 ] && service=$2 && shift || fail '--service needs a name.' ;;
      --user) scope=user ;;
      --authtoken-stdin) reads_token=yes ;;
      --no-start) no_start=yes ;;
      --dry-run) dry_run=yes ;;
      --uninstall) does=uninstall ;;
      --help) usage && exit ;;
      -*) fail "There is no option $1; --help lists them." ;;
      *) break ;;
    esac
    shift
  done
  case $service in '' | *[!a-z0-9-]* | -*)
    fail "A service is named by small letters, digits and hyphens, not \"$service\"." ;;
  esac
  choose_places
  if [ "$does" = uninstall ]; then
    uninstall
    exit
  fi
  [ "$no_start$dry_run" != nono ] || command -v systemctl > /dev/null 2>&1 ||
    fail 'There is no systemd here. --no-start only writes the files.'
  if [ "$reads_token" = yes ]; then IFS= read -r TUNNEL_AUTHTOKEN || fail 'There is no line on standard input.'; fi
  find_node
  read_environment
  case $(command_line "$@") in '"start"'*) check_publication ;; esac
  if [ "$dry_run" = no ]; then mkdir -p "$directory" "$(dirname "$unit")"; fi
  write_ca
  download
  write_environment
  write_unit "$@"
  start
}

main "$@"
